/* Life of ids. */
#include "rdma_id.h"
#include "ibv_device.h"
#include "ibv_pd.h"
#include "ibv_qp.h"
#include "rdma_event_channel.h"
#include "soft_fork.h"

static struct soft_id *all;

static void free_id(struct pollee *p)
{
	free(soft_id_of_link(soft_link_of(p)));
}

struct soft_id *soft_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps)
{
	struct soft_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->v.channel = channel;
	id->v.context = context;
	id->v.ps = ps;
	id->v.qp_type = IBV_QPT_RC;
	soft_link_init(&id->link);
	id->link.pollee.destroy = free_id;
	id->next = all;
	id->prev = &all;
	if (all)
		all->prev = &id->next;
	all = id;
	soft_count(LIVE_IDS, 1);
	return id;
}

static void delist(struct soft_id *id)
{
	*id->prev = id->next;
	if (id->next)
		id->next->prev = id->prev;
	soft_count(LIVE_IDS, -1);
}

void soft_id_forget_all(void)
{
	for (struct soft_id *id = all; id; id = id->next) {
		if (id->link.pollee.fd >= 0)
			close(id->link.pollee.fd);
		id->link.pollee.fd = -1;
		id->link.pollee.watched = false;
		id->link.pollee.set = 0;
		id->link.q = NULL;
		id->link.peer = NULL;
		id->state = ID_DOWN;
		memset(&id->step_timer, 0, sizeof(id->step_timer));
		memset(&id->deadline_timer, 0, sizeof(id->deadline_timer));
		memset(&id->fault_timer, 0, sizeof(id->fault_timer));
	}
}

void soft_id_device_removed(void)
{
	soft_enter();
	for (struct soft_id *id = all; id; id = id->next)
		if (id->v.verbs && !id->listener)	/* a request nobody has answered may be unknown to the program */
			soft_event_post(id, id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
	soft_leave();
}

int soft_id_use_device(struct soft_id *id)
{
	id->v.verbs = soft_device_open();
	id->v.pd = soft_pd_default();
	id->v.port_num = 1;
	return id->v.verbs && id->v.pd ? 0 : -1;
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps)
{
	bool sync = !channel;
	struct soft_id *id;
	int rc;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB)
		return soft_fail(EOPNOTSUPP);
	if (sync && !(channel = rdma_create_event_channel()))
		return -1;
	rc = soft_poller_acquire();
	if (!rc) {
		soft_enter();
		id = soft_id_new(channel, context, ps);
		soft_leave();
		if (id) {
			id->sync = sync;
			*out = &id->v;
			return 0;
		}
		soft_poller_release();
		rc = ENOMEM;
	}
	if (sync)
		rdma_destroy_event_channel(channel);
	return soft_fail(rc);
}

void soft_id_close_socket(struct soft_id *id)
{
	soft_poller_unwatch(&id->link.pollee);
	if (id->link.pollee.fd >= 0)
		close(id->link.pollee.fd);
	id->link.pollee.fd = -1;
}

static void cancel_timers(struct soft_id *id)
{
	soft_timer_cancel(&id->step_timer);
	soft_timer_cancel(&id->deadline_timer);
	soft_timer_cancel(&id->fault_timer);
	soft_timer_cancel(&id->link.ack_timer);
	soft_timer_cancel(&id->link.rnr_timer);
}

/* From here on nothing happens to the id any more. May let go of soft_lock. */
static void take_down(struct soft_id *id)
{
	if (id->link.q)
		soft_qp_disconnect(id->link.q);
	id->link.pollee.dead = true;
	soft_link_quiesce(&id->link);
	cancel_timers(id);
	soft_id_close_socket(id);
	soft_peer_close(id->link.peer);
	id->link.peer = NULL;
	id->state = ID_DOWN;
	if (id->listener)
		id->listener->waiting--;
	id->listener = NULL;
}

void soft_id_discard(struct soft_id *id)
{
	take_down(id);
	delist(id);
	soft_poller_retire(&id->link.pollee);
}

/* The children of a listener that its program has not seen: unread requests, and sockets that have not asked yet. */
static struct soft_id *take_orphans(struct soft_id *id)
{
	struct soft_id *orphans = soft_event_purge(id);

	for (struct soft_id *child = all; child; child = child->next) {
		if (child->listener != id)
			continue;
		child->listener = NULL;
		if (child->state == ID_GREETING) {
			child->next_orphan = orphans;
			orphans = child;
		}
	}
	return orphans;
}

/* rdma_destroy_id(3): every event must be acknowledged first; bounded here, for programs that forget it. */
static bool wait_for_acks(struct soft_id *id)
{
	uint64_t deadline_ns = soft_now_ns() + 10000 * SOFT_NS_PER_MS;

	while (id->events_read != id->events_acked)
		if (!soft_wait_until(deadline_ns))
			return false;
	return true;
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *v)
{
	struct soft_id *id = soft_id_of(v), *orphans, *orphan;
	struct rdma_event_channel *own_channel = id->sync ? v->channel : NULL;
	int shares = 1;
	bool acked;

	if (v->event)
		rdma_ack_cm_event(v->event);
	v->event = NULL;
	soft_enter();
	take_down(id);
	orphans = take_orphans(id);
	while ((orphan = orphans)) {
		orphans = orphan->next_orphan;
		soft_id_discard(orphan);
		shares++;
	}
	acked = wait_for_acks(id);
	if (acked) {
		delist(id);
		soft_poller_retire(&id->link.pollee);
	} else {
		shares--;		/* the id stays: its program still holds an event */
	}
	soft_leave();
	if (acked && own_channel)
		rdma_destroy_event_channel(own_channel);
	while (shares--)
		soft_poller_release();
	return acked ? 0 : soft_fail(EBUSY);
}

int soft_id_sync_wait(struct soft_id *id)
{
	struct rdma_cm_event *e;

	if (!id->sync)
		return 0;
	if (id->v.event)
		rdma_ack_cm_event(id->v.event);
	id->v.event = NULL;
	if (rdma_get_cm_event(id->v.channel, &id->v.event))
		return -1;
	e = id->v.event;
	if (!e->status)
		return 0;
	return soft_fail(e->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : -e->status);
}

EXPORT int rdma_set_option(struct rdma_cm_id *v, int level, int name, void *value, size_t len)
{
	(void)v, (void)level, (void)name, (void)value, (void)len;
	return 0;			/* type of service, address reuse, time-outs: nothing to set here */
}

EXPORT int rdma_create_qp(struct rdma_cm_id *v, struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp *qp;

	if (!v->verbs || v->qp)
		return soft_fail(EINVAL);
	qp = ibv_create_qp(pd ? pd : v->pd, a);
	if (!qp)
		return -1;
	qp->state = IBV_QPS_INIT;	/* receives may be posted before the connection stands: rdma_create_qp(3) */
	v->qp = qp;
	v->pd = qp->pd;
	v->send_cq = a->send_cq;
	v->recv_cq = a->recv_cq;
	return 0;
}

EXPORT int rdma_create_qp_ex(struct rdma_cm_id *v, struct ibv_qp_init_attr_ex *a)
{
	return rdma_create_qp(v, a->comp_mask & IBV_QP_INIT_ATTR_PD ? a->pd : NULL, (struct ibv_qp_init_attr *)a);
}

/* As in librdmacm, a failure is not told, and the id no longer knows the queue pair. */
EXPORT void rdma_destroy_qp(struct rdma_cm_id *v)
{
	ibv_destroy_qp(v->qp);
	v->qp = NULL;
}
