#include "ibv_mr.h"
#include "ibv_pd.h"
#include "soft_fault.h"
#include "soft_fork.h"
#include "soft_table.h"
#include <sched.h>
#include <sys/mman.h>
#undef ibv_reg_mr

/*
 * A key is the slot (16 bits) and the slot's use count (16 bits). Freed slots queue up behind all others, so a key returns only
 * after 2^32 registrations.
 */
struct slot {
	_Atomic uint32_t key;		/* 0: not registered */
	_Atomic uint32_t pins;
	uint16_t uses;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot slots[SOFT_MAX_MR];
static uint16_t freed[SOFT_MAX_MR];	/* ring of slots used before; fresh ones are taken in order first */
static uint32_t freed_head, freed_count, fresh = 1;	/* slot 0 stays unused: no key is 0 */
static uint64_t registered_bytes;

void soft_mr_forget_all(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(slots, 0, sizeof(slots));
	freed_head = freed_count = 0;
	fresh = 1;
	registered_bytes = 0;
}

static int slot_take(uint64_t len, uint32_t *index)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (len > soft_config()->memlock_bytes || registered_bytes > soft_config()->memlock_bytes - len)
		rc = ENOMEM;			/* as ibv_reg_mr does above RLIMIT_MEMLOCK */
	else if (fresh < SOFT_MAX_MR)
		*index = fresh++;
	else if (freed_count) {
		*index = freed[freed_head];
		freed_head = (freed_head + 1) % SOFT_MAX_MR;
		freed_count--;
	} else
		rc = ENOMEM;
	if (!rc)
		registered_bytes += len;
	pthread_mutex_unlock(&lock);
	return rc;
}

static void slot_give(uint32_t index, uint64_t len)
{
	pthread_mutex_lock(&lock);
	freed[(freed_head + freed_count++) % SOFT_MAX_MR] = (uint16_t)index;
	registered_bytes -= len;
	pthread_mutex_unlock(&lock);
}

static uint32_t publish(struct shared_table *table, uint32_t index, const struct ibv_mr *mr, uint32_t access)
{
	struct shared_mr *s = &table->mr[index];
	struct slot *slot = &slots[index];
	uint32_t key = (uint32_t)++slot->uses << 16 | index;

	atomic_store_explicit(&s->addr, (uintptr_t)mr->addr, memory_order_relaxed);
	atomic_store_explicit(&s->len, mr->length, memory_order_relaxed);
	atomic_store_explicit(&s->pd, mr->pd->handle, memory_order_relaxed);
	atomic_store_explicit(&s->access, access, memory_order_relaxed);
	atomic_store_explicit(&s->key, key, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->generation, 1, memory_order_release);	/* odd: registered */
	atomic_store(&slot->key, key);
	return key;
}

/* What ibv_reg_mr refuses before it looks for room. */
static int check(void *addr, size_t len, uint64_t iova, unsigned access)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)addr & ~(page - 1);

	if (iova != (uintptr_t)addr)
		return EOPNOTSUPP;
	if (!len || (uintptr_t)addr + len < (uintptr_t)addr)
		return EINVAL;
	/* ibv_reg_mr(3): remote write and atomic need local write. */
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	/* Does nothing but walk the mappings (msync(2), Linux): ENOMEM where a page of the range is not mapped. */
	if (msync((void *)first, (uintptr_t)addr + len - first, MS_ASYNC))
		return EFAULT;
	return soft_fault_call(FAULT_REG_MR);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access)
{
	struct shared_table *table;
	struct ibv_mr *mr = NULL;
	uint32_t index = 0;
	int rc;

	soft_init();
	table = soft_table_own();
	rc = table ? check(addr, len, iova, access) : errno;
	if (!rc && !(mr = calloc(1, sizeof(*mr))))
		rc = ENOMEM;
	if (!rc)
		rc = slot_take(len, &index);
	if (rc) {
		free(mr);
		errno = rc;
		return NULL;
	}
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = len;
	mr->handle = mr->lkey = mr->rkey = publish(table, index, mr, access);
	soft_pd_ref(pd);
	soft_count(LIVE_MRS, 1);
	soft_count(REGISTERED_BYTES, (int64_t)len);
	return mr;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

/* Our own threads hold a pin for one copy at most; EBUSY would mean a page that does not come (a dead file server). */
static int wait_for_pins(struct slot *slot)
{
	uint64_t deadline_ns = soft_now_ns() + 30000 * SOFT_NS_PER_MS;

	for (int spins = 0; atomic_load(&slot->pins); spins++) {
		if (spins < 100)
			sched_yield();
		else
			usleep(200);
		if (soft_now_ns() > deadline_ns)
			return EBUSY;
	}
	return 0;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	uint32_t index = mr->lkey % SOFT_MAX_MR;
	struct shared_mr *s = &soft_table_own()->mr[index];
	int rc = soft_fault_call(FAULT_DEREG_MR);

	if (rc)
		return rc;
	if (atomic_exchange(&slots[index].key, 0) == mr->lkey) {	/* else: called again after EBUSY */
		atomic_fetch_add(&s->generation, 1);			/* even: peers' copies no longer count */
		atomic_thread_fence(memory_order_seq_cst);		/* before anything the caller does to the memory */
	}
	rc = wait_for_pins(&slots[index]);
	if (rc)
		return rc;
	slot_give(index, mr->length);
	soft_pd_unref(mr->pd);
	soft_count(LIVE_MRS, -1);
	soft_count(REGISTERED_BYTES, -(int64_t)mr->length);
	free(mr);
	return 0;
}

bool soft_mr_pin(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access)
{
	struct slot *slot = &slots[key % SOFT_MAX_MR];
	struct shared_mr *s;
	uint64_t start, size;

	if (!key)
		return false;
	atomic_fetch_add(&slot->pins, 1);
	if (atomic_load(&slot->key) == key) {
		s = &soft_table_own()->mr[key % SOFT_MAX_MR];
		start = atomic_load_explicit(&s->addr, memory_order_relaxed);
		size = atomic_load_explicit(&s->len, memory_order_relaxed);
		if (atomic_load_explicit(&s->pd, memory_order_relaxed) == pd &&
		    (atomic_load_explicit(&s->access, memory_order_relaxed) & access) == access &&
		    addr >= start && len <= size && addr - start <= size - len)
			return true;
	}
	soft_mr_unpin(key);
	return false;
}

void soft_mr_unpin(uint32_t key)
{
	atomic_fetch_sub(&slots[key % SOFT_MAX_MR].pins, 1);
}

bool soft_mr_pin_all(const struct ibv_sge *sge, int sges, uint32_t pd, uint32_t access)
{
	for (int i = 0; i < sges; i++) {
		if (sge[i].length && !soft_mr_pin(sge[i].lkey, pd, sge[i].addr, sge[i].length, access)) {
			soft_mr_unpin_all(sge, i);
			return false;
		}
	}
	return true;
}

void soft_mr_unpin_all(const struct ibv_sge *sge, int sges)
{
	for (int i = 0; i < sges; i++)
		if (sge[i].length)
			soft_mr_unpin(sge[i].lkey);
}
