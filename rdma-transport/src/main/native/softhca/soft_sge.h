/* A byte range of a scatter/gather list. */
#ifndef SOFT_SGE_H
#define SOFT_SGE_H

#include "soft.h"
#include <sys/uio.h>

/* Writes the pieces of [offset, offset + bytes) to out, which has room for as many as the list; returns their number. */
static inline int soft_sge_slice(const struct ibv_sge *sge, int sges, uint64_t offset, uint64_t bytes, struct ibv_sge *out)
{
	int n = 0;

	for (int i = 0; i < sges && bytes; i++) {
		uint64_t take;

		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		take = sge[i].length - offset < bytes ? sge[i].length - offset : bytes;
		out[n++] = (struct ibv_sge){ sge[i].addr + offset, (uint32_t)take, sge[i].lkey };
		offset = 0;
		bytes -= take;
	}
	return n;
}

static inline int soft_sge_to_iov(const struct ibv_sge *sge, int sges, struct iovec *iov)
{
	for (int i = 0; i < sges; i++)
		iov[i] = (struct iovec){ (void *)(uintptr_t)sge[i].addr, sge[i].length };
	return sges;
}

#endif
