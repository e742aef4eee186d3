#ifndef IBV_DEVICE_H
#define IBV_DEVICE_H

#include "soft.h"

extern struct ibv_context soft_context;	/* the one open device */

struct ibv_context *soft_device_open(void);	/* NULL: errno */
void soft_device_port_state(enum ibv_port_state state);

#endif
