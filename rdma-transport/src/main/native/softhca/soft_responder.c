#include "soft_responder.h"
#include "ibv_async.h"
#include "ibv_mr.h"
#include "soft_requester.h"
#include "soft_sge.h"
#include <sys/epoll.h>

void soft_responder_violation(struct soft_qp *q)
{
	if (soft_qp_is_down(q))
		return;
	soft_qp_error(q);
	soft_async_qp(&q->v, IBV_EVENT_QP_ACCESS_ERR);
}

enum ibv_wc_status soft_responder_check_read(struct link *l, const struct response *r)
{
	/* A queue pair that is down does not answer; the peer's time-out (retry count) is not acted out. */
	if (soft_qp_is_down(l->q))
		return IBV_WC_RETRY_EXC_ERR;
	if (!(l->q->access & IBV_ACCESS_REMOTE_READ)) {
		soft_responder_violation(l->q);
		return IBV_WC_REM_INV_REQ_ERR;
	}
	if (r->len && !soft_mr_pin(r->rkey, soft_qp_pd(l->q), r->addr, r->len, IBV_ACCESS_REMOTE_READ)) {
		soft_responder_violation(l->q);
		return IBV_WC_REM_ACCESS_ERR;
	}
	if (r->len)
		soft_mr_unpin(r->rkey);
	return IBV_WC_SUCCESS;
}

/* ---- a request comes in ---- */

static void begin_send(struct link *l)
{
	struct soft_qp *q = l->q;
	struct incoming *rx = &l->rx;
	const struct recv_request *r = &q->recvs[q->recv_head];
	uint64_t room = 0;

	if (!q->recv_count) {
		rx->verdict = VERDICT_NOT_READY;
		return;
	}
	for (int i = 0; i < r->sges; i++)
		room += r->sge[i].length;
	if (rx->frame.len > room)
		rx->status = IBV_WC_LOC_LEN_ERR;
	else
		rx->to = RX_RECEIVE;
}

static void begin_write(struct link *l)
{
	const struct frame *f = &l->rx.frame;

	if (f->flags & FRAME_IMMEDIATE && !l->q->recv_count)
		l->rx.verdict = VERDICT_NOT_READY;
	else if (!(l->q->access & IBV_ACCESS_REMOTE_WRITE))
		l->rx.status = IBV_WC_REM_INV_REQ_ERR;
	else
		l->rx.to = RX_WRITE;
}

bool soft_responder_begin(struct link *l)
{
	struct incoming *rx = &l->rx;

	if (rx->frame.type == FRAME_READ)
		soft_poller_move(&l->pollee, 0);	/* the peer needs somebody who answers whatever this program does */
	if (soft_qp_is_down(l->q)) {
		rx->verdict = VERDICT_DOWN;
	} else if (rx->frame.seq != l->expected_seq) {
		rx->verdict = VERDICT_DROP;
		return l->naked;
	} else if (rx->frame.type == FRAME_SEND) {
		begin_send(l);
	} else if (rx->frame.type == FRAME_WRITE) {
		begin_write(l);
	}
	return true;
}

static int place_receive(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins)
{
	const struct recv_request *r = &l->q->recvs[l->q->recv_head];
	int n = soft_sge_slice(r->sge, r->sges, offset, l->rx.payload_left, pinned);

	if (!soft_mr_pin_all(pinned, n, soft_qp_pd(l->q), IBV_ACCESS_LOCAL_WRITE)) {
		l->rx.status = IBV_WC_LOC_PROT_ERR;
		return 0;
	}
	*pins = n;
	return soft_sge_to_iov(pinned, n, iov);
}

static int place_write(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins)
{
	const struct frame *f = &l->rx.frame;

	if (!soft_mr_pin(f->rkey, soft_qp_pd(l->q), f->addr, f->len, IBV_ACCESS_REMOTE_WRITE)) {
		l->rx.status = IBV_WC_REM_ACCESS_ERR;
		return 0;
	}
	pinned[0] = (struct ibv_sge){ .length = 1, .lkey = f->rkey };
	*pins = 1;
	iov[0] = (struct iovec){ (void *)(uintptr_t)(f->addr + offset), l->rx.payload_left };
	return 1;
}

int soft_responder_place(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins)
{
	if (soft_qp_is_down(l->q) || l->rx.status)
		return 0;
	return l->rx.to == RX_RECEIVE ? place_receive(l, offset, iov, pinned, pins) : place_write(l, offset, iov, pinned, pins);
}

