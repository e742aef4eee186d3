/* Memory regions of this process: registration, and pins for the time one of our own threads touches the memory. */
#ifndef IBV_MR_H
#define IBV_MR_H

#include "soft.h"

/*
 * Checks key, protection domain, bounds and rights, and keeps ibv_dereg_mr from returning until the unpin. Pins are held for
 * one copy or one system call that does not block, never while waiting. Any thread; no lock needed.
 */
bool soft_mr_pin(uint32_t key, uint32_t pd, uint64_t addr, uint64_t len, uint32_t access);
void soft_mr_unpin(uint32_t key);

/* The same for a scatter list; zero-length entries need no key. All or nothing. */
bool soft_mr_pin_all(const struct ibv_sge *sge, int sges, uint32_t pd, uint32_t access);
void soft_mr_unpin_all(const struct ibv_sge *sge, int sges);

#endif
