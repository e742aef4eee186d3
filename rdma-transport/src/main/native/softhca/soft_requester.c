#include "soft_requester.h"
#include "ibv_async.h"
#include "ibv_mr.h"
#include "soft_direct.h"
#include "soft_engine.h"
#include "soft_fault.h"
#include "soft_sge.h"

enum {
	MIN_TRANSMIT_BYTES = 4096,	/* so that a small message leaves even if inline copies are forbidden */
	RNR_FOR_EVER = 7,		/* an rnr_retry that does not count: ibv_modify_qp(3) */
};

static bool is_direct(const struct soft_qp *q, const struct send_request *r)
{
	return q->link->peer && r->opcode == IBV_WR_RDMA_READ;
}

/* ---- direct READs ---- */

static enum ibv_wc_status to_status(enum direct_result result)
{
	static const enum ibv_wc_status statuses[] = {
		[DIRECT_OK] = IBV_WC_SUCCESS, [DIRECT_ACCESS] = IBV_WC_REM_ACCESS_ERR, [DIRECT_INVALID] = IBV_WC_REM_INV_REQ_ERR,
		[DIRECT_GONE] = IBV_WC_RETRY_EXC_ERR, [DIRECT_REFUSED] = IBV_WC_REM_OP_ERR,
	};

	return statuses[result];
}

static void corrupt(const struct ibv_sge *sge)
{
	if (soft_fault_hit(FAULT_CORRUPT_READ, NULL))
		*(volatile uint8_t *)(uintptr_t)sge->addr ^= 0x40;
}

/* Without soft_lock. */
static enum ibv_wc_status copy_slice(struct direct_read *read, uint64_t done, const struct ibv_sge *sge, int sges, uint32_t pd,
				     enum direct_result *result)
{
	struct iovec iov[SOFT_MAX_SGE];
	uint64_t bytes = 0;

	if (!soft_mr_pin_all(sge, sges, pd, IBV_ACCESS_LOCAL_WRITE))
		return IBV_WC_LOC_PROT_ERR;
	for (int i = 0; i < sges; i++)
		bytes += sge[i].length;
	*result = soft_direct_read(read, done, iov, soft_sge_to_iov(sge, sges, iov));
	if (*result == DIRECT_OK && done + bytes == read->len)
		corrupt(sge);
	soft_mr_unpin_all(sge, sges);
	return to_status(*result);
}

static void slice_done(struct soft_qp *q, enum ibv_wc_status status, enum direct_result result, uint64_t bytes)
{
	struct send_request *r = soft_send_at(q, 0);

	if (result == DIRECT_REFUSED && q->link) {	/* the socket does it from the start */
		soft_peer_close(q->link->peer);
		q->link->peer = NULL;
		r->done_bytes = 0;
		return;
	}
	/* As on hardware, where the owner's adapter answers with a NAK: its queue pair breaks too. */
	if ((status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR) && q->link)
		soft_link_control(q->link, &(struct frame){ .type = FRAME_TERM }, NULL);
	r->done_bytes += bytes;
	if (status == IBV_WC_SUCCESS && r->done_bytes < r->bytes)
		return;
	if (status == IBV_WC_SUCCESS) {
		soft_count(READS_DIRECT, 1);
		soft_count(READ_BYTES_DIRECT, (int64_t)r->bytes);
	}
	soft_qp_finish_send(q, status);
}

static void copy(struct soft_qp *q, struct send_request *r, uint64_t bytes)
{
	struct link *l = q->link;
	struct soft_peer *peer = soft_peer_ref(l->peer);
	struct direct_read read = { .peer = peer, .qp_num = l->peer_qp_num, .pd = l->peer_pd, .key = r->rkey,
				    .addr = r->remote_addr, .len = r->bytes, .generation = r->generation };
	struct ibv_sge sge[SOFT_MAX_SGE];
	int sges = soft_sge_slice(r->sge, r->sges, r->done_bytes, bytes, sge);
	enum direct_result result = DIRECT_OK;
	enum ibv_wc_status status;

	q->copying = true;
	soft_qp_busy(q);		/* keeps the request, the queue pair and their memory */
	soft_leave();
	status = copy_slice(&read, r->done_bytes, sge, sges, soft_qp_pd(q), &result);
	soft_enter();
	soft_peer_close(peer);
	q->copying = false;
	r->generation = read.generation;
	if (q->v.state == IBV_QPS_RTS)
		slice_done(q, status, result, bytes);
	soft_qp_idle(q);
	if (q->link && q->link->control_len)
		soft_link_transmit(q->link, MIN_TRANSMIT_BYTES);
}

