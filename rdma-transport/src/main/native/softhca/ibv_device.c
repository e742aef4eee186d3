/* The device soft0: one port that looks like RoCE v2 (Ethernet, an IPv4 address as GID). */
#include "ibv_device.h"
#include "ibv_async.h"
#include "ibv_cq.h"
#include "ibv_qp.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#undef ibv_query_port

static struct ibv_device soft_device = {
	.node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "soft0", .dev_name = "soft0",
	.dev_path = "/nonexistent/soft0", .ibdev_path = "/nonexistent/soft0",
};

/* abi_compat stays NULL: the inline functions of verbs.h then take their plain, exported fallbacks. */
struct ibv_context soft_context = {
	.device = &soft_device,
	.ops = { .poll_cq = soft_cq_poll, .req_notify_cq = soft_cq_arm, .post_send = soft_post_send, .post_recv = soft_post_recv },
	.cmd_fd = -1, .async_fd = -1, .num_comp_vectors = 1,
	.mutex = PTHREAD_MUTEX_INITIALIZER,
};

static _Atomic int port_state = IBV_PORT_ACTIVE;

void soft_device_port_state(enum ibv_port_state state) { atomic_store(&port_state, state); }

struct ibv_context *soft_device_open(void)
{
	soft_init();
	return soft_async_open() ? NULL : &soft_context;
}

EXPORT struct ibv_device **ibv_get_device_list(int *num)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	if (list)
		list[0] = &soft_device;
	if (num)
		*num = list ? 1 : 0;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list) { free(list); }
EXPORT const char *ibv_get_device_name(struct ibv_device *device) { return device->name; }
EXPORT __be64 ibv_get_device_guid(struct ibv_device *device) { (void)device; return 0x0100000000000002ULL; }
EXPORT int ibv_get_device_index(struct ibv_device *device) { (void)device; return 0; }
EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device) { (void)device; return soft_device_open(); }
EXPORT int ibv_close_device(struct ibv_context *context) { (void)context; return 0; }
EXPORT int ibv_fork_init(void) { return 0; }

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *a)
{
	(void)context;
	memset(a, 0, sizeof(*a));
	strcpy(a->fw_ver, "soft");
	a->node_guid = a->sys_image_guid = ibv_get_device_guid(&soft_device);
	a->max_mr_size = UINT64_MAX;
	a->page_size_cap = 0xfffff000;
	a->max_qp = SOFT_MAX_QP - 1;
	a->max_qp_wr = SOFT_MAX_WR;
	a->max_sge = a->max_sge_rd = SOFT_MAX_SGE;
	a->max_cq = SOFT_MAX_CQ;
	a->max_cqe = SOFT_MAX_CQE;
	a->max_mr = SOFT_MAX_MR - 1;
	a->max_pd = SOFT_MAX_PD;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = SOFT_MAX_RD_ATOMIC;
	a->max_res_rd_atom = SOFT_MAX_RD_ATOMIC * SOFT_MAX_QP;
	a->atomic_cap = IBV_ATOMIC_NONE;
	a->max_pkeys = 1;
	a->phys_port_cnt = 1;
	return 0;
}

/* The exported function has the structure's old layout, which ends before port_cap_flags2 (verbs.h, ___ibv_query_port). */
EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *out)
{
	enum ibv_port_state state = (enum ibv_port_state)atomic_load(&port_state);
	struct ibv_port_attr a = {
		.state = state, .max_mtu = IBV_MTU_4096, .active_mtu = IBV_MTU_4096, .gid_tbl_len = 1,
		.max_msg_sz = 1U << 31, .pkey_tbl_len = 1, .active_width = 2, .active_speed = 32,
		.phys_state = state == IBV_PORT_ACTIVE ? 5 : 3, .link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)context;
	if (port != 1)
		return EINVAL;
	memcpy(out, &a, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}

/* The first IPv4 address of an interface that is up, other than loopback if there is one. */
static uint32_t host_address(void)
{
	uint32_t found = htonl(INADDR_LOOPBACK);
	struct ifaddrs *list;

	if (getifaddrs(&list))
		return found;
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK)) {
			found = ((struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr;
			break;
		}
	}
	freeifaddrs(list);
	return found;
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	uint32_t address = host_address();

	(void)context;
	if (port != 1 || index)
		return soft_fail(EINVAL);
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &address, sizeof(address));
	return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
			     uint32_t flags, size_t size)
{
	if (flags || size < sizeof(*entry))
		return EINVAL;
	memset(entry, 0, size);
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = IBV_GID_TYPE_ROCE_V2;
	return ibv_query_gid(context, (uint8_t)port, (int)index, &entry->gid) ? EINVAL : 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (port != 1 || index)
		return soft_fail(EINVAL);
	*pkey = 0xffff;
	return 0;
}
