/* Asynchronous events of the device (ibv_get_async_event(3)). */
#ifndef IBV_ASYNC_H
#define IBV_ASYNC_H

#include "soft.h"

int soft_async_open(void);	/* makes context->async_fd; 0 or -1 with errno */
void soft_async_close(void);	/* with all events; nothing else runs */
void soft_async_cq(struct ibv_cq *cq, enum ibv_event_type type);
void soft_async_qp(struct ibv_qp *qp, enum ibv_event_type type);
void soft_async_port(enum ibv_event_type type);

/*
 * Before an object is destroyed: drops its unread events and waits for the acknowledgement of the others, which
 * ibv_get_async_event(3) demands. False if that has not come after ten seconds.
 */
bool soft_async_drain(void *element);

#endif
