#ifndef RDMA_DIAL_H
#define RDMA_DIAL_H

#include "rdma_id.h"

/* Opens the TCP connection to the id's destination; ends in soft_dialled or in an event. soft_lock is held. */
void soft_dial(struct soft_id *id);

/* rdma_connect.c: the TCP connection stands. */
void soft_dialled(struct soft_id *id);

#endif
