#include "rdma_pd.h"
#include "rdma_handle.h"
#include "rdma_table.h"
#include <stdlib.h>

static jlong JNICALL alloc(JAVA, jlong device)
{
	static const char call[] = "ibv_alloc_pd";
	struct ibv_context *context = rdma_handle_use(env, device, RDMA_CONTEXT, call);
	struct rdma_pd *pd;
	jlong handle = 0;
	int error;

	if (!context)
		return -1;
	pd = calloc(1, sizeof(*pd));
	if (pd)
		pd->verbs = rdma.ibv_alloc_pd(context);
	error = errno;
	rdma_handle_done(device);
	if (pd && pd->verbs) {
		handle = rdma_handle_new(RDMA_PD, pd);
		error = ENOMEM;
	}
	if (handle)
		return handle;
	if (pd && pd->verbs)
		rdma.ibv_dealloc_pd(pd->verbs);
	free(pd);
	rdma_throw(env, call, error);
	return -1;
}

static jint JNICALL dealloc(JAVA, jlong handle)
{
	struct rdma_pd *pd = rdma_handle_retire(handle, RDMA_PD);
	int error;

	if (!pd)
		return -errno;
	rdma_handle_free(handle);
	error = rdma.ibv_dealloc_pd(pd->verbs);
	free(pd);
	return -error;
}

static jint JNICALL kernel_handle(JAVA, jlong handle)
{
	struct rdma_pd *pd = rdma_handle_use(env, handle, RDMA_PD, "pd handle");
	jint n;

	if (!pd)
		return -1;
	n = pd->verbs->handle;
	rdma_handle_done(handle);
	return n;
}

const JNINativeMethod rdma_pd_disni_methods[] = {
	METHOD("_allocPd", "(J)J", alloc),
	METHOD("_deallocPd", "(J)I", dealloc),
	METHOD("_getPdHandle", "(J)I", kernel_handle),
	END_OF_METHODS
};
