#include "rdma_device.h"
#include "rdma_handle.h"
#include "rdma_table.h"
#include <fcntl.h>

static uint8_t depth(int limit)
{
	return limit < 1 ? 1 : limit < UINT8_MAX ? limit : UINT8_MAX;
}

void rdma_device_read_depths(struct ibv_context *context, uint8_t *as_target, uint8_t *as_initiator)
{
	struct ibv_device_attr a = { .max_qp_rd_atom = 1, .max_qp_init_rd_atom = 1 };

	if (context && rdma.ibv_query_device(context, &a))
		a.max_qp_rd_atom = a.max_qp_init_rd_atom = 1;
	*as_target = depth(a.max_qp_rd_atom);
	*as_initiator = depth(a.max_qp_init_rd_atom);
}

static jint JNICALL command_fd(JAVA, jlong device)
{
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, "cmd_fd");
	jint fd;

	if (!context)
		return -1;
	fd = context->cmd_fd;
	rdma_handle_done(device);
	return fd;
}

static jint JNICALL comp_vectors(JAVA, jlong device)
{
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, "num_comp_vectors");
	jint count;

	if (!context)
		return -1;
	count = context->num_comp_vectors;
	rdma_handle_done(device);
	return count;
}

static jstring JNICALL name(JAVA, jlong device)
{
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, "ibv_get_device_name");
	jstring text;

	if (!context)
		return NULL;
	text = (*env)->NewStringUTF(env, rdma.ibv_get_device_name(context->device));
	rdma_handle_done(device);
	return text;
}

/* In the order that DisniDevice.java reads. */
static jlongArray JNICALL attributes(JAVA, jlong device)
{
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, "ibv_query_device");
	struct ibv_device_attr a;
	jlongArray array;
	bool iwarp;
	int error;

	if (!context)
		return NULL;
	error = rdma.ibv_query_device(context, &a);
	iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;
	rdma_handle_done(device);
	if (error) {
		rdma_throw(env, "ibv_query_device", error < 0 ? errno : error);
		return NULL;
	}
	jlong values[] = { a.max_qp, a.max_qp_wr, a.max_cqe, a.max_mr,
			   a.max_mr_size > INT64_MAX ? INT64_MAX : (jlong)a.max_mr_size, a.max_sge, a.max_qp_rd_atom,
			   a.max_qp_init_rd_atom, iwarp };
	enum { COUNT = sizeof(values) / sizeof(*values) };
	array = (*env)->NewLongArray(env, COUNT);
	if (array)
		(*env)->SetLongArrayRegion(env, array, 0, COUNT, values);
	return array;
}

/* Other parts of the process may take the same device's events: look without ever blocking. */
static int take_async_event(struct ibv_context *context)
{
	int flags = fcntl(context->async_fd, F_GETFL);
	struct ibv_async_event e;
	int type;

	if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	errno = EAGAIN;
	if (rdma.ibv_get_async_event(context, &e))
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	type = e.event_type;
	rdma.ibv_ack_async_event(&e);
	return type;
}

/* The number of the event's type, or -1 for none. */
static jint JNICALL async_event(JAVA, jlong device)
{
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, "ibv_get_async_event");
	int type;

	if (!context)
		return -1;
	type = take_async_event(context);
	rdma_handle_done(device);
	if (type < 0 && type != -EAGAIN)
		rdma_throw(env, "ibv_get_async_event", -type);
	return type < 0 ? -1 : type;
}

const JNINativeMethod rdma_device_disni_methods[] = {
	METHOD("_getContextFd", "(J)I", command_fd),
	METHOD("_getContextNumCompVectors", "(J)I", comp_vectors),
	END_OF_METHODS
};

const JNINativeMethod rdma_device_methods[] = {
	METHOD("deviceName", "(J)Ljava/lang/String;", name),
	METHOD("deviceAttributes", "(J)[J", attributes),
	METHOD("asyncEvent", "(J)I", async_event),
	END_OF_METHODS
};
