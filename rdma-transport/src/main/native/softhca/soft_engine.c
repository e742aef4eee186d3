#include "soft_engine.h"
#include "soft_fork.h"
#include "soft_requester.h"

static enum { STOPPED, RUNNING, STOPPING } state;	/* all of this file is guarded by soft_lock */
static int users;
static pthread_t thread;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct soft_qp *head, **tail = &head;

static void *run(void *unused)
{
	(void)unused;
	soft_enter();
	while (state == RUNNING) {
		struct soft_qp *q = head;

		if (!q) {
			pthread_cond_wait(&work, &soft_lock);
			continue;
		}
		soft_engine_forget_job(q);
		soft_requester_run_slice(q, ENGINE_SLICE_BYTES);
	}
	soft_leave();
	return NULL;
}

int soft_engine_acquire(void)
{
	int rc = 0;

	soft_init();
	soft_enter();
	while (state == STOPPING)
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
	if (state == STOPPED) {
		state = RUNNING;
		rc = soft_thread_start(&thread, "softhca-copy", run);
		if (rc)
			state = STOPPED;
	}
	if (!rc)
		users++;
	soft_leave();
	return rc;
}

void soft_engine_release(void)
{
	soft_enter();
	if (state != RUNNING || --users) {
		soft_leave();
		return;
	}
	state = STOPPING;
	pthread_cond_signal(&work);
	soft_leave();
	pthread_join(thread, NULL);
	soft_count(LIVE_THREADS, -1);
	soft_enter();
	state = STOPPED;
	pthread_cond_broadcast(&soft_cond);
	soft_leave();
}

void soft_engine_forget(void)
{
	state = STOPPED;
	users = 0;
	head = NULL;
	tail = &head;
	pthread_cond_init(&work, NULL);
}

void soft_engine_add(struct soft_qp *q)
{
	if (q->is_job)
		return;
	q->is_job = true;
	q->next_job = NULL;
	*tail = q;
	tail = &q->next_job;
	pthread_cond_signal(&work);
}

void soft_engine_forget_job(struct soft_qp *q)
{
	struct soft_qp **link = &head;

	if (!q->is_job)
		return;
	while (*link != q)
		link = &(*link)->next_job;
	*link = q->next_job;
	if (!*link)
		tail = link;
	q->is_job = false;
}
