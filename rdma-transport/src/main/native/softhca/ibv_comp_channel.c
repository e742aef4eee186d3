#include "ibv_comp_channel.h"
#include <poll.h>
#include <sys/eventfd.h>

static struct soft_comp_channel *to_channel(struct ibv_comp_channel *v)
{
	return container_of(v, struct soft_comp_channel, v);
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_comp_channel *ch = calloc(1, sizeof(*ch));

	if (!ch)
		return NULL;
	ch->v.context = context;
	ch->v.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (ch->v.fd < 0) {
		free(ch);
		return NULL;
	}
	ch->tail = &ch->head;
	pthread_mutex_init(&ch->lock, NULL);
	soft_count(LIVE_COMP_CHANNELS, 1);
	return &ch->v;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *v)
{
	struct soft_comp_channel *ch = to_channel(v);

	if (__atomic_load_n(&v->refcnt, __ATOMIC_ACQUIRE))
		return EBUSY;
	close(v->fd);
	pthread_mutex_destroy(&ch->lock);
	free(ch);
	soft_count(LIVE_COMP_CHANNELS, -1);
	return 0;
}

void soft_channel_ref(struct ibv_comp_channel *v, int delta)
{
	__atomic_fetch_add(&v->refcnt, delta, __ATOMIC_ACQ_REL);
}

void soft_channel_post(struct ibv_comp_channel *v, struct channel_entry *entry)
{
	struct soft_comp_channel *ch = to_channel(v);

	pthread_mutex_lock(&ch->lock);
	if (!entry->pending++) {
		entry->next = NULL;
		*ch->tail = entry;
		ch->tail = &entry->next;
	}
	eventfd_write(v->fd, 1);
	pthread_mutex_unlock(&ch->lock);
}

/* An event of the queue that has waited longest, which goes behind the others if it has more. */
static struct channel_entry *take(struct soft_comp_channel *ch)
{
	struct channel_entry *entry;

	pthread_mutex_lock(&ch->lock);
	entry = ch->head;
	if (entry) {
		ch->head = entry->next;
		if (!ch->head)
			ch->tail = &ch->head;
		entry->taken++;
		if (--entry->pending) {
			entry->next = NULL;
			*ch->tail = entry;
			ch->tail = &entry->next;
		}
	}
	pthread_mutex_unlock(&ch->lock);
	return entry;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *v, struct ibv_cq **cq, void **cq_context)
{
	struct channel_entry *entry = NULL;
	eventfd_t one;

	while (!entry) {
		if (eventfd_read(v->fd, &one))		/* blocks or not, as the program set the descriptor */
			return -1;
		entry = take(to_channel(v));		/* NULL: its queue was destroyed meanwhile */
	}
	*cq = entry->cq;
	*cq_context = entry->cq->cq_context;
	return 0;
}

void soft_channel_forget(struct ibv_comp_channel *v, struct channel_entry *entry)
{
	struct soft_comp_channel *ch = to_channel(v);
	struct channel_entry **link;
	eventfd_t one;

	pthread_mutex_lock(&ch->lock);
	if (entry->pending) {
		for (link = &ch->head; *link != entry; link = &(*link)->next)
			;
		*link = entry->next;
		if (!*link)
			ch->tail = link;
	}
	for (; entry->pending; entry->pending--) {
		struct pollfd p = { .fd = v->fd, .events = POLLIN };

		if (poll(&p, 1, 0) == 1)	/* else another thread took the token: it will find nothing */
			eventfd_read(v->fd, &one);
	}
	pthread_mutex_unlock(&ch->lock);
}
