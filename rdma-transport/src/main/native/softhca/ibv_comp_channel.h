#ifndef IBV_COMP_CHANNEL_H
#define IBV_COMP_CHANNEL_H

#include "soft.h"

/* A completion channel: an eventfd as semaphore, so that O_NONBLOCK and poll work, and the queues that have events. */
struct soft_comp_channel {
	struct ibv_comp_channel v;
	pthread_mutex_t lock;		/* taken last */
	struct channel_entry *head, **tail;
};

/* Embedded in the completion queue: events are counted, not allocated. */
struct channel_entry {
	struct channel_entry *next;
	struct ibv_cq *cq;
	uint32_t pending;		/* events posted and not read */
	uint32_t taken;			/* events read; ibv_destroy_cq waits until all are acknowledged */
};

void soft_channel_post(struct ibv_comp_channel *channel, struct channel_entry *entry);

/* Detaches a queue that is being destroyed and drops its unread events. */
void soft_channel_forget(struct ibv_comp_channel *channel, struct channel_entry *entry);
void soft_channel_ref(struct ibv_comp_channel *channel, int delta);

#endif
