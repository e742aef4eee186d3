#ifndef IBV_COMP_CHANNEL_H
#define IBV_COMP_CHANNEL_H

#include "soft_poller.h"

struct link;

/*
 * A completion channel, and a second way to serve the connections whose completions go there: a program that waits on the
 * channel is woken by their sockets itself, not by the poller after it. While it comes back at short intervals it attends to
 * the sockets, and the poller leaves them alone; what is owed to peers then goes out with its next message or when it arms a
 * queue, as each message of its own would wake somebody. Only for connections whose peer reads directly: others ask for READs
 * whatever the program does.
 *
 * The descriptor the program sees is an epoll descriptor, so that O_NONBLOCK and poll work. In it are an eventfd, readable
 * while there are events, and the epoll descriptor of those connections' sockets.
 */
struct soft_comp_channel {
	struct ibv_comp_channel v;
	int event_fd;
	pthread_mutex_t lock;		/* of the list of events; taken last */
	struct channel_entry *head, **tail;
	struct pollee sockets;		/* their set, itself in the poller's; guarded by soft_lock, like all below */
	_Atomic bool attended;
	bool visited;			/* since the timer was set */
	struct soft_timer attention;
	_Atomic(struct link *) owing;
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
void soft_channel_ref(struct ibv_comp_channel *channel);
void soft_channel_unref(struct ibv_comp_channel *channel);	/* soft_lock is held */

/* The socket may be served by whoever waits on the channel. soft_lock is held, the poller runs. */
void soft_channel_adopt(struct ibv_comp_channel *channel, struct pollee *socket);

/* Whether what is queued for the peer goes out later. soft_lock is held. */
bool soft_channel_defers(struct ibv_comp_channel *channel, struct link *l);
void soft_channel_forget_link(struct ibv_comp_channel *channel, struct link *l);	/* soft_lock is held */

/* Sends what is owed. No lock is held. */
void soft_channel_pay(struct ibv_comp_channel *channel);

/* Serves the sockets if the poller leaves them alone. No lock is held. */
void soft_channel_poll(struct ibv_comp_channel *channel);

#endif
