/*
 * Fault injection. The language, as in SOFTHCA_FAULTS and softhca_fault:
 *
 *   rules := rule { ";" rule }        rule := point [ ":" item { "," item } ]       item := key "=" value | word
 *
 * Every rule counts the occurrences of its point since it was set: after=N skips the first N, count=M fires M times (default 1,
 * 0: for ever), n=K is short for after=K-1,count=1. README.md lists points and keys. The rule "clear" takes back all earlier
 * ones; "lost" stands for the rules of a device that the kernel has taken away.
 */
#ifndef SOFT_FAULT_H
#define SOFT_FAULT_H

#include "soft.h"

enum fault_point {
	FAULT_ALLOC_PD, FAULT_REG_MR, FAULT_CREATE_CQ, FAULT_CREATE_QP,	/* calls; errno= */
	FAULT_DEALLOC_PD, FAULT_DEREG_MR, FAULT_DESTROY_CQ, FAULT_DESTROY_QP,	/* likewise; the object stays */
	FAULT_LAST_CALL = FAULT_DESTROY_QP,
	FAULT_WC,		/* a request finishes successfully; status=, delay_ms=, op= */
	FAULT_QP_BREAK,		/* likewise: its queue pair breaks */
	FAULT_CORRUPT_READ,	/* a READ's bytes have arrived */
	FAULT_DROP_CONNECTION,	/* a connection is established; after_ms= */
	FAULT_CONNECT,		/* rdma_connect; refuse or ignore */
	FAULT_DIRECT,		/* a connection looks whether it can read the peer's memory; refuse */
	FAULT_CQ_OVERRUN,	/* a completion is added to a completion queue */
	FAULT_POINTS,
};

struct soft_fault {
	int error;
	enum ibv_wc_status status;
	uint64_t delay_ns;
	bool ignore;
};

/* Counts an occurrence. True: a rule fires; *fault (unless NULL) says how. */
bool soft_fault_hit(enum fault_point point, struct soft_fault *fault);

/* FAULT_WC for a request of the given kind. */
bool soft_fault_hit_wc(enum ibv_wc_opcode opcode, struct soft_fault *fault);

/* For calls: 0, or the errno to fail with. EINVAL always if SOFTHCA_FAULTS could not be read. */
int soft_fault_call(enum fault_point point);

/* Reads SOFTHCA_FAULTS. Called once, by soft_init. */
void soft_fault_read_environment(void);

/* Looks for SOFTHCA_FAULTS_FILE from now on, while the poller runs. soft_lock is held. */
void soft_fault_watch_file(void);

/* Adds rules, all or none: 0, or -EINVAL. "async:event=..." raises its event at once. */
EXPORT int softhca_fault(const char *rules);
EXPORT void softhca_fault_clear(void);

#endif