/* ---- the send queue ---- */

/* False: not now, or not in this thread. */
static bool run_direct(struct soft_qp *q, struct send_request *r, size_t *budget, bool on_engine)
{
	uint64_t left = r->bytes - r->done_bytes;

	if (q->copying || q->started)
		return false;			/* in order; whoever is at it calls again */
	if (!q->max_rd_atomic || !left) {
		soft_qp_finish_send(q, q->max_rd_atomic ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR);
		return true;
	}
	if (left > *budget && (!on_engine || !*budget)) {
		soft_engine_add(q);
		return false;
	}
	if (left > *budget)
		left = *budget;
	*budget -= left;
	copy(q, r, left);
	return true;
}

static void run(struct soft_qp *q, size_t budget, bool on_engine)
{
	while (q->v.state == IBV_QPS_RTS && q->link && q->started < q->send_count) {
		struct send_request *r = soft_send_at(q, q->started);

		if (!is_direct(q, r)) {
			soft_link_transmit(q->link, budget > MIN_TRANSMIT_BYTES ? budget : MIN_TRANSMIT_BYTES);
			return;
		}
		if (!run_direct(q, r, &budget, on_engine))
			return;
	}
}

void soft_requester_run(struct soft_qp *q, size_t budget) { run(q, budget, false); }
void soft_requester_run_slice(struct soft_qp *q, size_t slice) { run(q, slice, true); }

/* ---- requests on the socket ---- */

static void fail_in_turn(struct soft_qp *q, struct send_request *r, enum ibv_wc_status status)
{
	r->failed = status;
	if (!q->started)
		soft_qp_finish_send(q, status);
}

static bool may_start(struct soft_qp *q, struct send_request *r)
{
	bool is_read = r->opcode == IBV_WR_RDMA_READ;
	uint32_t access = is_read ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (is_direct(q, r) || (r->flags & IBV_SEND_FENCE && q->reads_started))
		return false;
	if (!r->failed && is_read && !q->max_rd_atomic)
		r->failed = IBV_WC_LOC_QP_OP_ERR;
	else if (!r->failed && !(r->flags & IBV_SEND_INLINE)) {
		if (soft_mr_pin_all(r->sge, r->sges, soft_qp_pd(q), access))
			soft_mr_unpin_all(r->sge, r->sges);
		else
			r->failed = IBV_WC_LOC_PROT_ERR;
	}
	if (r->failed) {
		fail_in_turn(q, r, r->failed);
		return false;
	}
	return !is_read || q->reads_started < q->max_rd_atomic;
}

static uint8_t frame_type(enum ibv_wr_opcode opcode)
{
	if (opcode == IBV_WR_RDMA_READ)
		return FRAME_READ;
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ? FRAME_SEND : FRAME_WRITE;
}

bool soft_request_waits(struct soft_qp *q)
{
	return q->v.state == IBV_QPS_RTS && !q->rnr_wait && !q->rewind && q->started < q->send_count &&
	       q->started < SOFT_MAX_UNACKED && may_start(q, soft_send_at(q, q->started));
}

