/*
 * The engine: one thread per process that makes the copies too large for the thread that posted them. Queue pairs with work
 * take turns, a slice each, so a long READ does not hold up the others; the requests of one queue pair stay in order.
 */
#ifndef SOFT_ENGINE_H
#define SOFT_ENGINE_H

#include "ibv_qp.h"

enum { ENGINE_SLICE_BYTES = 2 << 20 };

int soft_engine_acquire(void);		/* 0 or an errno; soft_lock is not held */
void soft_engine_release(void);		/* likewise */

void soft_engine_add(struct soft_qp *q);	/* soft_lock held; harmless if it is there already */
void soft_engine_forget_job(struct soft_qp *q);	/* soft_lock held */

#endif
