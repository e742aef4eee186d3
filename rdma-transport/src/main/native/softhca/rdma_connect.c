/* Connecting, accepting, rejecting, disconnecting (rdma_connect(3), rdma_accept(3), rdma_reject(3), rdma_disconnect(3)). */
#include "ibv_qp.h"
#include "rdma_event_channel.h"
#include "rdma_dial.h"
#include "soft_fault.h"
#include <sys/epoll.h>
#include <sys/socket.h>

enum { DISCONNECT_TIMEOUT_MS = 2000, REJECT_CONSUMER = 28 /* IB CM: consumer defined */ };

static uint8_t depth(uint8_t asked)
{
	return asked > SOFT_MAX_RD_ATOMIC ? SOFT_MAX_RD_ATOMIC : asked;	/* RDMA_MAX_RESP_RES and _INIT_DEPTH are 255 */
}

static void pick_qp(struct soft_id *id, const struct rdma_conn_param *p)
{
	struct soft_qp *q = id->v.qp ? soft_qp_of(id->v.qp) : p ? soft_qp_find(p->qp_num) : NULL;

	id->link.q = q;
	if (q)
		q->link = &id->link;
}

/* Without parameters the device's best, or what the request asked for. */
static void fill_params(struct hello *h, const struct rdma_conn_param *p, const struct hello *request)
{
	h->responder_resources = depth(p ? p->responder_resources : request ? request->initiator_depth : SOFT_MAX_RD_ATOMIC);
	h->initiator_depth = depth(p ? p->initiator_depth : request ? request->responder_resources : SOFT_MAX_RD_ATOMIC);
	h->retry_count = request ? request->retry_count : p ? p->retry_count & 7 : 7;
	h->rnr_retry_count = p ? p->rnr_retry_count & 7 : 7;
	if (!p)
		return;
	h->flow_control = p->flow_control;
	h->srq = p->srq;
	h->qp_num = p->qp_num;
	if (p->private_data_len)
		memcpy(h->private_data, p->private_data, p->private_data_len);
}

/* private_bytes: as on InfiniBand, the receiver sees the whole field, padded with zeros. */
static void fill_hello(struct soft_id *id, const struct rdma_conn_param *p, const struct hello *request, uint8_t private_bytes)
{
	struct hello *h = &id->mine;

	memset(h, 0, sizeof(*h));
	h->magic = HELLO_MAGIC;
	h->version = HELLO_VERSION;
	h->private_len = private_bytes;
	fill_params(h, p, request);
	if (soft_config()->direct)
		soft_table_address(&h->table);
	if (id->link.q) {
		h->qp_num = id->link.q->v.qp_num;
		h->pd = soft_qp_pd(id->link.q);
	}
}

static bool send_hello(struct soft_id *id, enum frame_type type)
{
	bool ok = soft_link_control(&id->link, &(struct frame){ .type = (uint8_t)type, .len = sizeof(id->mine) }, &id->mine);

	soft_link_transmit(&id->link, LINK_CONTROL_BYTES);
	return ok;
}

static void send_plain(struct soft_id *id, enum frame_type type)
{
	soft_link_control(&id->link, &(struct frame){ .type = (uint8_t)type }, NULL);
	soft_link_transmit(&id->link, LINK_CONTROL_BYTES);
}

/* ---- what both ends do when they know each other ---- */

static void meet(struct soft_id *id)
{
	struct link *l = &id->link;
	const struct hello *h = &l->hello;

	l->peer_pd = h->pd;
	l->peer_qp_num = h->qp_num;
	if (!l->peer && !soft_fault_hit(FAULT_DIRECT, NULL))
		l->peer = soft_peer_open(&h->table);
}

/* Limits and rights as the kernel's CM sets them: the peer's retry count for RNR is ours to keep, and a READ needs resources. */
static void join(struct soft_id *id, uint8_t retry_count)
{
	struct soft_qp *q = id->link.q;
	const struct hello *h = &id->link.hello;

	if (!q)
		return;
	q->max_rd_atomic = id->mine.initiator_depth < h->responder_resources ? id->mine.initiator_depth : h->responder_resources;
	q->max_dest_rd_atomic = id->mine.responder_resources;
	q->retry_count = retry_count;
	q->rnr_retry = h->rnr_retry_count & 7;
	q->access = IBV_ACCESS_REMOTE_WRITE | (q->max_dest_rd_atomic ? IBV_ACCESS_REMOTE_READ : 0);
	soft_qp_connect(q, &id->link);
}

static void drop(struct soft_timer *timer)
{
	soft_link_abort(&container_of(timer, struct soft_id, fault_timer)->link);
}