bool soft_request_begin(struct soft_qp *q, struct outgoing *tx)
{
	struct send_request *r;
	bool immediate;

	if (!soft_request_waits(q))
		return false;
	r = soft_send_at(q, q->started);
	immediate = r->opcode == IBV_WR_SEND_WITH_IMM || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	r->seq = q->link->request_seq;
	r->done_bytes = 0;
	tx->head = (struct frame){
		.type = frame_type(r->opcode), .len = (uint32_t)r->bytes, .addr = r->remote_addr, .rkey = r->rkey, .imm = r->imm,
		.seq = r->seq,
		.flags = (r->flags & IBV_SEND_SOLICITED ? FRAME_SOLICITED : 0) | (immediate ? FRAME_IMMEDIATE : 0),
	};
	tx->payload_bytes = tx->head.type == FRAME_READ ? 0 : r->bytes;
	return true;
}

int soft_request_payload(struct soft_qp *q, uint64_t offset, uint64_t bytes, struct iovec *iov, int *n, struct ibv_sge *pinned)
{
	struct send_request *r;
	int pins;

	if (soft_qp_is_down(q))
		return -1;
	r = soft_send_at(q, q->started);
	if (r->flags & IBV_SEND_INLINE) {
		iov[(*n)++] = (struct iovec){ r->inline_data + offset, bytes };
		return 0;
	}
	pins = soft_sge_slice(r->sge, r->sges, offset, bytes, pinned);
	if (!soft_mr_pin_all(pinned, pins, soft_qp_pd(q), 0))
		return -1;
	*n += soft_sge_to_iov(pinned, pins, iov + *n);
	return pins;
}

/* The peer had no receive for the head: everything behind it was thrown away over there and starts again. */
static void rewind_queue(struct soft_qp *q)
{
	q->link->request_seq = soft_send_at(q, 0)->seq;
	q->started = q->reads_started = 0;
	q->rewind = false;
}

void soft_request_sent(struct soft_qp *q)
{
	if (soft_qp_is_down(q))
		return;
	if (q->rewind) {
		rewind_queue(q);
		return;
	}
	if (soft_send_at(q, q->started)->opcode == IBV_WR_RDMA_READ)
		q->reads_started++;
	q->started++;
	q->link->request_seq++;
}

void soft_request_failed(struct soft_qp *q, enum ibv_wc_status status)
{
	if (!soft_qp_is_down(q))
		fail_in_turn(q, soft_send_at(q, q->started), status);
}

void soft_request_drop(struct link *l)
{
	if (l->tx_busy || l->tx.kind != TX_REQUEST)
		return;
	if (l->tx.sent_bytes)
		soft_link_abort(l);
	l->tx.kind = TX_NONE;
}

bool soft_requests_unanswered(const struct soft_qp *q, const struct link *l)
{
	return q->v.state == IBV_QPS_RTS && ((q->started && !q->rnr_wait) || l->tx.kind == TX_REQUEST);
}

void soft_requests_timed_out(struct soft_qp *q)
{
	q->peer_lost = true;
	soft_qp_error(q);
}

/* ---- answers ---- */

/*
 * The peer may answer before the thread that sent the request has come back from the system call to say so. Waits for it;
 * false: the peer answers what was never asked.
 */
static bool head_is_out(struct link *l)
{
	while (!l->pollee.dead && l->q && !l->q->started && l->tx_busy && l->tx.kind == TX_REQUEST)
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
	return l->pollee.dead || soft_qp_is_down(l->q) || l->q->started;
}

bool soft_answer_data_begin(struct link *l)
{
	const struct frame *f = &l->rx.frame;
	struct send_request *r;

	if (!head_is_out(l))
		return false;
	if (l->pollee.dead || soft_qp_is_down(l->q))
		return true;			/* thrown away */
	r = soft_send_at(l->q, 0);
	if (r->opcode != IBV_WR_RDMA_READ || r->seq != f->seq || r->done_bytes != f->addr || f->len > r->bytes - r->done_bytes)
		return false;
	l->rx.to = RX_SINK;
	return true;
}

int soft_answer_place(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins)
{
	struct send_request *r;
	int n;

	if (soft_qp_is_down(l->q) || l->rx.status)
		return 0;
	r = soft_send_at(l->q, 0);
	n = soft_sge_slice(r->sge, r->sges, r->done_bytes + offset, l->rx.payload_left, pinned);
	if (!soft_mr_pin_all(pinned, n, soft_qp_pd(l->q), IBV_ACCESS_LOCAL_WRITE)) {
		l->rx.status = IBV_WC_LOC_PROT_ERR;
		return 0;
	}
	*pins = n;
	return soft_sge_to_iov(pinned, n, iov);
}

