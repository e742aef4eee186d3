/* The active side's TCP connection. */
#include "rdma_dial.h"
#include "rdma_event_channel.h"
#include "soft_fault.h"
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { RETRY_MS = 5, REJECT_NO_LISTENER = 8 /* IB CM: invalid service id */ };

static void dial_once(struct soft_id *id);

static void fail(struct soft_id *id, int error)
{
	soft_id_close_socket(id);
	soft_timer_cancel(&id->deadline_timer);
	id->state = ID_DOWN;
	if (error == ECONNREFUSED)
		soft_event_post(id, id, RDMA_CM_EVENT_REJECTED, REJECT_NO_LISTENER, NULL);
	else
		soft_event_post(id, id, RDMA_CM_EVENT_UNREACHABLE, -error, NULL);
}

static void again(struct soft_timer *timer)
{
	dial_once(container_of(timer, struct soft_id, step_timer));
}

/* Resolving takes a real device milliseconds, and programs (perftest) rely on it to get their listener up. */
static void failed(struct soft_id *id, int error)
{
	uint64_t now_ns = soft_now_ns();

	if (error != ECONNREFUSED || now_ns >= id->grace_until_ns) {
		fail(id, error);
		return;
	}
	soft_id_close_socket(id);
	soft_timer_set(&id->step_timer, now_ns + RETRY_MS * SOFT_NS_PER_MS, again);
}

/* With nobody listening on a port of its own range, the kernel may connect a loopback socket to itself. */
static bool is_self(int fd, struct sockaddr_storage *me)
{
	struct sockaddr_storage other;
	socklen_t a = sizeof(*me), b = sizeof(other);

	memset(me, 0, sizeof(*me));
	memset(&other, 0, sizeof(other));
	return getsockname(fd, (struct sockaddr *)me, &a) || getpeername(fd, (struct sockaddr *)&other, &b) ||
	       !memcmp(me, &other, sizeof(other));
}

static void ready(struct pollee *p, uint32_t events)
{
	struct soft_id *id = soft_id_of_link(soft_link_of(p));
	struct sockaddr_storage me;
	int error = 0, one = 1;

	(void)events;
	if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){ sizeof(error) }) || error) {
		failed(id, error ? error : errno);
		return;
	}
	if (getpeername(p->fd, (struct sockaddr *)&me, &(socklen_t){ sizeof(me) }))
		return;				/* an event of the socket before this one */
	if (is_self(p->fd, &me)) {
		failed(id, ECONNREFUSED);
		return;
	}
	setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	soft_map_port(&me);
	*soft_port_of(&id->v.route.addr.src_storage) = *soft_port_of(&me);
	soft_dialled(id);
}

static int open_socket(struct soft_id *id)
{
	struct sockaddr_storage to = id->v.route.addr.dst_storage, from = id->v.route.addr.src_storage;
	int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	soft_map_port(&to);
	*soft_port_of(&from) = 0;
	if ((from.ss_family == to.ss_family && !soft_is_wildcard(&from) &&
	     bind(fd, (struct sockaddr *)&from, soft_sockaddr_len(&from))) ||
	    (connect(fd, (struct sockaddr *)&to, soft_sockaddr_len(&to)) && errno != EINPROGRESS)) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

static void dial_once(struct soft_id *id)
{
	int fd = open_socket(id), rc;

	if (fd < 0) {
		failed(id, -fd);
		return;
	}
	id->link.pollee.fd = fd;
	id->link.pollee.ready = ready;
	rc = soft_poller_watch(&id->link.pollee, EPOLLOUT);
	if (rc)
		failed(id, rc);
}

void soft_dial(struct soft_id *id)
{
	struct soft_fault fault = { 0 };
	bool fires = soft_fault_hit(FAULT_CONNECT, &fault);

	id->state = ID_DIALLING;
	id->grace_until_ns = soft_now_ns() + soft_config()->connect_grace_ns;
	if (!fires)
		dial_once(id);
	else if (!fault.ignore)
		fail(id, ECONNREFUSED);
	/* Ignored: nothing happens until the deadline. */
}
