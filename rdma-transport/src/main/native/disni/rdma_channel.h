/* The channel of connection events: rdma_create_event_channel(3), rdma_get_cm_event(3). */
#ifndef RDMA_CHANNEL_H
#define RDMA_CHANNEL_H
#include "rdma_native.h"

struct rdma_channel {
	struct rdma_event_channel *verbs;
	int wake_fd;
};

/* One event as Java's EventBuffer reads it. */
struct rdma_event {
	jlong listener, id;		/* handles; 0 for none */
	int32_t type, status, length;
	uint8_t data[256];
};

extern const JNINativeMethod rdma_channel_disni_methods[], rdma_channel_methods[];

#endif
