#ifndef RDMA_EVENT_CHANNEL_H
#define RDMA_EVENT_CHANNEL_H

#include "rdma_id.h"

/*
 * Posts an event to the channel of owner, which is the listener for a connection request and the id itself otherwise. The hello
 * (may be NULL) supplies private data and parameters. soft_lock is held.
 */
void soft_event_post(struct soft_id *owner, struct soft_id *id, enum rdma_cm_event_type type, int status, const struct hello *h);

/*
 * Takes the unread events of an id that goes away off its channel. Returns the ids of connection requests nobody has seen,
 * linked by next_orphan. soft_lock is held.
 */
struct soft_id *soft_event_purge(struct soft_id *id);

#endif
