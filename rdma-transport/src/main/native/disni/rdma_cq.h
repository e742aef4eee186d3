/* Completion queues and their channels: ibv_create_cq(3), ibv_get_cq_event(3), ibv_poll_cq(3). */
#ifndef RDMA_CQ_H
#define RDMA_CQ_H
#include "rdma_native.h"

struct rdma_cq {
	struct ibv_cq *verbs;
	jlong channel;			/* its parent */
};

extern const JNINativeMethod rdma_cq_disni_methods[], rdma_cq_methods[];

#endif
