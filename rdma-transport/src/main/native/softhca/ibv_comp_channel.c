#include "ibv_comp_channel.h"
#include "soft_link.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { ATTENTION_MS = 5 };		/* a program that was away for longer may be busy elsewhere */

static struct soft_comp_channel *to_channel(struct ibv_comp_channel *v)
{
	return container_of(v, struct soft_comp_channel, v);
}

/* What the poller does while nobody attends. */
static void sockets_ready(struct pollee *p, uint32_t epoll_events)
{
	(void)epoll_events;
	soft_poller_serve(p->fd);
}

static void free_channel(struct pollee *p)
{
	struct soft_comp_channel *ch = container_of(p, struct soft_comp_channel, sockets);

	if (ch->v.fd >= 0)
		close(ch->v.fd);
	if (ch->event_fd >= 0)
		close(ch->event_fd);
	if (p->fd >= 0)
		close(p->fd);
	pthread_mutex_destroy(&ch->lock);
	free(ch);
}

static bool open_descriptors(struct soft_comp_channel *ch)
{
	struct epoll_event e = { .events = EPOLLIN };

	ch->v.fd = epoll_create1(EPOLL_CLOEXEC);
	ch->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ch->sockets.fd = epoll_create1(EPOLL_CLOEXEC);
	return ch->v.fd >= 0 && ch->event_fd >= 0 && ch->sockets.fd >= 0 &&
	       !epoll_ctl(ch->v.fd, EPOLL_CTL_ADD, ch->event_fd, &e) && !epoll_ctl(ch->v.fd, EPOLL_CTL_ADD, ch->sockets.fd, &e);
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_comp_channel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return NULL;
	pthread_mutex_init(&ch->lock, NULL);
	ch->v.context = context;
	ch->tail = &ch->head;
	ch->sockets.ready = sockets_ready;
	ch->sockets.destroy = free_channel;
	if (!open_descriptors(ch)) {
		free_channel(&ch->sockets);
		return NULL;
	}
	soft_count(LIVE_COMP_CHANNELS, 1);
	return &ch->v;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *v)
{
	if (__atomic_load_n(&v->refcnt, __ATOMIC_ACQUIRE))
		return EBUSY;
	soft_enter();
	soft_poller_retire(&to_channel(v)->sockets);
	soft_leave();
	soft_count(LIVE_COMP_CHANNELS, -1);
	return 0;
}

void soft_channel_ref(struct ibv_comp_channel *v)
{
	__atomic_fetch_add(&v->refcnt, 1, __ATOMIC_ACQ_REL);
}

/* Without queues there are no connections, and the poller may end. */
void soft_channel_unref(struct ibv_comp_channel *v)
{
	struct soft_comp_channel *ch = to_channel(v);

	if (__atomic_fetch_sub(&v->refcnt, 1, __ATOMIC_ACQ_REL) > 1)
		return;
	soft_poller_unwatch(&ch->sockets);
	soft_timer_cancel(&ch->attention);
	ch->attended = false;
}

void soft_channel_adopt(struct ibv_comp_channel *v, struct pollee *socket)
{
	struct soft_comp_channel *ch = to_channel(v);

	if (!soft_poller_watch(&ch->sockets, ch->attended ? 0 : EPOLLIN))
		soft_poller_move(socket, ch->sockets.fd);
}

/* soft_lock is held, and let go of in between. */
static void pay(struct soft_comp_channel *ch)
{
	struct link *l;

	while ((l = ch->owing)) {
		ch->owing = l->next_owing;
		l->owing = false;
		soft_link_transmit(l, LINK_CHUNK_BYTES);
	}
}

bool soft_channel_defers(struct ibv_comp_channel *v, struct link *l)
{
	struct soft_comp_channel *ch = to_channel(v);

	if (!l->pollee.set || !ch->attended)
		return false;
	if (!l->owing) {
		l->owing = true;
		l->next_owing = ch->owing;
		ch->owing = l;
	}
	return true;
}

void soft_channel_forget_link(struct ibv_comp_channel *v, struct link *l)
{
	struct link *before = to_channel(v)->owing;

	if (!l->owing)
		return;
	if (before == l) {
		to_channel(v)->owing = l->next_owing;
	} else {
		while (before->next_owing != l)
			before = before->next_owing;
		before->next_owing = l->next_owing;
	}
	l->owing = false;
}

