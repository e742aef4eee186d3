/*
 * One call of process_vm_readv copies the data and, behind it, the owner's nonce. The kernel looks the process up once per
 * call, so a right nonce proves that all bytes of the call came from the process the connection was made with: a recycled pid
 * or an execve has other memory. The generation of the region is compared after the copy (soft_table.h says why that suffices).
 */
#include "soft_direct.h"

static bool look(struct direct_read *r)
{
	const struct shared_mr *mr = &r->peer->table->mr[r->key % SOFT_MAX_MR];
	uint64_t generation = atomic_load_explicit(&mr->generation, memory_order_acquire);
	uint64_t addr = atomic_load_explicit(&mr->addr, memory_order_relaxed);
	uint64_t len = atomic_load_explicit(&mr->len, memory_order_relaxed);

	if (r->generation)
		return generation == r->generation;
	if (!(generation & 1) || atomic_load_explicit(&mr->key, memory_order_relaxed) != r->key ||
	    atomic_load_explicit(&mr->pd, memory_order_relaxed) != r->pd ||
	    !(atomic_load_explicit(&mr->access, memory_order_relaxed) & IBV_ACCESS_REMOTE_READ) ||
	    r->addr < addr || r->len > len || r->addr - addr > len - r->len)
		return false;
	r->generation = generation;	/* the look after the copy finds out if the fields changed while they were read */
	return true;
}

static enum direct_result look_at_qp(const struct direct_read *r)
{
	const struct shared_qp *qp = &r->peer->table->qp[r->qp_num % SOFT_MAX_QP];
	uint64_t word = atomic_load_explicit(&qp->word, memory_order_acquire);

	if (word >> 32 != r->qp_num || !(word & SHARED_QP_LIVE))
		return DIRECT_GONE;
	return word & IBV_ACCESS_REMOTE_READ ? DIRECT_OK : DIRECT_INVALID;
}

static enum direct_result copy(struct direct_read *r, uint64_t done, const struct iovec *sink, int sinks)
{
	uint64_t nonce = 0;
	struct iovec to[SOFT_MAX_SGE + 1], from[2];
	size_t bytes = 0;
	ssize_t n;

	for (int i = 0; i < sinks; i++) {
		to[i] = sink[i];
		bytes += sink[i].iov_len;
	}
	to[sinks] = (struct iovec){ &nonce, sizeof(nonce) };
	from[0] = (struct iovec){ (void *)(uintptr_t)(r->addr + done), bytes };
	from[1] = (struct iovec){ (void *)(uintptr_t)r->peer->address.nonce_addr, sizeof(nonce) };
	n = process_vm_readv(r->peer->address.pid, to, (unsigned long)sinks + 1, from, 2, 0);
	if (n < 0 && errno == ESRCH)
		return DIRECT_GONE;
	if (n < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES))
		return DIRECT_REFUSED;
	/* A short count: memory behind the end of a file or unmapped (process_vm_readv(2), "partial transfers"). */
	return n == (ssize_t)(bytes + sizeof(nonce)) && nonce == r->peer->address.nonce ? DIRECT_OK : DIRECT_ACCESS;
}

enum direct_result soft_direct_read(struct direct_read *r, uint64_t done, const struct iovec *sink, int sinks)
{
	enum direct_result result = look_at_qp(r);

	if (result != DIRECT_OK)
		return result;
	if (!look(r))
		return DIRECT_ACCESS;
	result = copy(r, done, sink, sinks);
	if (result != DIRECT_OK)
		return result;
	atomic_thread_fence(memory_order_acquire);	/* the looks below must not move before the copy */
	if (!look(r)) {
		soft_count(RACES_DETECTED, 1);
		return DIRECT_ACCESS;
	}
	return look_at_qp(r);
}
