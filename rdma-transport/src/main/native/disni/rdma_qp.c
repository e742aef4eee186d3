#include "rdma_qp.h"
#include "rdma_cq.h"
#include "rdma_handle.h"
#include "rdma_pd.h"
#include "rdma_table.h"
#include <stdlib.h>

struct rdma_qp {
	struct ibv_qp *verbs;
	jlong pd, send_cq, recv_cq;	/* its parents */
};

static int set_access(struct rdma_qp *q, unsigned flags)
{
	struct ibv_qp_attr a = { .qp_access_flags = flags };

	return rdma.ibv_modify_qp(q->verbs, &a, IBV_QP_ACCESS_FLAGS);
}

int rdma_qp_forbid(jlong qp)
{
	struct rdma_qp *q = rdma_handle_use(NULL, qp, RDMA_QP, NULL);
	int error;

	if (!q)
		return EBADF;
	error = set_access(q, 0);
	rdma_handle_done(qp);
	return error;
}

static void drop_parents(const struct rdma_qp *q)
{
	if (q->pd)
		rdma_handle_drop(q->pd);
	if (q->send_cq)
		rdma_handle_drop(q->send_cq);
	if (q->recv_cq)
		rdma_handle_drop(q->recv_cq);
}

/* 0, or the errno, or -1 with an exception pending. The id is pinned. */
static int create_on(JNIEnv *env, struct rdma_id *id, struct rdma_qp *q, const jlong parents[3],
		     struct ibv_qp_init_attr *a)
{
	static const char call[] = "rdma_create_qp";
	struct rdma_pd *pd = rdma_handle_hold(env, parents[0], RDMA_PD, call);
	struct rdma_cq *send, *recv;

	q->pd = pd ? parents[0] : 0;
	send = pd ? rdma_handle_hold(env, parents[1], RDMA_CQ, call) : NULL;
	q->send_cq = send ? parents[1] : 0;
	recv = send ? rdma_handle_hold(env, parents[2], RDMA_CQ, call) : NULL;
	q->recv_cq = recv ? parents[2] : 0;
	if (!recv)
		return -1;
	a->send_cq = send->verbs;
	a->recv_cq = recv->verbs;
	if (rdma.rdma_create_qp(id->verbs, pd->verbs, a))
		return errno;
	q->verbs = id->verbs->qp;
	return 0;
}

/* Gives the id its queue pair's handle. 0, or an errno: then the queue pair is gone. */
static int publish(struct rdma_id *id, struct rdma_qp *q, jlong *handle)
{
	*handle = rdma_handle_new(RDMA_QP, q);
	if (!*handle) {
		rdma.rdma_destroy_qp(id->verbs);
		return ENOMEM;
	}
	id->qp = *handle;
	return 0;
}

/* DiSNI passes no number of scatter elements. One is what this project uses. */
static jlong JNICALL create(JAVA, jlong handle, jlong pd, jlong send_cq, jlong recv_cq, jint type, jint sends,
			    jint receives, jint inline_bytes)
{
	struct ibv_qp_init_attr a = { .qp_type = type, .cap = { .max_send_wr = sends, .max_recv_wr = receives,
				      .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = inline_bytes } };
	struct rdma_id *id = rdma_handle_use(env, handle, RDMA_ID, "rdma_create_qp");
	struct rdma_qp *q = id ? calloc(1, sizeof(*q)) : NULL;
	jlong qp = -1;
	int error = ENOMEM;

	if (!id)
		return -1;
	if (q && id->qp)
		error = EEXIST;
	else if (q)
		error = create_on(env, id, q, (jlong[]){ pd, send_cq, recv_cq }, &a);
	if (q && !error)
		error = publish(id, q, &qp);
	rdma_handle_done(handle);
	if (!error)
		return qp;
	if (q)
		drop_parents(q);
	free(q);
	if (error > 0)
		rdma_throw(env, "rdma_create_qp", error);
	return -1;
}

/* As rdma_destroy_qp(3), which does not tell whether the adapter let go of the queue pair. */
int rdma_qp_destroy(struct rdma_id *id)
{
	jlong handle = atomic_exchange(&id->qp, 0);
	struct rdma_qp *q = rdma_handle_retire(handle, RDMA_QP);
	int error;

	if (!q)
		return atomic_load(&id->kept);
	rdma_handle_free(handle);
	error = rdma.ibv_destroy_qp(q->verbs);
	if (error) {	/* it stays, and with it what it needs */
		atomic_store(&id->kept, error);
		return error;
	}
	id->verbs->qp = NULL;
	drop_parents(q);
	free(q);
	return 0;
}

static jint JNICALL modify(JAVA, UNUSED jlong handle, UNUSED jlong attributes)
{
	rdma_throw(env, "modifyQP", EOPNOTSUPP);	/* DiSNI hands over nothing to modify with */
	return -1;
}

static void finish(JNIEnv *env, jlong handle, const char *call, int result)
{
	rdma_handle_done(handle);
	if (result)
		rdma_throw(env, call, result < 0 ? errno : result);
}

static void JNICALL post_send(JAVA, jlong handle, jlong requests)
{
	struct rdma_qp *q = rdma_handle_use(env, handle, RDMA_QP, "ibv_post_send");
	struct ibv_send_wr *bad;

	if (q)
		finish(env, handle, "ibv_post_send", ibv_post_send(q->verbs, POINTER(requests), &bad));
}

static void JNICALL post_recv(JAVA, jlong handle, jlong requests)
{
	struct rdma_qp *q = rdma_handle_use(env, handle, RDMA_QP, "ibv_post_recv");
	struct ibv_recv_wr *bad;

	if (q)
		finish(env, handle, "ibv_post_recv", ibv_post_recv(q->verbs, POINTER(requests), &bad));
}

static jint JNICALL number(JAVA, jlong handle)
{
	struct rdma_qp *q = rdma_handle_use(env, handle, RDMA_QP, "qp_num");
	jint n;

	if (!q)
		return -1;
	n = q->verbs->qp_num;
	rdma_handle_done(handle);
	return n;
}

static void JNICALL allow_remote_reads(JAVA, jlong handle, jboolean allowed)
{
	struct rdma_qp *q = rdma_handle_use(env, handle, RDMA_QP, "ibv_modify_qp");

	if (q)
		finish(env, handle, "ibv_modify_qp", set_access(q, allowed ? IBV_ACCESS_REMOTE_READ : 0));
}

static void JNICALL to_error(JAVA, jlong handle)
{
	struct rdma_qp *q = rdma_handle_use(env, handle, RDMA_QP, "ibv_modify_qp");
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	if (q)
		finish(env, handle, "ibv_modify_qp", rdma.ibv_modify_qp(q->verbs, &a, IBV_QP_STATE));
}

const JNINativeMethod rdma_qp_disni_methods[] = {
	METHOD("_createQP", "(JJJJIIII)J", create),
	METHOD("_modifyQP", "(JJ)I", modify),
	METHOD("_postSend", "(JJ)V", post_send),
	METHOD("_postRecv", "(JJ)V", post_recv),
	METHOD("_getQpNum", "(J)I", number),
	END_OF_METHODS
};

const JNINativeMethod rdma_qp_methods[] = {
	METHOD("allowRemoteReads", "(JZ)V", allow_remote_reads),
	METHOD("moveToError", "(J)V", to_error),
	END_OF_METHODS
};
