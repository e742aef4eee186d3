/*
 * Handles: what Java holds instead of pointers, a generation and an index. A stale or wrong one gives an error, never a
 * crash. A handle in use is not freed under its user, and one with children (a domain with regions, a queue with queue
 * pairs) is not retired.
 */
#ifndef RDMA_HANDLE_H
#define RDMA_HANDLE_H
#include "rdma_native.h"

enum rdma_kind { RDMA_CHANNEL, RDMA_ID, RDMA_CONTEXT, RDMA_PD, RDMA_COMP_CHANNEL, RDMA_CQ, RDMA_QP, RDMA_MR };

/* 0 if there is no room. */
jlong rdma_handle_new(enum rdma_kind kind, void *object);

/* The one handle of a context, which libibverbs owns and which is never retired. */
jlong rdma_handle_of_context(struct ibv_context *context);

/* Pins; rdma_handle_done unpins. NULL if stale; throws then, unless env is NULL. */
void *rdma_handle_use(JNIEnv *env, jlong handle, enum rdma_kind kind, const char *call);
void rdma_handle_done(jlong handle);

/* Makes it a parent of one more object; rdma_handle_drop undoes it. NULL and an exception if stale. */
void *rdma_handle_hold(JNIEnv *env, jlong handle, enum rdma_kind kind, const char *call);
void rdma_handle_drop(jlong handle);

/* Takes the handle out of use. NULL with errno EBADF if stale, EBUSY if it has children. Then rdma_handle_free. */
void *rdma_handle_retire(jlong handle, enum rdma_kind kind);

/* Waits until nobody uses a retired handle. */
void rdma_handle_free(jlong handle);

extern const JNINativeMethod rdma_handle_methods[];

#endif