static void established(struct soft_id *id, const struct hello *h)
{
	struct soft_fault fault;

	id->state = ID_CONNECTED;
	soft_timer_cancel(&id->deadline_timer);
	if (id->link.q)
		soft_qp_share_socket(id->link.q);
	soft_event_post(id, id, RDMA_CM_EVENT_ESTABLISHED, 0, h);
	if (soft_fault_hit(FAULT_DROP_CONNECTION, &fault))
		soft_timer_set(&id->fault_timer, soft_now_ns() + fault.delay_ns, drop);
}

/* ---- the end ---- */

static void leave_backlog(struct soft_id *id)
{
	if (id->listener)
		id->listener->waiting--;
	id->listener = NULL;
}

static void post_end(struct soft_id *id, enum id_state was, int status)
{
	if (was == ID_CONNECTED || was == ID_CLOSING)
		soft_event_post(id, id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	else if (was == ID_DIALLING || (was == ID_CONNECTING && status == -ETIMEDOUT))
		soft_event_post(id, id, RDMA_CM_EVENT_UNREACHABLE, status, NULL);
	else if (was == ID_CONNECTING)
		soft_event_post(id, id, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER, NULL);
	else if (was == ID_ANSWERED || was == ID_ACCEPTED)
		soft_event_post(id, id, RDMA_CM_EVENT_CONNECT_ERROR, status, NULL);
}

/* Flushes first: who hears of the end may count on it. */
static void go_down(struct soft_id *id, int status)
{
	enum id_state was = id->state;

	id->state = ID_DOWN;
	soft_timer_cancel(&id->deadline_timer);
	leave_backlog(id);
	if (id->link.q)
		soft_qp_error(id->link.q);
	post_end(id, was, status);
}

static void lost(struct soft_id *id, int status)
{
	soft_poller_unwatch(&id->link.pollee);
	soft_link_abort(&id->link);
	if (id->state == ID_GREETING) {
		soft_id_discard(id);
		soft_poller_unshare();
		return;
	}
	if (id->link.q && id->state == ID_CONNECTED)
		id->link.q->peer_lost = true;
	go_down(id, status);
	soft_peer_close(id->link.peer);
	id->link.peer = NULL;
}

void soft_id_deadline(struct soft_timer *timer)
{
	lost(container_of(timer, struct soft_id, deadline_timer), -ETIMEDOUT);
}

void soft_id_ready(struct pollee *p, uint32_t events)
{
	struct link *l = soft_link_of(p);

	if (events & EPOLLOUT)
		soft_link_transmit(l, LINK_CHUNK_BYTES);
	if (!p->dead && events & ~(uint32_t)EPOLLOUT && !soft_link_receive(l))
		lost(soft_id_of_link(l), -ECONNRESET);
}

/* ---- frames ---- */

bool soft_id_expects(struct link *l, enum frame_type type)
{
	switch (soft_id_of_link(l)->state) {
	case ID_GREETING:
		return type == FRAME_REQ;
	case ID_CONNECTING:
		return type == FRAME_REP || type == FRAME_REJ;
	case ID_ACCEPTED:
		return type == FRAME_RTU || type == FRAME_DISC;
	case ID_CONNECTED:
	case ID_CLOSING:
	case ID_DOWN:
		return type == FRAME_DISC || type == FRAME_DREP || type >= FRAME_SEND;
	default:
		return false;
	}
}

static bool hello_is_valid(const struct hello *h)
{
	return h->magic == HELLO_MAGIC && h->version == HELLO_VERSION && h->private_len <= sizeof(h->private_data) &&
	       h->responder_resources <= SOFT_MAX_RD_ATOMIC && h->initiator_depth <= SOFT_MAX_RD_ATOMIC;
}

static bool frame_req(struct soft_id *id)
{
	if (!id->listener)
		return false;
	id->state = ID_REQUESTED;
	soft_timer_cancel(&id->deadline_timer);
	soft_event_post(id->listener, id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, &id->link.hello);
	return true;
}

static bool frame_rep(struct soft_id *id)
{
	meet(id);
	join(id, id->mine.retry_count);
	if (!id->v.qp) {		/* the program drives its queue pair and calls rdma_establish */
		id->state = ID_ANSWERED;
		soft_event_post(id, id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, &id->link.hello);
		return true;
	}
	/* Queued before the program can know: nothing it sends may overtake it. */
	soft_link_control(&id->link, &(struct frame){ .type = FRAME_RTU }, NULL);
	established(id, &id->link.hello);
	soft_link_transmit(&id->link, LINK_CONTROL_BYTES);
	return true;
}

static bool frame_rej(struct soft_id *id)
{
	id->state = ID_DOWN;
	soft_timer_cancel(&id->deadline_timer);
	if (id->link.q)
		soft_qp_error(id->link.q);
	soft_event_post(id, id, RDMA_CM_EVENT_REJECTED, (int)id->link.hello.reject_status, &id->link.hello);
	return true;
}

bool soft_id_frame(struct link *l, const struct frame *f)
{
	struct soft_id *id = soft_id_of_link(l);

	if (f->len && !hello_is_valid(&l->hello))
		return false;
	switch (f->type) {
	case FRAME_REQ:
		return frame_req(id);
	case FRAME_REP:
		return frame_rep(id);
	case FRAME_REJ:
		return frame_rej(id);
	case FRAME_RTU:
		established(id, NULL);
		return true;
	case FRAME_DISC:
		go_down(id, -ECONNRESET);
		send_plain(id, FRAME_DREP);
		return true;
	default:
		go_down(id, 0);
		return true;
	}
}

/* ---- calls ---- */

EXPORT int rdma_connect(struct rdma_cm_id *v, struct rdma_conn_param *p)
{
	struct soft_id *id = soft_id_of(v);
	int rc = 0;

	soft_enter();
	if (id->state != ID_ROUTED || (p && p->private_data_len > REQ_PRIVATE_BYTES)) {
		rc = EINVAL;
	} else {
		pick_qp(id, p);
		fill_hello(id, p, NULL, REQ_PRIVATE_BYTES);
		soft_timer_set(&id->deadline_timer, soft_now_ns() + soft_config()->connect_timeout_ns, soft_id_deadline);
		soft_dial(id);
	}
	soft_leave();
	return rc ? soft_fail(rc) : soft_id_sync_wait(id);
}

void soft_dialled(struct soft_id *id)
{
	id->state = ID_CONNECTING;
	id->link.pollee.ready = soft_id_ready;
	soft_poller_watch(&id->link.pollee, EPOLLIN);
	send_hello(id, FRAME_REQ);
}

EXPORT int rdma_establish(struct rdma_cm_id *v)
{
	struct soft_id *id = soft_id_of(v);
	bool ok;

	soft_enter();
	ok = id->state == ID_ANSWERED;
	if (ok) {
		id->state = ID_CONNECTED;
		soft_timer_cancel(&id->deadline_timer);
		send_plain(id, FRAME_RTU);
	}
	soft_leave();
	return ok ? 0 : soft_fail(EINVAL);
}

EXPORT int rdma_accept(struct rdma_cm_id *v, struct rdma_conn_param *p)
{
	struct soft_id *id = soft_id_of(v);
	bool ok;

	soft_enter();
	ok = id->state == ID_REQUESTED && (!p || p->private_data_len <= REP_PRIVATE_BYTES);
	if (ok) {
		pick_qp(id, p);
		ok = id->link.q != NULL;
	}
	if (ok) {
		meet(id);
		fill_hello(id, p, &id->link.hello, REP_PRIVATE_BYTES);
		join(id, id->link.hello.retry_count);
		leave_backlog(id);
		id->state = ID_ACCEPTED;
		soft_timer_set(&id->deadline_timer, soft_now_ns() + soft_config()->connect_timeout_ns, soft_id_deadline);
		send_hello(id, FRAME_REP);
	}
	soft_leave();
	return ok ? soft_id_sync_wait(id) : soft_fail(EINVAL);
}

EXPORT int rdma_reject(struct rdma_cm_id *v, const void *private_data, uint8_t len)
{
	struct soft_id *id = soft_id_of(v);
	struct rdma_conn_param p = { .private_data = private_data, .private_data_len = len };
	bool ok;

	soft_enter();
	ok = id->state == ID_REQUESTED && len <= REJ_PRIVATE_BYTES;
	if (ok) {
		fill_hello(id, &p, NULL, REJ_PRIVATE_BYTES);
		id->mine.reject_status = REJECT_CONSUMER;
		send_hello(id, FRAME_REJ);
		leave_backlog(id);
		id->state = ID_DOWN;
	}
	soft_leave();
	return ok ? 0 : soft_fail(EINVAL);
}

EXPORT int rdma_disconnect(struct rdma_cm_id *v)
{
	struct soft_id *id = soft_id_of(v);
	bool first, ok;

	soft_enter();
	first = id->state == ID_CONNECTED || id->state == ID_ACCEPTED;
	ok = first || id->state == ID_CLOSING || id->state == ID_DOWN;
	if (first) {
		id->state = ID_CLOSING;
		soft_timer_set(&id->deadline_timer, soft_now_ns() + DISCONNECT_TIMEOUT_MS * SOFT_NS_PER_MS, soft_id_deadline);
	}
	if (ok && id->link.q)
		soft_qp_error(id->link.q);
	if (first)
		send_plain(id, FRAME_DISC);
	soft_leave();
	if (!ok)
		return soft_fail(EINVAL);
	return first ? soft_id_sync_wait(id) : 0;
}

EXPORT int rdma_init_qp_attr(struct rdma_cm_id *v, struct ibv_qp_attr *a, int *mask)
{
	(void)v;
	a->port_num = 1;
	*mask = IBV_QP_STATE;		/* the connection sets everything else itself */
	return 0;
}
