#include "ibv_device.h"

EXPORT struct ibv_context **rdma_get_devices(int *n)
{
	struct ibv_context **list = calloc(2, sizeof(*list));

	if (list)
		list[0] = soft_device_open();
	if (n)
		*n = list && list[0] ? 1 : 0;
	return list;
}

EXPORT void rdma_free_devices(struct ibv_context **list) { free(list); }
