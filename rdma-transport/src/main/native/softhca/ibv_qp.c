/* Life and state of queue pairs. */
#include "ibv_qp.h"
#include "ibv_async.h"
#include "ibv_pd.h"
#include "soft_engine.h"
#include "soft_fault.h"
#include "soft_fork.h"

/* A qp_num is the slot (12 bits) and a count of all queue pairs made (12 bits): 24 bits as on the wire of InfiniBand. */
static struct soft_qp *by_slot[SOFT_MAX_QP];
static uint32_t last_slot, made;

static int check_attributes(const struct ibv_qp_init_attr *a)
{
	const struct ibv_qp_cap *c = &a->cap;

	if (a->qp_type != IBV_QPT_RC || a->srq)
		return EOPNOTSUPP;
	if (!a->send_cq || !a->recv_cq || c->max_send_wr > SOFT_MAX_WR || c->max_recv_wr > SOFT_MAX_WR ||
	    c->max_send_sge > SOFT_MAX_SGE || c->max_recv_sge > SOFT_MAX_SGE || c->max_inline_data > SOFT_MAX_INLINE)
		return EINVAL;
	return soft_fault_call(FAULT_CREATE_QP);
}

static void free_qp(struct soft_qp *q)
{
	free(q->sends);
	free(q->recvs);
	free(q->sge_pool);
	free(q->inline_pool);
	free(q);
}

static bool make_queues(struct soft_qp *q)
{
	struct ibv_qp_cap *c = &q->cap;
	uint32_t sends = c->max_send_wr ? c->max_send_wr : 1, recvs = c->max_recv_wr ? c->max_recv_wr : 1;
	struct ibv_sge *sge;

	q->sends = calloc(sends, sizeof(*q->sends));
	q->recvs = calloc(recvs, sizeof(*q->recvs));
	q->sge_pool = calloc((size_t)sends * c->max_send_sge + (size_t)recvs * c->max_recv_sge + 1, sizeof(*q->sge_pool));
	q->inline_pool = calloc(sends, (size_t)c->max_inline_data + 1);
	if (!q->sends || !q->recvs || !q->sge_pool || !q->inline_pool)
		return false;
	sge = q->sge_pool;
	for (uint32_t i = 0; i < sends; i++, sge += c->max_send_sge) {
		q->sends[i].sge = sge;
		q->sends[i].inline_data = q->inline_pool + (size_t)i * c->max_inline_data;
	}
	for (uint32_t i = 0; i < recvs; i++, sge += c->max_recv_sge)
		q->recvs[i].sge = sge;
	return true;
}

static struct soft_qp *new_qp(struct ibv_pd *pd, const struct ibv_qp_init_attr *a)
{
	struct soft_qp *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->cap = a->cap;
	if (!make_queues(q)) {
		free_qp(q);
		return NULL;
	}
	q->v.context = pd->context;
	q->v.qp_context = a->qp_context;
	q->v.pd = pd;
	q->v.send_cq = a->send_cq;
	q->v.recv_cq = a->recv_cq;
	q->v.qp_type = a->qp_type;
	q->v.state = IBV_QPS_RESET;
	q->signal_all = a->sq_sig_all;
	q->retry_count = q->rnr_retry = 7;
	q->max_rd_atomic = q->max_dest_rd_atomic = SOFT_MAX_RD_ATOMIC;
	return q;
}

/* Gives the queue pair a number. soft_lock is held. */
static bool enlist(struct soft_qp *q)
{
	for (uint32_t n = 1; n < SOFT_MAX_QP; n++) {
		uint32_t slot = (last_slot + n) % SOFT_MAX_QP;

		if (!slot || by_slot[slot])		/* slot 0 stays unused: qp_num 0 and 1 are special on InfiniBand */
			continue;
		by_slot[slot] = q;
		last_slot = slot;
		q->v.qp_num = q->v.handle = (++made << 12 & 0xfff000) | slot;
		soft_cq_of(q->v.send_cq)->qps++;
		soft_cq_of(q->v.recv_cq)->qps++;
		return true;
	}
	return false;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct soft_qp *q = NULL;
	int rc = check_attributes(a);
	bool enlisted;

	if (!rc && !soft_table_own())
		rc = errno;
	if (!rc && !(q = new_qp(pd, a)))
		rc = ENOMEM;
	if (!rc && (rc = soft_engine_acquire()))
		free_qp(q);
	if (rc) {
		errno = rc;
		return NULL;
	}
	soft_enter();
	enlisted = enlist(q);
	soft_leave();
	if (!enlisted) {
		soft_engine_release();
		free_qp(q);
		errno = ENOMEM;
		return NULL;
	}
	soft_pd_ref(pd);
	soft_count(LIVE_QPS, 1);
	return &q->v;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *v)
{
	struct soft_qp *q = soft_qp_of(v);
	int rc = soft_fault_call(FAULT_DESTROY_QP);

	if (rc || !soft_async_drain(v))
		return rc ? rc : EBUSY;
	soft_enter();
	soft_qp_disconnect(q);
	soft_engine_forget_job(q);
	by_slot[v->qp_num % SOFT_MAX_QP] = NULL;
	soft_cq_of(v->send_cq)->qps--;
	soft_cq_of(v->recv_cq)->qps--;
	soft_leave();
	soft_async_drain(v);		/* an event raised meanwhile, which nobody has read */
	soft_pd_unref(v->pd);
	free_qp(q);
	soft_count(LIVE_QPS, -1);
	soft_engine_release();
	return 0;
}

