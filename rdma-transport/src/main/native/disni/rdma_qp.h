/* Queue pairs: ibv_create_qp(3), ibv_modify_qp(3), ibv_post_send(3), ibv_post_recv(3). */
#ifndef RDMA_QP_H
#define RDMA_QP_H
#include "rdma_id.h"

/* Takes every remote right from the queue pair. 0, or the errno. */
int rdma_qp_forbid(jlong qp);

/* Destroys the queue pair of an id, if it has one: 0, or the errno, then and from then on. Several callers are harmless. */
int rdma_qp_destroy(struct rdma_id *id);

extern const JNINativeMethod rdma_qp_disni_methods[], rdma_qp_methods[];

#endif
