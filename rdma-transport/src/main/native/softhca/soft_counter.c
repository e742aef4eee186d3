/* Counters by name, for tests that assert what happened and that nothing is left. */
#include "soft.h"
#include "soft_fork.h"

static const char *const names[SOFT_COUNTERS] = {
	[LIVE_PDS] = "live_pds", [LIVE_MRS] = "live_mrs", [LIVE_CQS] = "live_cqs",
	[LIVE_COMP_CHANNELS] = "live_comp_channels", [LIVE_QPS] = "live_qps", [LIVE_IDS] = "live_ids",
	[LIVE_EVENT_CHANNELS] = "live_event_channels", [LIVE_PEERS] = "live_peers", [LIVE_THREADS] = "live_threads",
	[REGISTERED_BYTES] = "registered_bytes", [READS_DIRECT] = "reads_direct", [READS_SOCKET] = "reads_socket",
	[READ_BYTES_DIRECT] = "read_bytes_direct", [READ_BYTES_SOCKET] = "read_bytes_socket", [WRITES] = "writes",
	[SENDS] = "sends", [RECVS] = "recvs", [COMPLETIONS] = "completions", [COMPLETION_ERRORS] = "completion_errors",
	[READS_SERVED] = "reads_served", [RACES_DETECTED] = "races_detected", [FAULTS_FIRED] = "faults_fired",
};

static _Atomic int64_t values[SOFT_COUNTERS];

void soft_count(enum soft_counter counter, int64_t delta)
{
	atomic_fetch_add_explicit(&values[counter], delta, memory_order_relaxed);
}

int64_t soft_count_of(enum soft_counter counter)
{
	return atomic_load_explicit(&values[counter], memory_order_relaxed);
}

int64_t softhca_counter(const char *name)
{
	for (int i = 0; name && i < SOFT_COUNTERS; i++)
		if (!strcmp(name, names[i]))
			return soft_count_of(i);
	return -1;
}

void soft_counter_forget(void)
{
	for (int i = 0; i < SOFT_COUNTERS; i++)
		atomic_store(&values[i], 0);
}
