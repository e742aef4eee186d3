#include "soft_poller.h"
#include "ibv_qp.h"
#include "soft_fault.h"
#include "soft_fork.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

static enum { STOPPED, RUNNING, STOPPING } state;	/* all of this file is guarded by soft_lock */
static int users;
static pthread_t thread;
static int epoll_fd = -1, wake_fd = -1;
static struct soft_timer *timers;
static struct pollee *retired;
static int servers;			/* threads in soft_poller_serve, which hold events like the poller */
static uint64_t sleeping_until_ns;	/* 0: awake; UINT64_MAX: until an event */
static bool overruns;

static void wake(void)
{
	if (sleeping_until_ns)
		eventfd_write(wake_fd, 1);
	sleeping_until_ns = 0;
}

static void destroy_retired(void)
{
	struct pollee *p;

	while (!servers && (p = retired)) {
		retired = p->next_retired;
		p->destroy(p);
	}
}

static uint64_t next_due_ns(void)
{
	uint64_t due_ns = UINT64_MAX;

	for (struct soft_timer *t = timers; t; t = t->next)
		if (t->due_ns < due_ns)
			due_ns = t->due_ns;
	return due_ns;
}

/* Fires what is due now; a timer that fires may cancel or set others, so each round looks anew. */
static void fire_timers(void)
{
	uint64_t now_ns = soft_now_ns();
	struct soft_timer *t = timers;

	while (t) {
		if (t->due_ns > now_ns) {
			t = t->next;
			continue;
		}
		soft_timer_cancel(t);
		t->fire(t);
		t = timers;
	}
}

static int sleep_ms(void)
{
	uint64_t now_ns = soft_now_ns();

	sleeping_until_ns = next_due_ns();
	if ((retired && !servers) || overruns || sleeping_until_ns <= now_ns)
		return 0;
	if (sleeping_until_ns == UINT64_MAX)
		return -1;
	return (int)((sleeping_until_ns - now_ns) / SOFT_NS_PER_MS) + 1;
}

static void dispatch(struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		struct pollee *p = events[i].data.ptr;
		eventfd_t count;

		if (!p)
			eventfd_read(wake_fd, &count);
		else if (!p->dead)
			p->ready(p, events[i].events);
	}
}

/* Takes the events under soft_lock, so what they refer to is alive; serving may let go of it, but then nothing is destroyed. */
void soft_poller_serve(int set)
{
	struct epoll_event events[32];

	servers++;
	dispatch(events, epoll_wait(set, events, 32, 0));
	if (!--servers && retired)
		wake();
}

static void *run(void *unused)
{
	struct epoll_event events[32];

	(void)unused;
	soft_enter();
	while (state == RUNNING) {
		int timeout_ms = sleep_ms(), n;

		soft_leave();
		n = epoll_wait(epoll_fd, events, 32, timeout_ms);
		soft_enter();
		sleeping_until_ns = 0;
		dispatch(events, n);
		fire_timers();
		if (overruns) {
			overruns = false;
			soft_qp_break_overrun();
		}
		destroy_retired();
	}
	soft_leave();
	return NULL;
}

static void close_fds(void)
{
	if (epoll_fd >= 0)
		close(epoll_fd);
	if (wake_fd >= 0)
		close(wake_fd);
	epoll_fd = wake_fd = -1;
}

static int start(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int rc = 0;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (epoll_fd < 0 || wake_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &e))
		rc = errno;
	if (!rc) {
		state = RUNNING;
		rc = soft_thread_start(&thread, "softhca-poll", run);
	}
	if (!rc)
		soft_fault_watch_file();
	if (rc) {
		state = STOPPED;
		close_fds();
	}
	return rc;
}

int soft_poller_acquire(void)
{
	int rc = 0;

	soft_init();
	soft_enter();
	while (state == STOPPING)
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
	if (state == STOPPED)
		rc = start();
	if (!rc)
		users++;
	soft_leave();
	return rc;
}

void soft_poller_share(void) { users++; }
void soft_poller_unshare(void) { users--; }	/* never the last: the listener has one */

void soft_poller_release(void)
{
	soft_enter();
	if (state != RUNNING || --users) {	/* not RUNNING: a forked child gives back what it inherited */
		soft_leave();
		return;
	}
	state = STOPPING;
	eventfd_write(wake_fd, 1);
	soft_leave();
	pthread_join(thread, NULL);
	soft_count(LIVE_THREADS, -1);
	soft_enter();
	close_fds();
	destroy_retired();
	state = STOPPED;
	pthread_cond_broadcast(&soft_cond);
	soft_leave();
}

void soft_poller_forget(void)
{
	close_fds();
	state = STOPPED;
	users = 0;
	timers = NULL;
	retired = NULL;
	servers = 0;
	sleeping_until_ns = 0;
}

static int set_of(const struct pollee *p) { return p->set ? p->set : epoll_fd; }

int soft_poller_watch(struct pollee *p, uint32_t wanted)
{
	struct epoll_event e = { .events = wanted, .data.ptr = p };

	if (p->watched && p->wanted == wanted)
		return 0;
	if (epoll_ctl(set_of(p), p->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, p->fd, &e))
		return errno;
	p->watched = true;
	p->wanted = wanted;
	return 0;
}

void soft_poller_unwatch(struct pollee *p)
{
	if (p->watched)
		epoll_ctl(set_of(p), EPOLL_CTL_DEL, p->fd, NULL);
	p->watched = false;
}

void soft_poller_move(struct pollee *p, int set)
{
	bool watched = p->watched;

	soft_poller_unwatch(p);
	p->set = set;
	if (watched)
		soft_poller_watch(p, p->wanted);
}

void soft_poller_retire(struct pollee *p)
{
	soft_poller_unwatch(p);
	p->dead = true;
	if (state == STOPPED) {
		p->destroy(p);
		return;
	}
	p->next_retired = retired;
	retired = p;
	wake();
}

void soft_poller_check_overruns(void)
{
	overruns = true;
	wake();
}

void soft_timer_set(struct soft_timer *t, uint64_t due_ns, void (*fire)(struct soft_timer *))
{
	soft_timer_cancel(t);
	t->due_ns = due_ns;
	t->fire = fire;
	t->next = timers;
	t->link = &timers;
	if (timers)
		timers->link = &t->next;
	timers = t;
	if (due_ns < sleeping_until_ns)
		wake();
}

void soft_timer_cancel(struct soft_timer *t)
{
	if (!t->link)
		return;
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
	t->link = NULL;
}
