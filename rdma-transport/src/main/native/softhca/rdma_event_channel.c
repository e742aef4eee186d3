/* Event channels of the connection manager: an eventfd as semaphore, so that O_NONBLOCK and poll work, and a list. */
#include "rdma_event_channel.h"
#include <poll.h>
#include <sys/eventfd.h>

struct event {
	struct rdma_cm_event v;
	struct event *next;
	struct soft_id *owner;		/* whose destruction waits for the acknowledgement */
	uint8_t private_data[256];
};

struct event_channel {
	struct rdma_event_channel v;
	struct event *head, **tail;
};

static struct event_channel *to_channel(struct rdma_event_channel *v) { return container_of(v, struct event_channel, v); }

EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct event_channel *ch = calloc(1, sizeof(*ch));

	soft_init();
	if (!ch)
		return NULL;
	ch->v.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (ch->v.fd < 0) {
		free(ch);
		return NULL;
	}
	ch->tail = &ch->head;
	soft_count(LIVE_EVENT_CHANNELS, 1);
	return &ch->v;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *v)
{
	struct event_channel *ch = to_channel(v);
	struct event *e;

	while ((e = ch->head)) {
		ch->head = e->next;
		free(e);
	}
	close(v->fd);
	free(ch);
	soft_count(LIVE_EVENT_CHANNELS, -1);
}

static void append(struct event_channel *ch, struct event *e)
{
	e->next = NULL;
	*ch->tail = e;
	ch->tail = &e->next;
	eventfd_write(ch->v.fd, 1);
}

/* Takes *link out, with its token; returns what link points at then. */
static void take_out(struct event_channel *ch, struct event **link)
{
	struct pollfd p = { .fd = ch->v.fd, .events = POLLIN };
	eventfd_t one;

	*link = (*link)->next;
	if (!*link)
		ch->tail = link;
	if (poll(&p, 1, 0) == 1)		/* else another thread took the token: it will find nothing */
		eventfd_read(ch->v.fd, &one);
}

static void fill_params(struct event *e, const struct hello *h)
{
	struct rdma_conn_param *p = &e->v.param.conn;

	memcpy(e->private_data, h->private_data, sizeof(h->private_data));
	p->private_data = h->private_len ? e->private_data : NULL;
	p->private_data_len = h->private_len;
	p->responder_resources = h->initiator_depth;	/* theirs is the mirror of ours: rdma_get_cm_event(3) */
	p->initiator_depth = h->responder_resources;
	p->flow_control = h->flow_control;
	p->retry_count = h->retry_count;
	p->rnr_retry_count = h->rnr_retry_count;
	p->srq = h->srq;
	p->qp_num = h->qp_num;
}

void soft_event_post(struct soft_id *owner, struct soft_id *id, enum rdma_cm_event_type type, int status, const struct hello *h)
{
	struct event *e = calloc(1, sizeof(*e));

	if (!e) {
		fprintf(stderr, "softhca: no memory for %s\n", rdma_event_str(type));
		return;
	}
	e->owner = owner;
	e->v.id = &id->v;
	e->v.listen_id = owner != id ? &owner->v : NULL;
	e->v.event = type;
	e->v.status = status;
	if (h)
		fill_params(e, h);
	append(to_channel(owner->v.channel), e);
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *v, struct rdma_cm_event **out)
{
	struct event_channel *ch = to_channel(v);
	struct event *e = NULL;

	while (!e) {
		eventfd_t one;

		if (eventfd_read(v->fd, &one))		/* blocks or not, as the program set the descriptor */
			return -1;
		soft_enter();
		e = ch->head;				/* NULL: its id was destroyed meanwhile */
		if (e) {
			ch->head = e->next;
			if (!ch->head)
				ch->tail = &ch->head;
			e->owner->events_read++;
		}
		soft_leave();
	}
	*out = &e->v;
	return 0;
}

EXPORT int rdma_ack_cm_event(struct rdma_cm_event *v)
{
	struct event *e = container_of(v, struct event, v);

	soft_enter();
	e->owner->events_acked++;
	pthread_cond_broadcast(&soft_cond);
	soft_leave();
	free(e);
	return 0;
}

struct soft_id *soft_event_purge(struct soft_id *id)
{
	struct event_channel *ch = to_channel(id->v.channel);
	struct event **link = &ch->head, *e;
	struct soft_id *orphans = NULL;

	while ((e = *link)) {
		if (e->owner != id && e->v.id != &id->v) {
			link = &e->next;
			continue;
		}
		take_out(ch, link);
		if (e->v.id != &id->v) {
			soft_id_of(e->v.id)->next_orphan = orphans;
			orphans = soft_id_of(e->v.id);
		}
		free(e);
	}
	return orphans;
}

/* Unread events move along (rdma_migrate_id(3)). An id that owns its channel, because it was made without one, keeps it. */
EXPORT int rdma_migrate_id(struct rdma_cm_id *v, struct rdma_event_channel *channel)
{
	struct soft_id *id = soft_id_of(v);
	struct event_channel *from = to_channel(v->channel);
	struct event **link, *e;

	if (!channel || id->sync)
		return soft_fail(EOPNOTSUPP);
	soft_enter();
	for (link = &from->head; (e = *link); ) {
		if (e->owner != id) {
			link = &e->next;
			continue;
		}
		take_out(from, link);
		append(to_channel(channel), e);
	}
	v->channel = channel;
	soft_leave();
	return 0;
}