static bool answer_data(struct link *l, const struct frame *f)
{
	struct send_request *r = soft_send_at(l->q, 0);

	if (l->rx.status)
		r->failed = l->rx.status;
	r->done_bytes += f->len;
	return true;
}

static void corrupt_first(struct soft_qp *q, struct send_request *r)
{
	struct ibv_sge sge;

	if (soft_sge_slice(r->sge, r->sges, 0, 1, &sge) && soft_mr_pin(sge.lkey, soft_qp_pd(q), sge.addr, 1, IBV_ACCESS_LOCAL_WRITE)) {
		corrupt(&sge);
		soft_mr_unpin(sge.lkey);
	}
}

static bool answer_ack(struct soft_qp *q, const struct frame *f)
{
	struct send_request *r = soft_send_at(q, 0);
	enum ibv_wc_status status = r->failed ? r->failed : (enum ibv_wc_status)f->status;
	bool read_is_fine = r->opcode == IBV_WR_RDMA_READ && !status;

	if (r->seq != f->seq || (read_is_fine && r->done_bytes != r->bytes))
		return false;
	if (read_is_fine && r->bytes)
		corrupt_first(q, r);
	soft_qp_finish_send(q, status);
	soft_requester_run(q, soft_config()->inline_max_bytes);
	return true;
}

/* READY makes repetitions unnecessary, but a peer that has fallen silent must be found out: then the ack time-out ends it. */
static void rnr_timer_fired(struct soft_timer *timer)
{
	struct link *l = container_of(timer, struct link, rnr_timer);
	struct soft_qp *q = l->q;

	if (!q || !q->rnr_wait || !q->send_count)
		return;
	if (q->rnr_retry < RNR_FOR_EVER) {
		soft_qp_finish_send(q, IBV_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	q->rnr_wait = false;
	soft_link_transmit(l, LINK_CHUNK_BYTES);
}

static uint64_t rnr_limit_ns(const struct soft_qp *q)
{
	return q->rnr_retry < RNR_FOR_EVER ? q->rnr_retry * soft_config()->rnr_timer_ns : soft_config()->ack_timeout_ns;
}

static bool answer_rnr(struct link *l, const struct frame *f)
{
	struct soft_qp *q = l->q;

	if (soft_send_at(q, 0)->seq != f->seq)
		return false;
	if (!q->rnr_retry) {
		soft_qp_finish_send(q, IBV_WC_RNR_RETRY_EXC_ERR);
		return true;
	}
	q->rnr_wait = true;
	soft_timer_set(&l->rnr_timer, soft_now_ns() + rnr_limit_ns(q), rnr_timer_fired);
	if (l->tx.kind == TX_REQUEST)
		q->rewind = true;
	else
		rewind_queue(q);
	return true;
}

/* It may cross with a repetition: then there is nothing to do. */
static void answer_ready(struct link *l)
{
	l->q->rnr_wait = false;
	soft_timer_cancel(&l->rnr_timer);
	soft_link_transmit(l, LINK_CHUNK_BYTES);
}

bool soft_answer(struct link *l, const struct frame *f)
{
	if (soft_qp_is_down(l->q))
		return true;
	if (f->type == FRAME_TERM) {
		soft_qp_error(l->q);
		soft_async_qp(&l->q->v, IBV_EVENT_QP_ACCESS_ERR);
		return true;
	}
	if (f->type == FRAME_READY) {
		answer_ready(l);
		return true;
	}
	if (!head_is_out(l))
		return false;
	if (l->pollee.dead || soft_qp_is_down(l->q))
		return true;
	if (f->type == FRAME_DATA)
		return answer_data(l, f);
	return f->type == FRAME_ACK ? answer_ack(l->q, f) : answer_rnr(l, f);
}
