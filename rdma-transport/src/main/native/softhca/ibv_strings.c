/* Names of the enumerations, worded as the manual pages and libibverbs users know them. */
#include "soft.h"

#define LENGTH(a) (sizeof(a) / sizeof(*(a)))

EXPORT const char *ibv_wc_status_str(enum ibv_wc_status v)
{
	static const char *const names[] = {
		"success", "local length error", "local QP operation error", "local EE context operation error",
		"local protection error", "Work Request Flushed Error", "memory bind operation error", "bad response error",
		"local access error", "remote invalid request error", "remote access error", "remote operation error",
		"transport retry counter exceeded", "RNR retry counter exceeded",
	};

	return (unsigned)v < LENGTH(names) ? names[v] : "unknown";
}

EXPORT const char *ibv_port_state_str(enum ibv_port_state v)
{
	return v == IBV_PORT_ACTIVE ? "PORT_ACTIVE" : v == IBV_PORT_DOWN ? "PORT_DOWN" : "invalid state";
}

EXPORT const char *ibv_node_type_str(enum ibv_node_type v)
{
	return v == IBV_NODE_CA ? "InfiniBand channel adapter" : "unknown";
}

EXPORT const char *ibv_event_type_str(enum ibv_event_type v)
{
	switch (v) {
	case IBV_EVENT_CQ_ERR: return "CQ error";
	case IBV_EVENT_QP_FATAL: return "local work queue catastrophic error";
	case IBV_EVENT_QP_ACCESS_ERR: return "local access violation work queue error";
	case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
	case IBV_EVENT_PORT_ACTIVE: return "port active";
	case IBV_EVENT_PORT_ERR: return "port error";
	default: return "unknown event";
	}
}

EXPORT const char *rdma_event_str(enum rdma_cm_event_type v)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ADDR_ERROR", "RDMA_CM_EVENT_ROUTE_RESOLVED",
		"RDMA_CM_EVENT_ROUTE_ERROR", "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR", "RDMA_CM_EVENT_UNREACHABLE", "RDMA_CM_EVENT_REJECTED",
		"RDMA_CM_EVENT_ESTABLISHED", "RDMA_CM_EVENT_DISCONNECTED", "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	return (unsigned)v < LENGTH(names) ? names[v] : "UNKNOWN EVENT";
}
