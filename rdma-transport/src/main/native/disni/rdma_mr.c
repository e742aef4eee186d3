#include "rdma_mr.h"
#include "rdma_handle.h"
#include "rdma_pd.h"
#include "rdma_table.h"
#include <stdlib.h>

struct rdma_mr {
	struct ibv_mr *verbs;
	jlong pd;			/* its parent */
};

static jlong JNICALL reg(JAVA, jlong domain, jlong address, jint length, jint access, jlong lkey_at, jlong rkey_at,
			 jlong handle_at)
{
	static const char call[] = "ibv_reg_mr";
	struct rdma_pd *pd = rdma_handle_hold(env, domain, RDMA_PD, call);
	struct rdma_mr *mr;
	jlong handle = 0;
	int error;

	if (!pd)
		return -1;
	mr = calloc(1, sizeof(*mr));
	errno = EINVAL;
	if (mr && length > 0)
		mr->verbs = rdma.ibv_reg_mr(pd->verbs, POINTER(address), length, access);
	error = errno;
	if (mr && mr->verbs) {
		mr->pd = domain;
		handle = rdma_handle_new(RDMA_MR, mr);
		error = ENOMEM;
	}
	if (handle) {
		*(uint32_t *)POINTER(lkey_at) = mr->verbs->lkey;
		*(uint32_t *)POINTER(rkey_at) = mr->verbs->rkey;
		*(uint32_t *)POINTER(handle_at) = mr->verbs->handle;
		return handle;
	}
	if (mr && mr->verbs)
		rdma.ibv_dereg_mr(mr->verbs);
	free(mr);
	rdma_handle_drop(domain);
	rdma_throw(env, call, error);
	return -1;
}

static void JNICALL dereg(JAVA, jlong handle)
{
	struct rdma_mr *mr = rdma_handle_retire(handle, RDMA_MR);
	int error = errno;

	if (mr) {
		rdma_handle_free(handle);
		error = rdma.ibv_dereg_mr(mr->verbs);
		rdma_handle_drop(mr->pd);
		free(mr);
	}
	if (error)
		rdma_throw(env, "ibv_dereg_mr", error);
}

static jint JNICALL query_odp(JAVA, UNUSED jlong device)
{
	return -1;	/* on-demand paging is not used */
}

static jint JNICALL prefetch(JAVA, UNUSED jlong handle, UNUSED jlong address, UNUSED jint length)
{
	rdma_throw(env, "expPrefetchMr", EOPNOTSUPP);
	return -1;
}

const JNINativeMethod rdma_mr_disni_methods[] = {
	METHOD("_regMr", "(JJIIJJJ)J", reg),
	METHOD("_deregMr", "(J)V", dereg),
	METHOD("_queryOdpSupport", "(J)I", query_odp),
	METHOD("_expPrefetchMr", "(JJI)I", prefetch),
	END_OF_METHODS
};
