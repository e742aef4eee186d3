/* Addresses: binding, resolving, names. */
#include "rdma_event_channel.h"
#include <netdb.h>
#include <sys/socket.h>

in_port_t *soft_port_of(void *sa) { return &((struct sockaddr_in *)sa)->sin_port; }	/* the same place in sockaddr_in6 */

socklen_t soft_sockaddr_len(const void *sa)
{
	return ((const struct sockaddr *)sa)->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool soft_is_wildcard(const void *sa)
{
	if (((const struct sockaddr *)sa)->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)sa)->sin6_addr);
	return ((const struct sockaddr_in *)sa)->sin_addr.s_addr == INADDR_ANY;
}

/*
 * CM port p is TCP port p ^ 0x4000, so that a program may use one number both for TCP and for RDMA, whose port spaces are separate
 * on real devices. Ports below 1024, and those that would become one, stay what they are.
 */
void soft_map_port(void *sa)
{
	uint16_t port = ntohs(*soft_port_of(sa));

	if (port >= 1024 && (port ^ 0x4000) >= 1024)
		*soft_port_of(sa) = htons(port ^ 0x4000);
}

static int bound_socket(struct sockaddr_storage *a)
{
	socklen_t len = sizeof(*a);
	int one = 1, fd = socket(a->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)a, soft_sockaddr_len(a)) || getsockname(fd, (struct sockaddr *)a, &len)) {
		int error = errno;

		close(fd);
		return soft_fail(error);
	}
	return fd;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *v, struct sockaddr *addr)
{
	struct soft_id *id = soft_id_of(v);
	struct sockaddr_storage a = { 0 };
	int fd;

	if (id->state != ID_IDLE)
		return soft_fail(EINVAL);
	memcpy(&a, addr, soft_sockaddr_len(addr));
	soft_map_port(&a);
	fd = bound_socket(&a);
	if (fd < 0)
		return -1;
	soft_map_port(&a);
	v->route.addr.src_storage = a;
	if (!soft_is_wildcard(&a) && soft_id_use_device(id)) {	/* a wildcard id belongs to no device: rdma_bind_addr(3) */
		close(fd);
		return -1;
	}
	soft_enter();
	id->link.pollee.fd = fd;
	id->state = ID_BOUND;
	soft_leave();
	return 0;
}

EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *v) { return *soft_port_of(&v->route.addr.src_storage); }
EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *v) { return *soft_port_of(&v->route.addr.dst_storage); }

/* The kernel's routing picks our address. */
static bool route(const struct sockaddr *dst, struct sockaddr_storage *src)
{
	socklen_t len = sizeof(*src);
	int s = socket(dst->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = s >= 0 && !connect(s, dst, soft_sockaddr_len(dst)) && !getsockname(s, (struct sockaddr *)src, &len);

	if (s >= 0)
		close(s);
	*soft_port_of(src) = 0;
	return ok;
}

static void set_gid(union ibv_gid *gid, const struct sockaddr_storage *a)
{
	memset(gid, 0, sizeof(*gid));
	if (a->ss_family == AF_INET6) {
		memcpy(gid, &((const struct sockaddr_in6 *)a)->sin6_addr, sizeof(*gid));
	} else {
		gid->raw[10] = gid->raw[11] = 0xff;
		memcpy(gid->raw + 12, &((const struct sockaddr_in *)a)->sin_addr, 4);
	}
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *v, struct sockaddr *src, struct sockaddr *dst, int timeout_ms)
{
	struct soft_id *id = soft_id_of(v);
	struct rdma_addr *addr = &v->route.addr;
	struct sockaddr_storage routed = { 0 };
	bool ok;

	(void)timeout_ms;		/* the kernel answers at once */
	if (id->state != ID_IDLE && id->state != ID_BOUND)
		return soft_fail(EINVAL);
	memcpy(&addr->dst_storage, dst, soft_sockaddr_len(dst));
	ok = route(dst, &routed) && !soft_id_use_device(id);
	if (src)
		memcpy(&addr->src_storage, src, soft_sockaddr_len(src));
	else if (ok && (id->state == ID_IDLE || soft_is_wildcard(&addr->src_storage)))
		addr->src_storage = routed;
	set_gid(&addr->addr.ibaddr.sgid, &routed);
	set_gid(&addr->addr.ibaddr.dgid, &addr->dst_storage);
	addr->addr.ibaddr.pkey = 0xffff;
	soft_enter();
	soft_id_close_socket(id);	/* a bound active id gets a fresh socket when it connects */
	if (ok)
		id->state = ID_RESOLVED;
	soft_event_post(id, id, ok ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, ok ? 0 : -EHOSTUNREACH, NULL);
	soft_leave();
	return soft_id_sync_wait(id);
}

EXPORT int rdma_resolve_route(struct rdma_cm_id *v, int timeout_ms)
{
	struct soft_id *id = soft_id_of(v);
	bool ok;

	(void)timeout_ms;
	soft_enter();
	ok = id->state == ID_RESOLVED;
	if (ok) {
		id->state = ID_ROUTED;
		soft_event_post(id, id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
	}
	soft_leave();
	return ok ? soft_id_sync_wait(id) : soft_fail(EINVAL);
}

struct named {
	struct rdma_addrinfo info;
	struct sockaddr_storage first, second;
};

static void fill(struct named *n, const struct addrinfo *ai, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *r = &n->info;

	r->ai_family = ai->ai_family;
	r->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
	r->ai_port_space = hints && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
	r->ai_flags = hints ? hints->ai_flags : 0;
	memcpy(&n->first, ai->ai_addr, ai->ai_addrlen);
	if (r->ai_flags & RAI_PASSIVE) {
		r->ai_src_addr = (struct sockaddr *)&n->first;
		r->ai_src_len = ai->ai_addrlen;
		return;
	}
	r->ai_dst_addr = (struct sockaddr *)&n->first;
	r->ai_dst_len = ai->ai_addrlen;
	if (hints && hints->ai_src_len && hints->ai_src_len <= sizeof(n->second)) {
		memcpy(&n->second, hints->ai_src_addr, hints->ai_src_len);
		r->ai_src_addr = (struct sockaddr *)&n->second;
		r->ai_src_len = hints->ai_src_len;
	}
}

EXPORT int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM }, *ai;
	struct named *n;
	int rc;

	if (hints) {
		want.ai_family = hints->ai_family;
		want.ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
				(hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0);
	}
	rc = getaddrinfo(node, service, &want, &ai);
	if (rc)
		return rc;
	n = calloc(1, sizeof(*n));
	if (n) {
		fill(n, ai, hints);
		*res = &n->info;
	}
	freeaddrinfo(ai);
	return n ? 0 : EAI_MEMORY;
}

EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *r) { free(r ? container_of(r, struct named, info) : NULL); }
