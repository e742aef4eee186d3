#include "rdma_id.h"
#include "rdma_channel.h"
#include "rdma_device.h"
#include "rdma_handle.h"
#include "rdma_qp.h"
#include "rdma_table.h"
#include <stdlib.h>
#include <string.h>

enum {
	SOCKADDR_BYTES = 28,		/* the room DiSNI gives for an address: SockAddrIn.CSIZE */
	RETRIES = 7,			/* the most there is: IBTA counts in three bits */
};

jlong rdma_id_adopt(struct rdma_cm_id *id, jlong channel, const struct rdma_conn_param *request)
{
	struct rdma_id *m = calloc(1, sizeof(*m));
	jlong handle = 0;

	if (m && rdma_handle_hold(NULL, channel, RDMA_CHANNEL, NULL)) {
		m->verbs = id;
		m->channel = channel;
		m->passive = request != NULL;
		if (request) {
			m->responder_resources = request->responder_resources;
			m->initiator_depth = request->initiator_depth;
		}
		handle = rdma_handle_new(RDMA_ID, m);
		if (!handle)
			rdma_handle_drop(channel);
	}
	if (handle)
		id->context = POINTER(handle);
	else
		free(m);
	return handle;
}

/*
 * librdmacm has moved the queue pair of the active side through INIT, RTR and RTS inside rdma_get_cm_event, with the
 * same rights as rdma_accept gives (see accept_with).
 */
int rdma_id_established(jlong handle)
{
	struct rdma_id *m = rdma_handle_use(NULL, handle, RDMA_ID, NULL);
	int error;

	if (!m)
		return 0;
	error = m->passive ? 0 : rdma_qp_forbid(m->qp);
	rdma_handle_done(handle);
	return error == EBADF ? 0 : error;
}

static jlong JNICALL create(JAVA, jlong channel, jshort port_space)
{
	static const char call[] = "rdma_create_id";
	struct rdma_channel *c = rdma_handle_use(env, channel, RDMA_CHANNEL, call);
	struct rdma_cm_id *id = NULL;
	jlong handle = 0;
	int error;

	if (!c)
		return -1;
	error = rdma.rdma_create_id(c->verbs, &id, NULL, port_space) ? errno : 0;
	if (!error) {
		handle = rdma_id_adopt(id, channel, NULL);
		if (!handle) {
			rdma.rdma_destroy_id(id);
			error = ENOMEM;
		}
	}
	rdma_handle_done(channel);
	if (error)
		rdma_throw(env, call, error);
	return error ? -1 : handle;
}

/* Throws if the call, which ended with result, failed; and lets go of the id. */
static void finish(JNIEnv *env, jlong handle, const char *call, int result)
{
	int error = errno;

	rdma_handle_done(handle);
	if (result)
		rdma_throw(env, call, error);
}

static void JNICALL bind_address(JAVA, jlong handle, jlong address)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_bind_addr");

	if (m)
		finish(env, handle, "rdma_bind_addr", rdma.rdma_bind_addr(m->verbs, POINTER(address)));
}

static void JNICALL listen_on(JAVA, jlong handle, jint backlog)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_listen");

	if (m)
		finish(env, handle, "rdma_listen", rdma.rdma_listen(m->verbs, backlog));
}

static void JNICALL resolve_address(JAVA, jlong handle, jlong from, jlong to, jint timeout_ms)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_resolve_addr");

	if (m)
		finish(env, handle, "rdma_resolve_addr",
		       rdma.rdma_resolve_addr(m->verbs, POINTER(from), POINTER(to), timeout_ms));
}

static void JNICALL resolve_route(JAVA, jlong handle, jint timeout_ms)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_resolve_route");

	if (m)
		finish(env, handle, "rdma_resolve_route", rdma.rdma_resolve_route(m->verbs, timeout_ms));
}

static uint8_t least(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* READs both ways as deep as the device allows, on the passive side also no deeper than the request asked for. */
static void set_read_depths(struct rdma_id *m, struct rdma_conn_param *p)
{
	rdma_device_read_depths(m->verbs->verbs, &p->responder_resources, &p->initiator_depth);
	if (m->passive) {
		p->responder_resources = least(p->responder_resources, m->responder_resources);
		p->initiator_depth = least(p->initiator_depth, m->initiator_depth);
	}
}

static void connect_with(JNIEnv *env, jlong handle, struct rdma_conn_param p)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_connect");

	if (!m)
		return;
	set_read_depths(m, &p);
	finish(env, handle, "rdma_connect", rdma.rdma_connect(m->verbs, &p));
}

/*
 * rdma_accept(3) moves the queue pair through INIT, RTR and RTS with the rights that the kernel's connection manager
 * gives it, which include remote READ; they are taken back before this returns, and so before Java has told the peer
 * any key. Only between the two calls could the peer READ, if it knew one.
 */
static void accept_with(JNIEnv *env, jlong handle, struct rdma_conn_param p)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "rdma_accept");
	int result, error;

	if (!m)
		return;
	set_read_depths(m, &p);
	result = rdma.rdma_accept(m->verbs, &p);
	error = errno;
	if (!result) {
		result = error = rdma_qp_forbid(m->qp);
		if (result)
			rdma.rdma_disconnect(m->verbs);
	}
	errno = error;
	finish(env, handle, "rdma_accept", result);
}

static void JNICALL disni_connect(JAVA, jlong handle, jint retries, jint rnr_retries, jlong data, jbyte length)
{
	struct rdma_conn_param p = { .retry_count = retries, .rnr_retry_count = rnr_retries, .flow_control = 1,
				     .private_data = POINTER(data), .private_data_len = data ? (uint8_t)length : 0 };

	connect_with(env, handle, p);
}

