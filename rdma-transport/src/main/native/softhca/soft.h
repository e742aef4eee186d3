/*
 * What every file of the adapter shares: the lock, the clock, limits, settings, counters.
 *
 * One lock, soft_lock, guards ids, links, queue pairs and timers. It is never held across a copy, a call that may block or a
 * wait for another process; whoever lets go of it while touching a buffer says so in a busy count. Completion queues and
 * channels have small locks of their own, taken after soft_lock, so that polling does not meet the rest.
 */
#ifndef SOFT_H
#define SOFT_H

#include "glibc_compat.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define EXPORT __attribute__((visibility("default")))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

/* What ibv_query_device reports; every table and queue of the adapter ends at one of these. */
enum {
	SOFT_MAX_SGE = 16,
	SOFT_MAX_INLINE = 256,
	SOFT_MAX_WR = 16384,
	SOFT_MAX_CQE = 1 << 20,
	SOFT_MAX_CQ = 4096,
	SOFT_MAX_PD = 4096,
	SOFT_MAX_QP = 4096,		/* a power of two: the low bits of a qp_num are its slot */
	SOFT_MAX_MR = 1 << 16,		/* likewise for keys */
	SOFT_MAX_RD_ATOMIC = 16,
	SOFT_MAX_UNACKED = 64,		/* requests sent on a connection and not answered */
	SOFT_MAX_BACKLOG = 1024,
	SOFT_MAX_ASYNC_EVENTS = 1024,
};
#define SOFT_MAX_MESSAGE (1ULL << 31)

#define SOFT_NS_PER_MS 1000000ULL

/* ---- soft_core.c ---- */

extern pthread_mutex_t soft_lock;
extern pthread_cond_t soft_cond;	/* broadcast when a busy count falls or an event is acknowledged */

void soft_init(void);			/* idempotent; every entry point that makes an object calls it */
uint64_t soft_now_ns(void);		/* CLOCK_MONOTONIC */
bool soft_wait_until(uint64_t deadline_ns);	/* on soft_cond, soft_lock held; false: the deadline has passed */
int soft_thread_start(pthread_t *thread, const char *name, void *(*run)(void *));

/*
 * Closes what otherwise lives as long as the process: the region table and the device's descriptor. EBUSY while an object
 * lives; 0: no thread of the library runs, and it may be unloaded. No other call may run meanwhile.
 */
EXPORT int softhca_close(void);

static inline void soft_enter(void) { pthread_mutex_lock(&soft_lock); }
static inline void soft_leave(void) { pthread_mutex_unlock(&soft_lock); }
static inline int soft_fail(int error) { errno = error; return -1; }

/* ---- soft_config.c: the environment, read once ---- */

struct soft_config {
	bool direct;			/* SOFTHCA_DIRECT */
	bool quiet;			/* SOFTHCA_QUIET */
	size_t inline_max_bytes;	/* SOFTHCA_INLINE_MAX */
	uint64_t memlock_bytes;		/* SOFTHCA_MEMLOCK */
	uint64_t connect_grace_ns;	/* SOFTHCA_CONNECT_GRACE_MS */
	uint64_t connect_timeout_ns;	/* SOFTHCA_CONNECT_TIMEOUT_MS */
	uint64_t ack_timeout_ns;	/* SOFTHCA_ACK_TIMEOUT_MS */
	uint64_t rnr_timer_ns;		/* SOFTHCA_RNR_TIMER_MS */
};

const struct soft_config *soft_config(void);

/* ---- soft_counter.c ---- */

enum soft_counter {
	LIVE_PDS, LIVE_MRS, LIVE_CQS, LIVE_COMP_CHANNELS, LIVE_QPS, LIVE_IDS, LIVE_EVENT_CHANNELS, LIVE_PEERS, LIVE_THREADS,
	REGISTERED_BYTES, READS_DIRECT, READS_SOCKET, READ_BYTES_DIRECT, READ_BYTES_SOCKET, WRITES, SENDS, RECVS,
	COMPLETIONS, COMPLETION_ERRORS, READS_SERVED, RACES_DETECTED, FAULTS_FIRED, SOFT_COUNTERS,
};

void soft_count(enum soft_counter counter, int64_t delta);
int64_t soft_count_of(enum soft_counter counter);
EXPORT int64_t softhca_counter(const char *name);	/* -1: no such counter */

#endif
