/* Ids of the connection manager, with the queue pair each may have: rdma_create_id(3) to rdma_disconnect(3). */
#ifndef RDMA_ID_H
#define RDMA_ID_H
#include "rdma_native.h"
#include <stdatomic.h>

struct rdma_id {
	struct rdma_cm_id *verbs;
	jlong channel;			/* its parent */
	_Atomic jlong qp;		/* 0: none */
	_Atomic int kept;		/* 0, or the errno with which the adapter refused to destroy the queue pair */
	bool passive;			/* made by a connect request */
	uint8_t responder_resources, initiator_depth;	/* what the request asked of this side */
};

/* The handle for an id that rdma_create_id or a connect request made; 0 if there is no memory. */
jlong rdma_id_adopt(struct rdma_cm_id *id, jlong channel, const struct rdma_conn_param *request);

/*
 * The id's connection stands: takes back what the connection manager allowed the peer of an outbound one. 0, or the
 * errno; nothing to do for an id that is being destroyed.
 */
int rdma_id_established(jlong handle);

extern const JNINativeMethod rdma_id_disni_methods[], rdma_id_methods[];

#endif
