#include "rdma_cq.h"
#include "rdma_handle.h"
#include "rdma_table.h"
#include "rdma_wait.h"
#include <stdlib.h>
#include <unistd.h>

struct comp_channel {
	struct ibv_comp_channel *verbs;
	int wake_fd;
};

static void channel_free(struct comp_channel *c)
{
	if (c->verbs)
		rdma.ibv_destroy_comp_channel(c->verbs);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	free(c);
}

static jlong JNICALL create_channel(JAVA, jlong device)
{
	static const char call[] = "ibv_create_comp_channel";
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, call);
	struct comp_channel *c;
	jlong handle = 0;
	int error;

	if (!context)
		return -1;
	c = calloc(1, sizeof(*c));
	if (c) {
		c->wake_fd = -1;
		c->verbs = rdma.ibv_create_comp_channel(context);
		if (c->verbs)
			c->wake_fd = rdma_wait_open(c->verbs->fd);
	}
	error = errno;
	rdma_handle_done(device);
	if (c && c->wake_fd >= 0) {
		handle = rdma_handle_new(RDMA_COMP_CHANNEL, c);
		error = ENOMEM;
	}
	if (handle)
		return handle;
	if (c)
		channel_free(c);
	rdma_throw(env, call, error);
	return -1;
}

static jint JNICALL destroy_channel(JAVA, jlong handle)
{
	struct comp_channel *c = rdma_handle_retire(handle, RDMA_COMP_CHANNEL);

	if (!c)
		return -errno;
	rdma_wait_wake(c->wake_fd);
	rdma_handle_free(handle);
	channel_free(c);
	return 0;
}

static struct rdma_cq *new_cq(struct ibv_context *context, struct comp_channel *c, jlong channel, int entries, int vector)
{
	struct rdma_cq *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->channel = channel;
	q->verbs = rdma.ibv_create_cq(context, entries, NULL, c->verbs, vector);
	if (q->verbs)
		return q;
	free(q);
	return NULL;
}

static jlong JNICALL create(JAVA, jlong device, jlong channel, jint entries, jint vector)
{
	static const char call[] = "ibv_create_cq";
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, call);
	struct comp_channel *c = context ? rdma_handle_hold(env, channel, RDMA_COMP_CHANNEL, call) : NULL;
	struct rdma_cq *q;
	jlong handle = 0;
	int error;

	if (!c) {
		if (context)
			rdma_handle_done(device);
		return -1;
	}
	q = new_cq(context, c, channel, entries, vector);
	error = errno;
	rdma_handle_done(device);
	if (q) {
		handle = rdma_handle_new(RDMA_CQ, q);
		error = ENOMEM;
	}
	if (handle)
		return handle;
	if (q)
		rdma.ibv_destroy_cq(q->verbs);
	free(q);
	rdma_handle_drop(channel);
	rdma_throw(env, call, error);
	return -1;
}

static jint JNICALL destroy(JAVA, jlong handle)
{
	struct rdma_cq *q = rdma_handle_retire(handle, RDMA_CQ);
	int error;

	if (!q)
		return -errno;
	rdma_handle_free(handle);
	error = rdma.ibv_destroy_cq(q->verbs);
	rdma_handle_drop(q->channel);
	free(q);
	return -error;
}

/* Consumes and acknowledges a completion event. EAGAIN: there was none in the time, or a wake-up came first. */
static int wait_for_event(struct comp_channel *c, jlong timeout_ns)
{
	struct ibv_cq *cq;
	void *context;

	if (!rdma_wait(c->verbs->fd, c->wake_fd, timeout_ns))
		return EAGAIN;
	errno = EAGAIN;
	if (rdma.ibv_get_cq_event(c->verbs, &cq, &context))
		return errno;
	rdma.ibv_ack_cq_events(cq, 1);
	return 0;
}

/* DiSNI's form: 0 for an event, -1 for none; time in ms, < 0 for ever. The event is acknowledged already. */
static jint JNICALL get_event(JAVA, jlong channel, jint timeout_ms)
{
	struct comp_channel *c = rdma_handle_use(env, channel, RDMA_COMP_CHANNEL, "ibv_get_cq_event");
	int error;

	if (!c)
		return -1;
	error = wait_for_event(c, timeout_ms < 0 ? INT64_MAX : timeout_ms * INT64_C(1000000));
	rdma_handle_done(channel);
	return error ? -1 : 0;
}

static jint JNICALL ack_events(JAVA, UNUSED jlong handle, UNUSED jint count)
{
	return 0;	/* wait_for_event did it */
}

static jint JNICALL poll(JAVA, jlong handle, jint most, jlong into)
{
	struct rdma_cq *q = rdma_handle_use(env, handle, RDMA_CQ, "ibv_poll_cq");
	int count;

	if (!q)
		return -1;
	count = ibv_poll_cq(q->verbs, most, POINTER(into));
	rdma_handle_done(handle);
	return count;
}

static jint JNICALL request_notify(JAVA, jlong handle, jint solicited_only)
{
	struct rdma_cq *q = rdma_handle_use(env, handle, RDMA_CQ, "ibv_req_notify_cq");
	int error;

	if (!q)
		return -1;
	error = ibv_req_notify_cq(q->verbs, solicited_only);
	rdma_handle_done(handle);
	if (error)
		rdma_throw(env, "ibv_req_notify_cq", error < 0 ? errno : error);
	return error;
}

static void JNICALL await(JAVA, jlong channel, jlong timeout_ns)
{
	static const char call[] = "ibv_get_cq_event";
	struct comp_channel *c = rdma_handle_use(env, channel, RDMA_COMP_CHANNEL, call);
	int error;

	if (!c)
		return;
	error = wait_for_event(c, timeout_ns);
	rdma_handle_done(channel);
	if (error && error != EAGAIN && error != EINTR)
		rdma_throw(env, call, error);
}

static void JNICALL wake(JAVA, jlong channel)
{
	struct comp_channel *c = rdma_handle_use(NULL, channel, RDMA_COMP_CHANNEL, NULL);

	if (!c)
		return;
	rdma_wait_wake(c->wake_fd);
	rdma_handle_done(channel);
}

const JNINativeMethod rdma_cq_disni_methods[] = {
	METHOD("_createCompChannel", "(J)J", create_channel),
	METHOD("_destroyCompChannel", "(J)I", destroy_channel),
	METHOD("_createCQ", "(JJII)J", create),
	METHOD("_destroyCQ", "(J)I", destroy),
	METHOD("_getCqEvent", "(JI)I", get_event),
	METHOD("_ackCqEvent", "(JI)I", ack_events),
	METHOD("_pollCQ", "(JIJ)I", poll),
	METHOD("_reqNotifyCQ", "(JI)I", request_notify),
	END_OF_METHODS
};

const JNINativeMethod rdma_cq_methods[] = {
	METHOD("awaitCompletion", "(JJ)V", await),
	METHOD("wakeCompletionChannel", "(J)V", wake),
	END_OF_METHODS
};