struct soft_qp *soft_qp_find(uint32_t qp_num)
{
	struct soft_qp *q = by_slot[qp_num % SOFT_MAX_QP];

	return q && q->v.qp_num == qp_num ? q : NULL;
}

void soft_qp_forget_all(void)
{
	for (int i = 0; i < SOFT_MAX_QP; i++) {
		if (by_slot[i]) {
			by_slot[i]->link = NULL;
			by_slot[i]->busy = 0;
			by_slot[i]->v.state = IBV_QPS_ERR;
		}
	}
}

void soft_qp_publish(struct soft_qp *q)
{
	struct shared_qp *shared = &soft_table_own()->qp[q->v.qp_num % SOFT_MAX_QP];
	uint64_t word = 0;

	if (!soft_qp_is_down(q))
		word = (uint64_t)q->v.qp_num << 32 | SHARED_QP_LIVE | (q->access & SHARED_QP_ACCESS);
	atomic_store(&shared->word, word);
}

void soft_qp_break_overrun(void)
{
	for (int i = 0; i < SOFT_MAX_QP; i++) {
		struct soft_qp *q = by_slot[i];

		if (!q || q->v.state == IBV_QPS_ERR ||
		    (!soft_cq_of(q->v.send_cq)->overrun_handled && !soft_cq_of(q->v.recv_cq)->overrun_handled))
			continue;
		soft_qp_error(q);
		soft_async_qp(&q->v, IBV_EVENT_QP_FATAL);
	}
}

void soft_qp_connect(struct soft_qp *q, struct link *l)
{
	q->link = l;
	l->q = q;
	if (q->v.state != IBV_QPS_ERR)
		q->v.state = IBV_QPS_RTS;
	soft_qp_publish(q);
}

void soft_qp_share_socket(struct soft_qp *q)
{
	struct ibv_comp_channel *channel = q->v.recv_cq->channel;

	if (channel && channel == q->v.send_cq->channel && q->link->peer)
		soft_channel_adopt(channel, &q->link->pollee);
}

void soft_qp_disconnect(struct soft_qp *q)
{
	struct link *l;

	soft_qp_error(q);
	while (q->busy || (q->link && (q->link->tx_busy || q->link->rx_busy)))
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
	soft_qp_error(q);		/* flushes what was posted meanwhile */
	l = q->link;
	if (l) {
		soft_timer_cancel(&l->ack_timer);
		soft_timer_cancel(&l->rnr_timer);
		soft_poller_move(&l->pollee, 0);
		if (q->v.recv_cq->channel)
			soft_channel_forget_link(q->v.recv_cq->channel, l);
		l->q = NULL;
	}
	q->link = NULL;
}

/* What ibv_modify_qp(3) allows: one step up, or to ERR or RESET from anywhere. */
static bool may_move(enum ibv_qp_state from, enum ibv_qp_state to)
{
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET || to == from)
		return true;
	return from <= IBV_QPS_RTR && to == from + 1;
}

static void reset(struct soft_qp *q)
{
	soft_qp_disconnect(q);
	q->v.state = IBV_QPS_RESET;
}

static void apply(struct soft_qp *q, const struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		q->access = a->qp_access_flags;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		q->max_rd_atomic = a->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		q->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IBV_QP_RETRY_CNT)
		q->retry_count = a->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		q->rnr_retry = a->rnr_retry;
	if (mask & IBV_QP_STATE && a->qp_state == IBV_QPS_ERR)
		soft_qp_error(q);
	else if (mask & IBV_QP_STATE && a->qp_state == IBV_QPS_RESET)
		reset(q);
	else if (mask & IBV_QP_STATE)
		q->v.state = a->qp_state;
	soft_qp_publish(q);
}

EXPORT int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask)
{
	struct soft_qp *q = soft_qp_of(v);
	int rc = 0;

	soft_enter();
	if ((mask & IBV_QP_STATE && !may_move(v->state, a->qp_state)) ||
	    (mask & IBV_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > SOFT_MAX_RD_ATOMIC) ||
	    (mask & IBV_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > SOFT_MAX_RD_ATOMIC))
		rc = EINVAL;
	else
		apply(q, a, mask);
	soft_leave();
	return rc;
}

EXPORT int ibv_query_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	struct soft_qp *q = soft_qp_of(v);

	(void)mask;
	memset(a, 0, sizeof(*a));
	memset(init, 0, sizeof(*init));
	soft_enter();
	a->qp_state = a->cur_qp_state = v->state;
	a->path_mtu = IBV_MTU_4096;
	a->qp_access_flags = q->access;
	a->cap = init->cap = q->cap;
	a->port_num = 1;
	a->dest_qp_num = q->link ? q->link->peer_qp_num : 0;
	a->max_rd_atomic = q->max_rd_atomic;
	a->max_dest_rd_atomic = q->max_dest_rd_atomic;
	a->retry_cnt = q->retry_count;
	a->rnr_retry = q->rnr_retry;
	soft_leave();
	init->qp_context = v->qp_context;
	init->send_cq = v->send_cq;
	init->recv_cq = v->recv_cq;
	init->qp_type = v->qp_type;
	init->sq_sig_all = q->signal_all;
	return 0;
}
