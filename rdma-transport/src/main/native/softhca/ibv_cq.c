#include "ibv_cq.h"
#include "ibv_async.h"
#include "soft_fault.h"

struct held_wc {
	struct held_wc *next;
	struct ibv_wc wc;
	bool solicited;
	uint64_t due_ns;
};

static struct soft_cq *new_cq(int cqe)
{
	struct soft_cq *cq = calloc(1, sizeof(*cq));

	if (cq)
		cq->ring = calloc((size_t)cqe, sizeof(*cq->ring));
	if (!cq || !cq->ring) {
		free(cq);
		errno = ENOMEM;
		return NULL;
	}
	pthread_mutex_init(&cq->v.mutex, NULL);
	pthread_cond_init(&cq->v.cond, NULL);
	cq->held_tail = &cq->held;
	cq->entry.cq = &cq->v;
	return cq;
}

static void free_cq(struct soft_cq *cq)
{
	pthread_mutex_destroy(&cq->v.mutex);
	pthread_cond_destroy(&cq->v.cond);
	free(cq->ring);
	free(cq);
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
				    int vector)
{
	struct soft_cq *cq;
	int rc = soft_fault_call(FAULT_CREATE_CQ);

	if (cqe < 1 || cqe > SOFT_MAX_CQE || vector < 0 || vector >= context->num_comp_vectors)
		rc = EINVAL;
	if (!rc && soft_count_of(LIVE_CQS) >= SOFT_MAX_CQ)
		rc = ENOMEM;
	if (rc) {
		errno = rc;
		return NULL;
	}
	cq = new_cq(cqe);
	if (!cq)
		return NULL;
	rc = soft_poller_acquire();
	if (rc) {
		free_cq(cq);
		errno = rc;
		return NULL;
	}
	cq->v.context = context;
	cq->v.channel = channel;
	cq->v.cq_context = cq_context;
	cq->v.handle = 1;
	cq->v.cqe = cqe;
	if (channel)
		soft_channel_ref(channel);
	soft_count(LIVE_CQS, 1);
	return &cq->v;
}

/* ibv_destroy_cq(3) waits for the acknowledgement of every event read; bounded here, for programs that forget it. */
static bool wait_for_acks(struct soft_cq *cq)
{
	uint64_t deadline_ns = soft_now_ns() + 10000 * SOFT_NS_PER_MS;
	bool all;

	pthread_mutex_lock(&cq->v.mutex);
	while (!(all = cq->v.comp_events_completed == cq->entry.taken) && soft_now_ns() < deadline_ns) {
		pthread_mutex_unlock(&cq->v.mutex);
		usleep(1000);
		pthread_mutex_lock(&cq->v.mutex);
	}
	pthread_mutex_unlock(&cq->v.mutex);
	return all;
}

static void drop_held(struct soft_cq *cq)
{
	struct held_wc *held;

	soft_timer_cancel(&cq->held_timer);
	while ((held = cq->held)) {
		cq->held = held->next;
		free(held);
	}
	cq->held_tail = &cq->held;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *v)
{
	struct soft_cq *cq = soft_cq_of(v);
	int rc = soft_fault_call(FAULT_DESTROY_CQ), qps;

	if (rc)
		return rc;
	soft_enter();
	qps = cq->qps;
	if (!qps)
		drop_held(cq);
	soft_leave();
	if (qps)
		return EBUSY;
	if (v->channel) {
		soft_channel_forget(v->channel, &cq->entry);
		if (!wait_for_acks(cq))
			return EBUSY;
	}
	if (!soft_async_drain(v))
		return EBUSY;
	if (v->channel) {
		soft_enter();
		soft_channel_unref(v->channel);
		soft_leave();
	}
	free_cq(cq);
	soft_count(LIVE_CQS, -1);
	soft_poller_release();
	return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *v, unsigned n)
{
	pthread_mutex_lock(&v->mutex);
	v->comp_events_completed += n;
	pthread_mutex_unlock(&v->mutex);
}

