#include "rdma_wait.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

int rdma_wait_open(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -1;
	return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static jlong now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (jlong)t.tv_sec * NS_PER_S + t.tv_nsec;
}

bool rdma_wait(int fd, int wake_fd, jlong timeout_ns)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = wake_fd, .events = POLLIN } };
	jlong left = timeout_ns > 0 ? timeout_ns : 0, start = left ? now_ns() : 0;

	for (;;) {
		struct timespec t = { .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };
		int n = ppoll(p, 2, &t, NULL);

		if (n >= 0 || errno != EINTR)
			break;
		p[0].revents = p[1].revents = 0;
		left = timeout_ns - (now_ns() - start);	/* a signal is no reason to return early */
		if (left <= 0)
			break;
	}
	if (p[1].revents) {
		eventfd_t count;

		eventfd_read(wake_fd, &count);
	}
	return p[0].revents;
}

void rdma_wait_wake(int wake_fd)
{
	eventfd_write(wake_fd, 1);
}