/* ---- it is all there ---- */

static bool acknowledge(struct link *l, enum ibv_wc_status status)
{
	return soft_link_respond(l, &(struct response){ .type = FRAME_ACK, .seq = l->rx.frame.seq, .status = status });
}

/* Acknowledged before the completion shows, so that the program's answer cannot overtake the acknowledgement. */
static bool end_send(struct link *l)
{
	enum ibv_wc_status status = l->rx.status;
	bool ok = acknowledge(l, !status ? status : status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR);

	soft_qp_finish_recv(l->q, status, &l->rx.frame);
	return ok;
}

static bool end_write(struct link *l)
{
	enum ibv_wc_status status = l->rx.status;
	bool ok;

	/* EFAULT while receiving counts as the peer's fault here. */
	if (status == IBV_WC_LOC_PROT_ERR)
		status = IBV_WC_REM_ACCESS_ERR;
	ok = acknowledge(l, status);
	if (status)
		soft_responder_violation(l->q);
	else if (l->rx.frame.flags & FRAME_IMMEDIATE)
		soft_qp_finish_recv(l->q, status, &l->rx.frame);
	return ok;
}

/*
 * A thread may have sent the end of an answer and not yet come back from the system call to take it off the queue, and the
 * peer's next READ be here already. Waits for it before counting.
 */
static bool has_read_depth_left(struct link *l)
{
	while (!l->pollee.dead && l->q && l->reads_queued >= l->q->max_dest_rd_atomic && l->tx_busy && l->tx.kind == TX_RESPONSE)
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
	return l->pollee.dead || soft_qp_is_down(l->q) || l->reads_queued < l->q->max_dest_rd_atomic;
}

static bool end_read(struct link *l)
{
	const struct frame *f = &l->rx.frame;

	if (!has_read_depth_left(l)) {
		bool ok = acknowledge(l, IBV_WC_REM_INV_REQ_ERR);

		soft_responder_violation(l->q);
		return ok;
	}
	soft_count(READS_SERVED, 1);
	return soft_link_respond(l, &(struct response){ .type = FRAME_DATA, .seq = f->seq, .rkey = f->rkey, .len = f->len,
							.addr = f->addr });
}

static bool not_ready(struct link *l)
{
	l->naked = true;
	l->ready_sent = false;
	if (!soft_link_respond(l, &(struct response){ .type = FRAME_RNR, .seq = l->rx.frame.seq }))
		return false;
	soft_responder_receive_posted(l->q);	/* one may have come while the message was thrown away */
	return true;
}

static bool take(struct link *l)
{
	l->naked = false;
	l->expected_seq++;
	if (l->rx.frame.type == FRAME_SEND)
		return end_send(l);
	return l->rx.frame.type == FRAME_WRITE ? end_write(l) : end_read(l);
}

/* An acknowledgement may: the peer's completion comes a little later. */
static bool may_wait(const struct link *l)
{
	return l->rx.frame.type == FRAME_SEND && l->q && l->q->v.recv_cq->channel;
}

bool soft_responder_end(struct link *l)
{
	bool ok;

	if (l->rx.verdict == VERDICT_DROP)
		return true;
	if (l->rx.verdict == VERDICT_DOWN || soft_qp_is_down(l->q))
		ok = acknowledge(l, IBV_WC_RETRY_EXC_ERR);
	else
		ok = l->rx.verdict == VERDICT_NOT_READY ? not_ready(l) : take(l);
	if (!may_wait(l) || !soft_channel_defers(l->q->v.recv_cq->channel, l))
		soft_link_transmit(l, LINK_CHUNK_BYTES);
	return ok;
}

static bool owes_ready(struct soft_qp *q)
{
	struct link *l = q->link;

	if (!l || !l->naked || l->ready_sent)
		return false;
	l->ready_sent = soft_link_respond(l, &(struct response){ .type = FRAME_READY });
	return l->ready_sent;
}

void soft_responder_receive_posted(struct soft_qp *q)
{
	if (q->recv_count && owes_ready(q))
		soft_link_transmit(q->link, LINK_CHUNK_BYTES);
}

void soft_responder_down(struct soft_qp *q)
{
	if (owes_ready(q) && q->link->pollee.watched && !q->link->tx_busy)
		soft_poller_watch(&q->link->pollee, EPOLLIN | EPOLLOUT);
}