void soft_channel_pay(struct ibv_comp_channel *v)
{
	if (!to_channel(v)->owing)
		return;
	soft_enter();
	pay(to_channel(v));
	soft_leave();
}

static void set_attended(struct soft_comp_channel *ch, bool attended)
{
	ch->attended = attended;
	if (ch->sockets.watched)
		soft_poller_watch(&ch->sockets, attended ? 0 : EPOLLIN);
}

static void look_for_visitors(struct soft_timer *timer)
{
	struct soft_comp_channel *ch = container_of(timer, struct soft_comp_channel, attention);

	if (ch->visited)
		soft_timer_set(timer, soft_now_ns() + ATTENTION_MS * SOFT_NS_PER_MS, look_for_visitors);
	else
		set_attended(ch, false);
	ch->visited = false;
	pay(ch);
}

/* The program is here. Only channels with connections have something to attend to. */
static void visit(struct soft_comp_channel *ch)
{
	soft_enter();
	if (ch->sockets.watched) {
		ch->visited = true;
		if (!ch->attended) {
			set_attended(ch, true);
			soft_timer_set(&ch->attention, soft_now_ns() + ATTENTION_MS * SOFT_NS_PER_MS, look_for_visitors);
		}
		soft_poller_serve(ch->sockets.fd);
	}
	soft_leave();
}

void soft_channel_poll(struct ibv_comp_channel *v)
{
	if (to_channel(v)->attended)
		visit(to_channel(v));
}

void soft_channel_post(struct ibv_comp_channel *v, struct channel_entry *entry)
{
	struct soft_comp_channel *ch = to_channel(v);

	pthread_mutex_lock(&ch->lock);
	if (!ch->head)
		eventfd_write(ch->event_fd, 1);
	if (!entry->pending++) {
		entry->next = NULL;
		*ch->tail = entry;
		ch->tail = &entry->next;
	}
	pthread_mutex_unlock(&ch->lock);
}

/* The eventfd is readable while the list is not empty. */
static void if_empty_clear(struct soft_comp_channel *ch)
{
	eventfd_t one;

	if (!ch->head)
		eventfd_read(ch->event_fd, &one);
}

/* An event of the queue that has waited longest, which goes behind the others if it has more. */
static struct channel_entry *take(struct soft_comp_channel *ch)
{
	struct channel_entry *entry;

	pthread_mutex_lock(&ch->lock);
	entry = ch->head;
	if (entry) {
		ch->head = entry->next;
		entry->taken++;
		if (!ch->head)
			ch->tail = &ch->head;
		if (--entry->pending) {
			entry->next = NULL;
			*ch->tail = entry;
			ch->tail = &entry->next;
		}
		if_empty_clear(ch);
	}
	pthread_mutex_unlock(&ch->lock);
	return entry;
}

static struct channel_entry *wait_for_entry(struct soft_comp_channel *ch)
{
	struct pollfd p = { .fd = ch->v.fd, .events = POLLIN };
	struct channel_entry *entry;

	for (;;) {
		visit(ch);
		entry = take(ch);
		if (entry)
			return entry;
		if (fcntl(ch->v.fd, F_GETFL) & O_NONBLOCK) {
			errno = EAGAIN;
			return NULL;
		}
		if (poll(&p, 1, -1) < 0)
			return NULL;
	}
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *v, struct ibv_cq **cq, void **cq_context)
{
	struct channel_entry *entry = wait_for_entry(to_channel(v));

	if (!entry)
		return -1;
	*cq = entry->cq;
	*cq_context = entry->cq->cq_context;
	return 0;
}

void soft_channel_forget(struct ibv_comp_channel *v, struct channel_entry *entry)
{
	struct soft_comp_channel *ch = to_channel(v);
	struct channel_entry **link;

	pthread_mutex_lock(&ch->lock);
	if (entry->pending) {
		for (link = &ch->head; *link != entry; link = &(*link)->next)
			;
		*link = entry->next;
		if (!*link)
			ch->tail = link;
		entry->pending = 0;
		if_empty_clear(ch);
	}
	pthread_mutex_unlock(&ch->lock);
}