static void add(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	uint32_t cap = (uint32_t)cq->v.cqe, count;
	bool notify = false, overrun = soft_fault_hit(FAULT_CQ_OVERRUN, NULL);

	pthread_mutex_lock(&cq->v.mutex);
	count = atomic_load_explicit(&cq->count, memory_order_relaxed);
	if (overrun || count == cap || atomic_load(&cq->overrun)) {
		atomic_store(&cq->overrun, true);
	} else {
		cq->ring[(cq->head + count) % cap] = *wc;
		atomic_store_explicit(&cq->count, count + 1, memory_order_release);
		notify = cq->armed == 2 || (cq->armed == 1 && (solicited || wc->status != IBV_WC_SUCCESS));
	}
	if (notify)
		cq->armed = 0;
	pthread_mutex_unlock(&cq->v.mutex);
	if (notify && cq->v.channel)
		soft_channel_post(cq->v.channel, &cq->entry);
	if (atomic_load(&cq->overrun) && !cq->overrun_handled) {
		cq->overrun_handled = true;
		soft_async_cq(&cq->v, IBV_EVENT_CQ_ERR);
		soft_poller_check_overruns();
	}
}

static void release_held(struct soft_timer *timer)
{
	struct soft_cq *cq = container_of(timer, struct soft_cq, held_timer);
	struct held_wc *held;

	while ((held = cq->held) && held->due_ns <= soft_now_ns()) {
		cq->held = held->next;
		if (!cq->held)
			cq->held_tail = &cq->held;
		add(cq, &held->wc, held->solicited);
		free(held);
	}
	if (cq->held)
		soft_timer_set(timer, cq->held->due_ns, release_held);
}

void soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited, uint64_t delay_ns)
{
	struct held_wc *held = NULL;

	soft_count(COMPLETIONS, 1);
	if (wc->status != IBV_WC_SUCCESS)
		soft_count(COMPLETION_ERRORS, 1);
	if (delay_ns || cq->held)
		held = calloc(1, sizeof(*held));
	if (!held) {
		add(cq, wc, solicited);
		return;
	}
	held->wc = *wc;
	held->solicited = solicited;
	held->due_ns = delay_ns ? soft_now_ns() + delay_ns : 0;	/* 0: as soon as those before it are out */
	*cq->held_tail = held;
	cq->held_tail = &held->next;
	if (cq->held == held)
		soft_timer_set(&cq->held_timer, held->due_ns, release_held);
}

static bool is_idle(struct soft_cq *cq)
{
	return !atomic_load_explicit(&cq->count, memory_order_acquire) && !atomic_load_explicit(&cq->overrun, memory_order_relaxed);
}

int soft_cq_poll(struct ibv_cq *v, int n, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq_of(v);
	uint32_t count;
	int i;

	if (is_idle(cq)) {
		if (v->channel)
			soft_channel_poll(v->channel);
		if (is_idle(cq))
			return 0;
	}
	pthread_mutex_lock(&v->mutex);
	count = atomic_load_explicit(&cq->count, memory_order_relaxed);
	for (i = 0; i < n && count; i++, count--) {
		wc[i] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % (uint32_t)v->cqe;
	}
	atomic_store_explicit(&cq->count, count, memory_order_relaxed);
	if (!i && n > 0 && atomic_load(&cq->overrun))
		i = -1;				/* completions were lost; ibv_poll_cq(3): a negative number on failure */
	pthread_mutex_unlock(&v->mutex);
	return i;
}

int soft_cq_arm(struct ibv_cq *v, int solicited_only)
{
	struct soft_cq *cq = soft_cq_of(v);
	int armed = solicited_only ? 1 : 2;

	if (v->channel)
		soft_channel_pay(v->channel);
	pthread_mutex_lock(&v->mutex);
	if (cq->armed < armed)
		cq->armed = armed;
	pthread_mutex_unlock(&v->mutex);
	return 0;
}
