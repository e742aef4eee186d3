/* Settings from the environment. A value that is no number is reported and the default kept. */
#include "soft.h"

static struct soft_config config;

static uint64_t number(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	unsigned long long value;
	char *end;

	if (!text || !*text)
		return fallback;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end || errno || *text == '-') {
		fprintf(stderr, "softhca: %s=%s is not a number, using %llu\n", name, text, (unsigned long long)fallback);
		return fallback;
	}
	return value;
}

static uint64_t milliseconds(const char *name, uint64_t fallback)
{
	uint64_t ms = number(name, fallback);

	return (ms > 3600000 ? 3600000 : ms) * SOFT_NS_PER_MS;
}

static void read_environment(void)
{
	config.direct = number("SOFTHCA_DIRECT", 1) != 0;
	config.quiet = number("SOFTHCA_QUIET", 0) != 0;
	config.inline_max_bytes = number("SOFTHCA_INLINE_MAX", 16 << 10);
	config.memlock_bytes = number("SOFTHCA_MEMLOCK", UINT64_MAX);
	config.connect_grace_ns = milliseconds("SOFTHCA_CONNECT_GRACE_MS", 100);
	config.connect_timeout_ns = milliseconds("SOFTHCA_CONNECT_TIMEOUT_MS", 15000);
	config.ack_timeout_ns = milliseconds("SOFTHCA_ACK_TIMEOUT_MS", 1000);
	config.rnr_timer_ns = milliseconds("SOFTHCA_RNR_TIMER_MS", 100);
}

const struct soft_config *soft_config(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
	return &config;
}
