/* Listeners, and the sockets that knock on them. */
#include "rdma_event_channel.h"
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static void set_addresses(struct soft_id *id)
{
	struct sockaddr_storage a = { 0 };

	if (!getsockname(id->link.pollee.fd, (struct sockaddr *)&a, &(socklen_t){ sizeof(a) })) {
		soft_map_port(&a);
		id->v.route.addr.src_storage = a;
	}
	memset(&a, 0, sizeof(a));
	if (!getpeername(id->link.pollee.fd, (struct sockaddr *)&a, &(socklen_t){ sizeof(a) })) {
		soft_map_port(&a);
		id->v.route.addr.dst_storage = a;
	}
}

static void greet(struct soft_id *listener, int fd)
{
	struct soft_id *id = NULL;
	int one = 1;

	if (listener->waiting < listener->backlog)
		id = soft_id_new(listener->v.channel, listener->v.context, listener->v.ps);
	if (!id) {
		close(fd);		/* the caller sees REJECTED */
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	soft_poller_share();
	id->link.pollee.fd = fd;
	id->link.pollee.ready = soft_id_ready;
	id->state = ID_GREETING;
	id->listener = listener;
	listener->waiting++;
	set_addresses(id);
	if (soft_id_use_device(id) || soft_poller_watch(&id->link.pollee, EPOLLIN)) {
		soft_id_discard(id);
		soft_poller_unshare();
		return;
	}
	soft_timer_set(&id->deadline_timer, soft_now_ns() + soft_config()->connect_timeout_ns, soft_id_deadline);
}

static void resume(struct soft_timer *timer)
{
	struct soft_id *id = container_of(timer, struct soft_id, step_timer);

	soft_poller_watch(&id->link.pollee, EPOLLIN);
}

static void knock(struct pollee *p, uint32_t events)
{
	struct soft_id *listener = soft_id_of_link(soft_link_of(p));

	(void)events;
	for (int n = 0; n < 16; n++) {
		int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			greet(listener, fd);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			soft_poller_watch(p, 0);	/* it would stay ready: look again later instead of spinning */
			soft_timer_set(&listener->step_timer, soft_now_ns() + 100 * SOFT_NS_PER_MS, resume);
			return;
		} else {
			return;
		}
	}
}

EXPORT int rdma_listen(struct rdma_cm_id *v, int backlog)
{
	struct soft_id *id = soft_id_of(v);
	struct sockaddr_in any = { .sin_family = AF_INET };
	int rc = 0;

	if (id->state == ID_IDLE && rdma_bind_addr(v, (struct sockaddr *)&any))
		return -1;
	soft_enter();
	if (id->state != ID_BOUND) {
		rc = EINVAL;
	} else {
		id->backlog = backlog > 0 && backlog < SOFT_MAX_BACKLOG ? backlog : SOFT_MAX_BACKLOG;
		id->link.pollee.ready = knock;
		if (listen(id->link.pollee.fd, id->backlog))
			rc = errno;
		else
			rc = soft_poller_watch(&id->link.pollee, EPOLLIN);
	}
	if (!rc)
		id->state = ID_LISTENING;
	soft_leave();
	return rc ? soft_fail(rc) : 0;
}

EXPORT int rdma_get_request(struct rdma_cm_id *v, struct rdma_cm_id **out)
{
	struct soft_id *listener = soft_id_of(v);
	struct rdma_event_channel *channel;

	if (!listener->sync || listener->state != ID_LISTENING)
		return soft_fail(EINVAL);
	channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	if (soft_id_sync_wait(listener)) {
		rdma_destroy_event_channel(channel);
		return -1;
	}
	*out = v->event->id;
	soft_enter();
	soft_id_of(*out)->sync = true;
	(*out)->channel = channel;
	soft_leave();
	return 0;
}
