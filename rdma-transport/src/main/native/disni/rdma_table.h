/*
 * The functions of librdmacm and libibverbs, found by dlsym: from the system's libraries for a real adapter, from
 * libsofthca.so for the software one. ibv_post_send, ibv_post_recv, ibv_poll_cq and ibv_req_notify_cq are inline in
 * verbs.h and go through context->ops.
 */
#ifndef RDMA_TABLE_H
#define RDMA_TABLE_H
#include "rdma_native.h"
#undef ibv_reg_mr	/* a macro around inline code; the table wants the exported function */

#define RDMA_CM_FUNCTIONS(X) \
	X(rdma_create_event_channel) X(rdma_destroy_event_channel) X(rdma_get_cm_event) X(rdma_ack_cm_event) \
	X(rdma_create_id) X(rdma_destroy_id) X(rdma_bind_addr) X(rdma_listen) X(rdma_resolve_addr) \
	X(rdma_resolve_route) X(rdma_connect) X(rdma_accept) X(rdma_reject) X(rdma_disconnect) \
	X(rdma_create_qp) X(rdma_destroy_qp)
#define RDMA_VERBS_FUNCTIONS(X) \
	X(ibv_alloc_pd) X(ibv_dealloc_pd) X(ibv_reg_mr) X(ibv_dereg_mr) X(ibv_create_comp_channel) \
	X(ibv_destroy_comp_channel) X(ibv_create_cq) X(ibv_destroy_cq) X(ibv_get_cq_event) X(ibv_ack_cq_events) \
	X(ibv_modify_qp) X(ibv_destroy_qp) X(ibv_query_device) X(ibv_get_device_name) X(ibv_get_async_event) X(ibv_ack_async_event)

struct rdma_table {
#define RDMA_SLOT(f) __typeof__(f) *f;
	RDMA_CM_FUNCTIONS(RDMA_SLOT)
	RDMA_VERBS_FUNCTIONS(RDMA_SLOT)
#undef RDMA_SLOT
};

/* Every slot is filled before the first handle exists: the methods that make one without another ask rdma_table_ready. */
extern struct rdma_table rdma;

/* Throws and returns false until the libraries are loaded. */
bool rdma_table_ready(JNIEnv *env, const char *call);

extern const JNINativeMethod rdma_table_methods[];

#endif
