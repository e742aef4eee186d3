/* RDMA READ from another process of this host: one copy by the kernel, checked before and after. */
#ifndef SOFT_DIRECT_H
#define SOFT_DIRECT_H

#include "soft_table.h"
#include <sys/uio.h>

enum direct_result {
	DIRECT_OK,
	DIRECT_ACCESS,		/* key, domain, bounds or rights are wrong, or changed while copying */
	DIRECT_INVALID,		/* the owner's queue pair grants no READ */
	DIRECT_GONE,		/* the owner's process or queue pair is gone */
	DIRECT_REFUSED,		/* the kernel does not let us read that process (any more) */
};

/* A READ in progress. Its slices must all see one generation of the region. */
struct direct_read {
	const struct soft_peer *peer;
	uint32_t qp_num, pd, key;
	uint64_t addr, len;		/* of the whole READ */
	uint64_t generation;		/* 0 before the first slice */
};

/*
 * Copies [addr + done, addr + done + bytes of sink) into the sink. On any result but DIRECT_OK the sink's content is undefined.
 * Called without soft_lock; the caller keeps the sink's regions pinned and holds a reference to the peer.
 */
enum direct_result soft_direct_read(struct direct_read *read, uint64_t done, const struct iovec *sink, int sinks);

#endif
