/* The open device behind ids: ibv_query_device(3), ibv_get_async_event(3). */
#ifndef RDMA_DEVICE_H
#define RDMA_DEVICE_H
#include "rdma_native.h"

/* How many READs a queue pair may serve and have in flight, as the connection manager counts; 1 if unknown. */
void rdma_device_read_depths(struct ibv_context *context, uint8_t *as_target, uint8_t *as_initiator);

extern const JNINativeMethod rdma_device_disni_methods[], rdma_device_methods[];

#endif
