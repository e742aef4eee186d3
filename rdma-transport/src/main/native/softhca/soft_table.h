/*
 * The region table of a process, shared read-only with the peers on its host.
 *
 * It lies in a memfd that a peer opens through /proc/PID/fd/N, which takes the same right as process_vm_readv and leaves nothing
 * behind. A peer checks key, protection domain, bounds and rights itself, so that a READ never wakes the owner, copies, and
 * looks again: every entry carries a 64-bit generation, odd while the region is registered, that deregistration raises before
 * it returns. A copy between two looks at the same odd generation saw the registered memory, whatever happened to the key or
 * the slot in between cannot give the old generation back. Peers write nothing, so a peer that dies leaves nothing to wait for.
 */
#ifndef SOFT_TABLE_H
#define SOFT_TABLE_H

#include "soft.h"

enum { SOFT_TABLE_MAGIC = 0x73686361, SOFT_TABLE_VERSION = 3 };

struct shared_mr {
	_Atomic uint64_t generation;
	_Atomic uint64_t addr, len;
	_Atomic uint32_t key, pd, access, reserved;
};

/* qp_num << 32 | SHARED_QP_LIVE | the access flags peers have; 0: none. */
struct shared_qp {
	_Atomic uint64_t word;
};
enum { SHARED_QP_LIVE = 1 << 16, SHARED_QP_ACCESS = 0xffff };

struct shared_table {
	uint32_t magic, version;
	uint64_t id;			/* random */
	struct shared_qp qp[SOFT_MAX_QP];
	struct shared_mr mr[SOFT_MAX_MR];
};

/*
 * What a peer needs to reach this process; travels in the connection set-up. The nonce is a random number that only this process
 * has at that address: it lies outside the table, which other processes map, and a forked child finds zeros there.
 */
struct table_address {
	uint64_t nonce, nonce_addr, table_id;
	int32_t pid, fd;
};

/* This process's table, made on first use. NULL: errno. */
struct shared_table *soft_table_own(void);
void soft_table_close(void);	/* with no object left and nothing else running */
bool soft_table_address(struct table_address *address);

/* Another process's table, shared by all connections to it. */
struct soft_peer {
	struct soft_peer *next;
	int users;
	struct table_address address;
	const struct shared_table *table;
};

/*
 * Maps the table at the address. NULL when that process's memory cannot be reached from here: another host or container, a
 * kernel that refuses, or a pid that means somebody else. soft_lock is held for all three.
 */
struct soft_peer *soft_peer_open(const struct table_address *address);
struct soft_peer *soft_peer_ref(struct soft_peer *peer);
void soft_peer_close(struct soft_peer *peer);

#endif
