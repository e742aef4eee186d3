#include "ibv_pd.h"
#include "ibv_device.h"
#include "soft_fault.h"

struct soft_pd {
	struct ibv_pd v;
	_Atomic int users;
};

static struct soft_pd *to_pd(struct ibv_pd *v) { return container_of(v, struct soft_pd, v); }

uint32_t soft_new_handle(void)
{
	static _Atomic uint32_t last;

	return atomic_fetch_add(&last, 1) + 1;
}

static struct soft_pd *new_pd(struct ibv_context *context)
{
	struct soft_pd *pd = calloc(1, sizeof(*pd));

	if (pd) {
		pd->v.context = context;
		pd->v.handle = soft_new_handle();
	}
	return pd;
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct soft_pd *pd = NULL;
	int rc = soft_fault_call(FAULT_ALLOC_PD);

	if (!rc && soft_count_of(LIVE_PDS) >= SOFT_MAX_PD)
		rc = ENOMEM;
	if (!rc && !(pd = new_pd(context)))
		rc = ENOMEM;
	if (rc) {
		errno = rc;
		return NULL;
	}
	soft_count(LIVE_PDS, 1);
	return &pd->v;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *v)
{
	int rc = soft_fault_call(FAULT_DEALLOC_PD);

	if (rc || atomic_load(&to_pd(v)->users))
		return rc ? rc : EBUSY;
	free(to_pd(v));
	soft_count(LIVE_PDS, -1);
	return 0;
}

void soft_pd_ref(struct ibv_pd *pd) { atomic_fetch_add(&to_pd(pd)->users, 1); }
void soft_pd_unref(struct ibv_pd *pd) { atomic_fetch_sub(&to_pd(pd)->users, 1); }

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_pd *default_pd;

struct ibv_pd *soft_pd_default(void)
{
	struct soft_pd *pd;

	pthread_mutex_lock(&default_lock);
	if (!default_pd)
		default_pd = new_pd(&soft_context);
	pd = default_pd;
	pthread_mutex_unlock(&default_lock);
	return pd ? &pd->v : NULL;
}

void soft_pd_close(void)
{
	free(default_pd);
	default_pd = NULL;
}
