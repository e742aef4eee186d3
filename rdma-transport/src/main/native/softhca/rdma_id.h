/* RDMA CM ids: addresses, the state of a connection, listeners. Guarded by soft_lock. */
#ifndef RDMA_ID_H
#define RDMA_ID_H

#include "soft_link.h"
#include <netinet/in.h>

enum id_state {
	ID_IDLE, ID_BOUND, ID_RESOLVED, ID_ROUTED, ID_LISTENING,
	ID_DIALLING,		/* active: TCP is connecting */
	ID_CONNECTING,		/* active: asked, no answer yet */
	ID_ANSWERED,		/* active: the program drives its queue pair and has to call rdma_establish */
	ID_GREETING,		/* passive: a socket that has not asked for anything yet; the program does not know it */
	ID_REQUESTED,		/* passive: the program has been told */
	ID_ACCEPTED,		/* passive: accepted, not confirmed */
	ID_CONNECTED, ID_CLOSING, ID_DOWN,
};

struct soft_id {
	struct rdma_cm_id v;
	struct link link;
	enum id_state state;
	bool sync;			/* made without a channel: calls wait for their event */
	struct soft_id *next, **prev;	/* all ids of the process */
	struct soft_id *listener;	/* passive, until answered: its place in the backlog */
	int backlog, waiting;		/* of a listener */
	struct soft_id *next_orphan;
	struct hello mine;
	struct soft_timer step_timer, deadline_timer, fault_timer;
	uint64_t grace_until_ns;
	uint32_t events_read, events_acked;
};

static inline struct soft_id *soft_id_of(struct rdma_cm_id *v) { return container_of(v, struct soft_id, v); }
static inline struct soft_id *soft_id_of_link(struct link *l) { return container_of(l, struct soft_id, link); }

/* ---- rdma_id.c ---- */

struct soft_id *soft_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps);
int soft_id_use_device(struct soft_id *id);	/* sets verbs, pd and port_num; 0 or -1 */

/* RDMA_CM_EVENT_DEVICE_REMOVAL for all ids of the device. soft_lock is not held. */
void soft_id_device_removed(void);

/* For a passive id that the program never saw; the poller has shared itself with it. soft_lock is held. */
void soft_id_discard(struct soft_id *id);
void soft_id_close_socket(struct soft_id *id);

/* If the id was made without a channel, waits for the event of the call and reports its status. soft_lock is not held. */
int soft_id_sync_wait(struct soft_id *id);

/* ---- rdma_connect.c: what the poller calls ---- */

bool soft_id_expects(struct link *l, enum frame_type type);
bool soft_id_frame(struct link *l, const struct frame *f);	/* of the connection manager; false: not what an adapter says */
void soft_id_ready(struct pollee *p, uint32_t epoll_events);	/* of a connected socket */
void soft_id_deadline(struct soft_timer *timer);

/* ---- rdma_addr.c: CM ports are TCP ports with a bit turned, in an address; its own inverse ---- */

void soft_map_port(void *sockaddr);
in_port_t *soft_port_of(void *sockaddr);
socklen_t soft_sockaddr_len(const void *sockaddr);
bool soft_is_wildcard(const void *sockaddr);

#endif
