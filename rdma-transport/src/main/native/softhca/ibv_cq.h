#ifndef IBV_CQ_H
#define IBV_CQ_H

#include "ibv_comp_channel.h"
#include "soft_poller.h"

struct held_wc;				/* a completion that a fault delays, and those behind it */

struct soft_cq {
	struct ibv_cq v;		/* v.mutex guards the ring, taken after soft_lock */
	struct ibv_wc *ring;
	_Atomic uint32_t count;
	uint32_t head;
	int armed;			/* 0 no, 1 solicited only, 2 any */
	_Atomic bool overrun;
	bool overrun_handled;		/* guarded by soft_lock, like all below */
	int qps;			/* queue pairs that complete here */
	struct channel_entry entry;
	struct held_wc *held, **held_tail;
	struct soft_timer held_timer;
};

static inline struct soft_cq *soft_cq_of(struct ibv_cq *v) { return container_of(v, struct soft_cq, v); }

/*
 * Adds a completion, after delay_ns if that is not 0. soft_lock is held. A full queue is overrun: nothing is added any more,
 * IBV_EVENT_CQ_ERR is raised and the queue pairs on it break (ibv_create_cq(3), ibv_get_async_event(3)).
 */
void soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited, uint64_t delay_ns);

int soft_cq_poll(struct ibv_cq *v, int n, struct ibv_wc *wc);
int soft_cq_arm(struct ibv_cq *v, int solicited_only);

#endif
