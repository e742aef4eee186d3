#ifndef IBV_PD_H
#define IBV_PD_H

#include "soft.h"

/* Regions and queue pairs hold their domain: ibv_dealloc_pd is refused with EBUSY while any is left. */
void soft_pd_ref(struct ibv_pd *pd);
void soft_pd_unref(struct ibv_pd *pd);

/* The domain RDMA CM gives to ids whose program brings none; lives as long as the process. */
struct ibv_pd *soft_pd_default(void);
void soft_pd_close(void);	/* ends it */

uint32_t soft_new_handle(void);

#endif
