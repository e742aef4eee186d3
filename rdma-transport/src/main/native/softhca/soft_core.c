/* The lock, the clock, threads, and what a forked child must forget. */
#include "soft.h"
#include "ibv_async.h"
#include "ibv_pd.h"
#include "soft_fault.h"
#include "soft_fork.h"
#include "soft_table.h"
#include <signal.h>
#include <time.h>

pthread_mutex_t soft_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t soft_cond;

static void init_cond(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&soft_cond, &attr);
	pthread_condattr_destroy(&attr);
}

static void before_fork(void) { soft_enter(); }
static void after_fork_parent(void) { soft_leave(); }

/*
 * The child has none of our threads. It must neither keep the parent's connections open after the parent's death nor write
 * into the region table, which it shares: it closes its copies of the descriptors and starts empty. Objects made before the
 * fork are of no use to it.
 */
static void after_fork_child(void)
{
	pthread_mutex_init(&soft_lock, NULL);
	init_cond();
	soft_id_forget_all();
	soft_qp_forget_all();
	soft_poller_forget();
	soft_engine_forget();
	soft_table_forget();
	soft_mr_forget_all();
	soft_async_forget();
	soft_fault_forget();
	soft_counter_forget();
}

static void init_once(void)
{
	init_cond();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	soft_config();
	soft_fault_read_environment();
}

void soft_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_once);
}

int softhca_close(void)
{
	for (int counter = 0; counter <= LIVE_THREADS; counter++)
		if (soft_count_of(counter))
			return EBUSY;
	soft_table_close();
	soft_async_close();
	soft_pd_close();
	return 0;
}

uint64_t soft_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool soft_wait_until(uint64_t deadline_ns)
{
	struct timespec t = { .tv_sec = (time_t)(deadline_ns / 1000000000), .tv_nsec = (long)(deadline_ns % 1000000000) };

	return pthread_cond_timedwait(&soft_cond, &soft_lock, &t) != ETIMEDOUT;
}

/* Our threads take no signals: they belong to the application (a JVM is touchy about them). Returns 0 or an errno. */
int soft_thread_start(pthread_t *thread, const char *name, void *(*run)(void *))
{
	pthread_attr_t attr;
	sigset_t all, old;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 512 << 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!rc) {
		pthread_setname_np(*thread, name);
		soft_count(LIVE_THREADS, 1);
	}
	return rc;
}
