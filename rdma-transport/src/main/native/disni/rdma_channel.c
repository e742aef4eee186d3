#include "rdma_channel.h"
#include "rdma_handle.h"
#include "rdma_id.h"
#include "rdma_table.h"
#include "rdma_wait.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(offsetof(struct rdma_event, id) == 8 && offsetof(struct rdma_event, type) == 16 &&
	       offsetof(struct rdma_event, status) == 20 && offsetof(struct rdma_event, length) == 24 &&
	       offsetof(struct rdma_event, data) == 28, "EventBuffer.java reads these");

static void channel_free(struct rdma_channel *c)
{
	if (c->verbs)
		rdma.rdma_destroy_event_channel(c->verbs);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	free(c);
}

static jlong JNICALL create(JAVA)
{
	static const char call[] = "rdma_create_event_channel";
	struct rdma_channel *c;
	jlong handle = 0;
	int error;

	if (!rdma_table_ready(env, call))
		return -1;
	c = calloc(1, sizeof(*c));
	if (c) {
		c->wake_fd = -1;
		c->verbs = rdma.rdma_create_event_channel();
		if (c->verbs)
			c->wake_fd = rdma_wait_open(c->verbs->fd);
	}
	error = errno;
	if (c && c->wake_fd >= 0) {
		handle = rdma_handle_new(RDMA_CHANNEL, c);
		error = ENOMEM;
	}
	if (handle)
		return handle;
	if (c)
		channel_free(c);
	rdma_throw(env, call, error);
	return -1;
}

static jint JNICALL destroy(JAVA, jlong handle)
{
	struct rdma_channel *c = rdma_handle_retire(handle, RDMA_CHANNEL);

	if (!c)
		return -errno;
	rdma_wait_wake(c->wake_fd);
	rdma_handle_free(handle);
	channel_free(c);
	return 0;
}

static bool carries_data(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_CONNECT_RESPONSE ||
	       type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_REJECTED;
}

/*
 * Copies the next event and acknowledges it at once, so that destroying its id never waits for Java. 0, or the errno,
 * EAGAIN if there is none.
 */
static int take(struct rdma_channel *c, jlong channel, struct rdma_event *out)
{
	struct rdma_cm_event *e;
	struct rdma_cm_id *orphan = NULL;

	errno = EAGAIN;
	if (rdma.rdma_get_cm_event(c->verbs, &e))
		return errno;
	*out = (struct rdma_event){ .type = e->event, .status = e->status };
	if (e->listen_id)
		out->listener = (jlong)(uintptr_t)e->listen_id->context;
	if (carries_data(e->event) && e->param.conn.private_data) {
		out->length = e->param.conn.private_data_len;
		memcpy(out->data, e->param.conn.private_data, out->length);
	}
	if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		out->id = rdma_id_adopt(e->id, channel, &e->param.conn);
		if (!out->id)
			orphan = e->id;
	} else {
		int error;

		out->id = (jlong)(uintptr_t)e->id->context;
		error = e->event == RDMA_CM_EVENT_ESTABLISHED ? rdma_id_established(out->id) : 0;
		if (error) {
			out->type = RDMA_CM_EVENT_CONNECT_ERROR;
			out->status = -error;
		}
	}
	rdma.rdma_ack_cm_event(e);
	if (orphan)
		rdma.rdma_destroy_id(orphan);	/* no memory for a handle: the peer sees a rejection */
	return orphan ? EAGAIN : 0;
}

static int next(struct rdma_channel *c, jlong channel, jlong timeout_ns, struct rdma_event *out)
{
	return rdma_wait(c->verbs->fd, c->wake_fd, timeout_ns) ? take(c, channel, out) : EAGAIN;
}

/* DiSNI's form: the listener's handle goes to one address, the connection's to another; time in ms, < 0 for ever. */
static jint JNICALL get_event(JAVA, jlong channel, jlong listener_at, jlong id_at, jint timeout_ms)
{
	struct rdma_channel *c = rdma_handle_use(NULL, channel, RDMA_CHANNEL, NULL);
	struct rdma_event event;
	int error;

	if (!c)
		return -1;
	error = next(c, channel, timeout_ms < 0 ? INT64_MAX : timeout_ms * INT64_C(1000000), &event);
	rdma_handle_done(channel);
	if (error)
		return -1;
	*(jlong *)POINTER(listener_at) = event.listener;
	*(jlong *)POINTER(id_at) = event.id;
	return event.type;
}

static jint JNICALL ack_event(JAVA, UNUSED jint type)
{
	return 0;	/* take did it */
}

/* The type, or -1 after the time or a wake-up. Fills the struct rdma_event at the address. */
static jint JNICALL next_event(JAVA, jlong channel, jlong timeout_ns, jlong event_at)
{
	static const char call[] = "rdma_get_cm_event";
	struct rdma_channel *c = rdma_handle_use(env, channel, RDMA_CHANNEL, call);
	struct rdma_event *event = POINTER(event_at);
	int error;

	if (!c)
		return -1;
	error = next(c, channel, timeout_ns, event);
	rdma_handle_done(channel);
	if (error && error != EAGAIN && error != EINTR)
		rdma_throw(env, call, error);
	return error ? -1 : event->type;
}

static void JNICALL wake(JAVA, jlong channel)
{
	struct rdma_channel *c = rdma_handle_use(NULL, channel, RDMA_CHANNEL, NULL);

	if (!c)
		return;
	rdma_wait_wake(c->wake_fd);
	rdma_handle_done(channel);
}

const JNINativeMethod rdma_channel_disni_methods[] = {
	METHOD("_createEventChannel", "()J", create),
	METHOD("_destroyEventChannel", "(J)I", destroy),
	METHOD("_getCmEvent", "(JJJI)I", get_event),
	METHOD("_ackCmEvent", "(I)I", ack_event),
	END_OF_METHODS
};

const JNINativeMethod rdma_channel_methods[] = {
	METHOD("nextEvent", "(JJJ)I", next_event),
	METHOD("wakeEventChannel", "(J)V", wake),
	END_OF_METHODS
};
