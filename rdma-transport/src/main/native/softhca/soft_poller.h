/*
 * The poller: one thread per process that serves all sockets and timers. It starts with the first object that needs it and ends
 * with the last; idle, it sleeps in epoll_wait without a time-out. Sockets of a completion channel (ibv_comp_channel.h) are
 * served by the threads that wait there as well.
 */
#ifndef SOFT_POLLER_H
#define SOFT_POLLER_H

#include "soft.h"

/* A descriptor that is watched. Guarded by soft_lock. */
struct pollee {
	void (*ready)(struct pollee *p, uint32_t epoll_events);	/* on the thread that serves, soft_lock held */
	int fd;
	int set;			/* epoll descriptor it is in while it is watched; 0: the poller's */
	uint32_t wanted;
	bool watched, dead;
	struct pollee *next_retired;
	void (*destroy)(struct pollee *p);
};

/* One-shot; zero-initialised is idle. Guarded by soft_lock. */
struct soft_timer {
	struct soft_timer *next, **link;	/* link == NULL: idle */
	uint64_t due_ns;
	void (*fire)(struct soft_timer *timer);	/* on the poller, soft_lock held */
};

int soft_poller_acquire(void);		/* 0 or an errno; soft_lock is not held, or the caller is the poller */
void soft_poller_release(void);		/* soft_lock is not held; never called by the poller */

/* For the poller itself, which runs while an acquired object exists: takes and gives back the share of an object it makes. */
void soft_poller_share(void);
void soft_poller_unshare(void);

/* soft_lock is held for all of these. */
int soft_poller_watch(struct pollee *p, uint32_t epoll_events);	/* also changes what is wanted; 0 or an errno */
void soft_poller_unwatch(struct pollee *p);
void soft_poller_move(struct pollee *p, int set);		/* to another epoll descriptor, 0: the poller's */
void soft_poller_retire(struct pollee *p);	/* p->destroy(p) once no event of the current batch can refer to p */
void soft_poller_serve(int set);		/* what is ready in another epoll descriptor, on the calling thread */
void soft_poller_check_overruns(void);		/* soft: break the queue pairs of overrun completion queues, soon */
void soft_timer_set(struct soft_timer *timer, uint64_t due_ns, void (*fire)(struct soft_timer *));
void soft_timer_cancel(struct soft_timer *timer);

#endif
