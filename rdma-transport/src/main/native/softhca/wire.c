/* Frames on a connection's socket, and the check whether the peer's memory can be reached directly. */
#include "soft.h"
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <sys/socket.h>

int read_full(int fd, void *buf, size_t len)
{
	struct iovec v = { buf, len };

	return readv_full(fd, &v, 1);
}

int readv_full(int fd, struct iovec *iov, int n)
{
	while (n) {
		ssize_t r;

		if (!iov->iov_len) {
			iov++, n--;
			continue;
		}
		r = readv(fd, iov, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return -1;
		for (; r; ) {
			size_t k = (size_t)r < iov->iov_len ? (size_t)r : iov->iov_len;

			iov->iov_base = (char *)iov->iov_base + k;
			iov->iov_len -= k;
			r -= k;
			if (!iov->iov_len)
				iov++, n--;
		}
	}
	return 0;
}

static int send_all(int fd, struct iovec *iov, int n)
{
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = n };

	while (m.msg_iovlen) {
		ssize_t r = sendmsg(fd, &m, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		while (m.msg_iovlen && (size_t)r >= m.msg_iov->iov_len) {
			r -= m.msg_iov->iov_len;
			m.msg_iov++, m.msg_iovlen--;
		}
		if (m.msg_iovlen) {
			m.msg_iov->iov_base = (char *)m.msg_iov->iov_base + r;
			m.msg_iov->iov_len -= r;
		}
	}
	return 0;
}

int link_send(struct link *l, const struct frame *f, struct iovec *iov, int n)
{
	struct iovec v[MAX_SGE + 1] = { { (void *)f, sizeof(*f) } };
	int rc;

	if (n)
		memcpy(v + 1, iov, n * sizeof(*iov));
	pthread_mutex_lock(&l->tx);
	rc = send_all(l->fd, v, n + 1);
	pthread_mutex_unlock(&l->tx);
	return rc;
}

bool link_try_send(struct link *l, const struct frame *f)
{
	struct pollfd p = { .fd = l->fd, .events = POLLOUT };
	struct iovec v = { (void *)f, sizeof(*f) };
	struct timespec t;
	bool ok = false;

	clock_gettime(CLOCK_REALTIME, &t);	/* a sender about to let go is worth a wait, but a bounded one */
	t.tv_nsec += 5000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	if (pthread_mutex_trylock(&l->tx) && pthread_mutex_timedlock(&l->tx, &t))
		return false;
	if (poll(&p, 1, 0) == 1 && p.revents == POLLOUT) {	/* then a frame's few bytes fit */
		send_all(l->fd, &v, 1);
		ok = true;
	}
	pthread_mutex_unlock(&l->tx);
	return ok;
}

void link_hello(struct hello *h)
{
	int memfd = -1;
	struct mr_table *t = mrtab_own(&memfd);

	h->pid = getpid();
	h->memfd = memfd;
	h->nonce = t ? t->nonce : 0;
	h->nonce_addr = t ? (uintptr_t)&t->nonce : 0;
}

/* Reading the peer's nonce proves that the pid means the same process here and that we may read it. */
void link_probe(struct link *l, const struct hello *h)
{
	const char *env = getenv("SOFTHCA_DIRECT");
	uint64_t nonce = 0;
	struct iovec a = { &nonce, sizeof(nonce) }, b = { (void *)(uintptr_t)h->nonce_addr, sizeof(nonce) };

	l->peer_pid = h->pid;
	l->peer_pd = h->pd;
	if ((env && *env == '0') || !h->nonce)
		return;
	if (process_vm_readv(h->pid, &a, 1, &b, 1, 0) != sizeof(nonce) || nonce != h->nonce)
		return;
	if (!l->peer_mrs)
		l->peer_mrs = mrtab_map(h->pid, h->memfd, h->nonce);
	l->direct = l->peer_mrs != NULL;
}

void link_close(struct link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	mrtab_unmap(l->peer_mrs);
	l->peer_mrs = NULL;
	l->direct = false;
}

/* A thread that takes no signals: they belong to the application (a JVM is touchy about them). */
int soft_thread(pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t a;
	sigset_t all, old;
	int rc;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 256 << 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(t, &a, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	return rc;
}