static void JNICALL disni_accept(JAVA, jlong handle, jint retries, jint rnr_retries)
{
	struct rdma_conn_param p = { .retry_count = retries, .rnr_retry_count = rnr_retries, .flow_control = 1 };

	accept_with(env, handle, p);
}

/* Private data, in C's memory: longer than any fabric takes is EINVAL in librdmacm, so cut off nothing here. */
static bool copy_data(JNIEnv *env, jbyteArray data, uint8_t into[UINT8_MAX], struct rdma_conn_param *p)
{
	jsize length = (*env)->GetArrayLength(env, data);

	if (length > UINT8_MAX) {
		rdma_throw(env, "private data of more than 255 bytes", EINVAL);
		return false;
	}
	(*env)->GetByteArrayRegion(env, data, 0, length, (jbyte *)into);
	*p = (struct rdma_conn_param){ .retry_count = RETRIES, .rnr_retry_count = RETRIES, .flow_control = 1,
				       .private_data = length ? into : NULL, .private_data_len = length };
	return true;
}

static void JNICALL connect_id(JAVA, jlong handle, jbyteArray data)
{
	uint8_t bytes[UINT8_MAX];
	struct rdma_conn_param p;

	if (copy_data(env, data, bytes, &p))
		connect_with(env, handle, p);
}

static void JNICALL accept_id(JAVA, jlong handle, jbyteArray data)
{
	uint8_t bytes[UINT8_MAX];
	struct rdma_conn_param p;

	if (copy_data(env, data, bytes, &p))
		accept_with(env, handle, p);
}

static void JNICALL reject_id(JAVA, jlong handle, jbyteArray data)
{
	uint8_t bytes[UINT8_MAX];
	struct rdma_conn_param p;
	struct rdma_id *m;

	if (!copy_data(env, data, bytes, &p))
		return;
	m = rdma_handle_use(env, handle, RDMA_ID, "rdma_reject");
	if (m)
		finish(env, handle, "rdma_reject", rdma.rdma_reject(m->verbs, p.private_data, p.private_data_len));
}

static jint JNICALL disconnect(JAVA, jlong handle)
{
	struct rdma_id *m = rdma_handle_use(NULL, handle, RDMA_ID, NULL);
	int result;

	if (!m)
		return -EBADF;
	result = rdma.rdma_disconnect(m->verbs) ? -errno : 0;
	rdma_handle_done(handle);
	return result;
}

static jint JNICALL destroy(JAVA, jlong handle)
{
	struct rdma_id *m = rdma_handle_retire(handle, RDMA_ID);
	int result;

	if (!m)
		return -errno;
	rdma_handle_free(handle);
	result = -rdma_qp_destroy(m);
	if (result)
		return result;	/* the queue pair is the id's: both stay */
	result = rdma.rdma_destroy_id(m->verbs) ? -errno : 0;
	rdma_handle_drop(m->channel);
	free(m);
	return result;
}

static jint JNICALL destroy_qp(JAVA, jlong handle)
{
	struct rdma_id *m = rdma_handle_use(NULL, handle, RDMA_ID, NULL);
	int result;

	if (!m)
		return -EBADF;
	result = -rdma_qp_destroy(m);
	rdma_handle_done(handle);
	return result;
}

static jint copy_address(jlong handle, jlong to, bool peer)
{
	struct rdma_id *m = rdma_handle_use(NULL, handle, RDMA_ID, NULL);

	if (!m)
		return -EBADF;
	memcpy(POINTER(to), peer ? (void *)&m->verbs->route.addr.dst_addr : (void *)&m->verbs->route.addr.src_addr,
	       SOCKADDR_BYTES);
	rdma_handle_done(handle);
	return 0;
}

static jint JNICALL source_address(JAVA, jlong handle, jlong to)
{
	return copy_address(handle, to, false);
}

static jint JNICALL destination_address(JAVA, jlong handle, jlong to)
{
	return copy_address(handle, to, true);
}

/* -1, not an exception, while the id has no device: that is what DiSNI asks for a wildcard listener. */
static jlong JNICALL context_of(JAVA, jlong handle)
{
	struct rdma_id *m = rdma_handle_use(env, handle, RDMA_ID, "context");
	jlong context;

	if (!m)
		return -1;
	context = m->verbs->verbs ? rdma_handle_of_context(m->verbs->verbs) : -1;
	rdma_handle_done(handle);
	return context;
}

const JNINativeMethod rdma_id_disni_methods[] = {
	METHOD("_createId", "(JS)J", create),
	METHOD("_bindAddr", "(JJ)V", bind_address),
	METHOD("_listen", "(JI)V", listen_on),
	METHOD("_resolveAddr", "(JJJI)V", resolve_address),
	METHOD("_resolveRoute", "(JI)V", resolve_route),
	METHOD("_connect", "(JIIJB)V", disni_connect),
	METHOD("_accept", "(JII)V", disni_accept),
	METHOD("_disconnect", "(J)I", disconnect),
	METHOD("_destroyCmId", "(J)I", destroy),
	METHOD("_destroyEp", "(J)I", destroy),
	METHOD("_destroyQP", "(J)I", destroy_qp),
	METHOD("_getSrcAddr", "(JJ)I", source_address),
	METHOD("_getDstAddr", "(JJ)I", destination_address),
	METHOD("_getContext", "(J)J", context_of),
	END_OF_METHODS
};

const JNINativeMethod rdma_id_methods[] = {
	METHOD("connect", "(J[B)V", connect_id),
	METHOD("accept", "(J[B)V", accept_id),
	METHOD("reject", "(J[B)V", reject_id),
	END_OF_METHODS
};
