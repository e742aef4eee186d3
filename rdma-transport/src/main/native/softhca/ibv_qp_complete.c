/* How requests of a queue pair end: completions, the error state, flushing. */
#include "ibv_qp.h"
#include "ibv_async.h"
#include "soft_fault.h"
#include "soft_requester.h"
#include "soft_responder.h"

static const enum ibv_wc_opcode send_opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
};

static void pop_send(struct soft_qp *q, enum ibv_wc_status status, uint64_t delay_ns)
{
	struct send_request *r = soft_send_at(q, 0);
	struct ibv_wc wc = { .wr_id = r->wr_id, .status = status, .opcode = send_opcodes[r->opcode],
			     .byte_len = (uint32_t)r->bytes, .qp_num = q->v.qp_num };

	q->send_head = (q->send_head + 1) % q->cap.max_send_wr;
	q->send_count--;
	if (q->started) {
		q->started--;
		if (r->opcode == IBV_WR_RDMA_READ)
			q->reads_started--;
	}
	if (status != IBV_WC_SUCCESS || q->signal_all || r->flags & IBV_SEND_SIGNALED)
		soft_cq_push(soft_cq_of(q->v.send_cq), &wc, false, delay_ns);
}

static void pop_recv(struct soft_qp *q, enum ibv_wc_status status, const struct frame *f, uint64_t delay_ns)
{
	struct ibv_wc wc = { .wr_id = q->recvs[q->recv_head].wr_id, .status = status, .opcode = IBV_WC_RECV,
			     .qp_num = q->v.qp_num };

	if (f) {
		wc.opcode = f->type == FRAME_WRITE ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
		wc.byte_len = f->len;
		wc.imm_data = f->imm;
		wc.wc_flags = f->flags & FRAME_IMMEDIATE ? IBV_WC_WITH_IMM : 0;
	}
	q->recv_head = (q->recv_head + 1) % q->cap.max_recv_wr;
	q->recv_count--;
	soft_cq_push(soft_cq_of(q->v.recv_cq), &wc, f && f->flags & FRAME_SOLICITED, delay_ns);
}

static void flush(struct soft_qp *q)
{
	if (q->v.state != IBV_QPS_ERR || q->busy)
		return;
	if (q->peer_lost && q->send_count &&
	    (q->started || soft_send_at(q, 0)->done_bytes || (q->link && q->link->tx.kind == TX_REQUEST)))
		pop_send(q, IBV_WC_RETRY_EXC_ERR, 0);
	q->peer_lost = false;
	while (q->send_count)
		pop_send(q, IBV_WC_WR_FLUSH_ERR, 0);
	while (q->recv_count)
		pop_recv(q, IBV_WC_WR_FLUSH_ERR, NULL, 0);
	q->rnr_wait = q->rewind = false;
	if (q->link)
		soft_request_drop(q->link);
	pthread_cond_broadcast(&soft_cond);
}

void soft_qp_error(struct soft_qp *q)
{
	if (q->v.state != IBV_QPS_RESET)
		q->v.state = IBV_QPS_ERR;
	soft_qp_publish(q);
	soft_responder_down(q);
	flush(q);
}

void soft_qp_busy(struct soft_qp *q) { q->busy++; }

void soft_qp_idle(struct soft_qp *q)
{
	q->busy--;
	flush(q);
	if (!q->busy)
		pthread_cond_broadcast(&soft_cond);
}

static void break_by_fault(struct soft_qp *q)
{
	soft_qp_error(q);
	soft_async_qp(&q->v, IBV_EVENT_QP_FATAL);
}

static void count_send(const struct send_request *r)
{
	soft_count(r->opcode == IBV_WR_RDMA_READ ? READS_SOCKET : r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM ?
		   SENDS : WRITES, 1);
	if (r->opcode == IBV_WR_RDMA_READ)
		soft_count(READ_BYTES_SOCKET, (int64_t)r->bytes);
}

void soft_qp_finish_send(struct soft_qp *q, enum ibv_wc_status status)
{
	struct send_request *r = soft_send_at(q, 0);
	struct soft_fault fault = { 0 };
	bool breaks = false;

	if (status == IBV_WC_SUCCESS) {
		if (q->started)			/* direct READs are never started and count themselves */
			count_send(r);
		breaks = soft_fault_hit(FAULT_QP_BREAK, NULL);
		if (soft_fault_hit_wc(send_opcodes[r->opcode], &fault))
			status = fault.status;
	}
	pop_send(q, status, fault.delay_ns);
	if (status != IBV_WC_SUCCESS)
		soft_qp_error(q);
	else if (breaks)
		break_by_fault(q);
}

void soft_qp_finish_recv(struct soft_qp *q, enum ibv_wc_status status, const struct frame *f)
{
	struct soft_fault fault = { 0 };

	if (status == IBV_WC_SUCCESS) {
		soft_count(RECVS, 1);
		if (soft_fault_hit_wc(IBV_WC_RECV, &fault))
			status = fault.status;
	}
	pop_recv(q, status, f, fault.delay_ns);
	if (status != IBV_WC_SUCCESS)
		soft_qp_error(q);
}
