/* Protection domains: ibv_alloc_pd(3). */
#ifndef RDMA_PD_H
#define RDMA_PD_H
#include "rdma_native.h"

struct rdma_pd {
	struct ibv_pd *verbs;
};

extern const JNINativeMethod rdma_pd_disni_methods[];

#endif
