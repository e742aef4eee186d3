#include "soft_fault.h"
#include "ibv_async.h"
#include "ibv_device.h"
#include "rdma_id.h"
#include "soft_fork.h"
#include <fcntl.h>
#include <limits.h>

enum { MAX_RULES = 32, MAX_TEXT = 4096, ANY_OPCODE = -1, LOOK_EVERY_MS = 20 };

/* What the kernel answers once it has taken the device from its programs (ib_uverbs, disassociation). */
static const char lost[] = "alloc_pd:errno=EIO,count=0;reg_mr:errno=EIO,count=0;create_cq:errno=EIO,count=0;"
			   "create_qp:errno=EIO,count=0;dealloc_pd:count=0;dereg_mr:count=0;destroy_cq:count=0;"
			   "destroy_qp:count=0;async:event=DEVICE_FATAL";

struct rule {
	enum fault_point point;
	uint64_t after, count, seen, fired;
	int opcode;
	struct soft_fault fault;
	int async_event;		/* an ibv_event_type or DEVICE_REMOVAL; -1: an ordinary rule */
};

struct word {
	const char *text;
	int value;
};

static const struct word points[] = {
	{ "alloc_pd", FAULT_ALLOC_PD }, { "reg_mr", FAULT_REG_MR }, { "create_cq", FAULT_CREATE_CQ },
	{ "create_qp", FAULT_CREATE_QP }, { "dealloc_pd", FAULT_DEALLOC_PD }, { "dereg_mr", FAULT_DEREG_MR },
	{ "destroy_cq", FAULT_DESTROY_CQ }, { "destroy_qp", FAULT_DESTROY_QP }, { "cq_overrun", FAULT_CQ_OVERRUN }, { "wc", FAULT_WC }, { "qp_break", FAULT_QP_BREAK },
	{ "corrupt_read", FAULT_CORRUPT_READ }, { "drop_connection", FAULT_DROP_CONNECTION }, { "connect", FAULT_CONNECT },
	{ "direct", FAULT_DIRECT }, { "async", FAULT_POINTS }, { NULL, 0 },
};
static const struct word errors[] = {
	{ "ENOMEM", ENOMEM }, { "EFAULT", EFAULT }, { "EINVAL", EINVAL }, { "EPERM", EPERM }, { "EAGAIN", EAGAIN },
	{ "EIO", EIO }, { "ENODEV", ENODEV }, { "EBUSY", EBUSY }, { NULL, 0 },
};
static const struct word statuses[] = {
	{ "LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR }, { "LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR },
	{ "LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR }, { "WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR },
	{ "REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR }, { "REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR },
	{ "REM_OP_ERR", IBV_WC_REM_OP_ERR }, { "RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR },
	{ "RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR }, { "FATAL_ERR", IBV_WC_FATAL_ERR },
	{ "GENERAL_ERR", IBV_WC_GENERAL_ERR }, { NULL, 0 },
};
static const struct word opcodes[] = {
	{ "READ", IBV_WC_RDMA_READ }, { "WRITE", IBV_WC_RDMA_WRITE }, { "SEND", IBV_WC_SEND }, { "RECV", IBV_WC_RECV },
	{ NULL, 0 },
};
enum { DEVICE_REMOVAL = 1000 };		/* an event of the connection manager */
static const struct word async_events[] = {
	{ "PORT_ERR", IBV_EVENT_PORT_ERR }, { "PORT_ACTIVE", IBV_EVENT_PORT_ACTIVE },
	{ "DEVICE_FATAL", IBV_EVENT_DEVICE_FATAL }, { "DEVICE_REMOVAL", DEVICE_REMOVAL }, { NULL, 0 },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[MAX_RULES];
static _Atomic int rule_count;
static _Atomic bool environment_is_bad;

/* ---- reading ---- */

static bool look_up(const struct word *words, const char *text, int *value)
{
	for (; words->text; words++) {
		if (!strcmp(words->text, text)) {
			*value = words->value;
			return true;
		}
	}
	return false;
}

static bool read_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* Which keys a point knows is part of the language: a key where it means nothing is an error, not ignored. */
static bool read_special(struct rule *rule, const char *key, const char *value)
{
	int number;

	if (rule->point <= FAULT_LAST_CALL && !strcmp(key, "errno"))
		return look_up(errors, value, &rule->fault.error);
	if (rule->point == FAULT_WC && !strcmp(key, "status")) {
		bool ok = look_up(statuses, value, &number);

		rule->fault.status = (enum ibv_wc_status)(ok ? number : 0);
		return ok;
	}
	if (rule->point == FAULT_WC && !strcmp(key, "op"))
		return look_up(opcodes, value, &rule->opcode);
	if ((rule->point == FAULT_WC && !strcmp(key, "delay_ms")) ||
	    (rule->point == FAULT_DROP_CONNECTION && !strcmp(key, "after_ms"))) {
		bool ok = read_number(value, &rule->fault.delay_ns) && rule->fault.delay_ns <= 3600000;

		rule->fault.delay_ns *= SOFT_NS_PER_MS;
		return ok;
	}
	return rule->point == FAULT_POINTS && !strcmp(key, "event") && look_up(async_events, value, &rule->async_event);
}

static bool read_item(struct rule *rule, char *item)
{
	char *value = strchr(item, '=');

	if (!value) {
		rule->fault.ignore = rule->point == FAULT_CONNECT && !strcmp(item, "ignore");
		return rule->fault.ignore || ((rule->point == FAULT_CONNECT || rule->point == FAULT_DIRECT) && !strcmp(item, "refuse"));
	}
	*value++ = 0;
	if (!strcmp(item, "after"))
		return read_number(value, &rule->after);
	if (!strcmp(item, "count"))
		return read_number(value, &rule->count);
	if (!strcmp(item, "n")) {
		rule->count = 1;
		return read_number(value, &rule->after) && rule->after-- > 0;
	}
	return read_special(rule, item, value);
}

static bool read_rule(struct rule *rule, char *text)
{
	char *items = strchr(text, ':'), *save;
	int point;

	*rule = (struct rule){ .count = 1, .opcode = ANY_OPCODE, .async_event = -1, .fault.error = ENOMEM };
	if (items)
		*items++ = 0;
	if (!look_up(points, text, &point))
		return false;
	rule->point = (enum fault_point)point;
	if (point >= FAULT_DEALLOC_PD && point <= FAULT_LAST_CALL)
		rule->fault.error = EIO;
	for (char *item = items ? strtok_r(items, ",", &save) : NULL; item; item = strtok_r(NULL, ",", &save))
		if (!read_item(rule, item))
			return false;
	if (rule->point == FAULT_WC && rule->fault.status == IBV_WC_SUCCESS && !rule->fault.delay_ns)
		return false;				/* says neither what status nor what delay */
	return rule->point != FAULT_POINTS || rule->async_event >= 0;
}

/* The rules of the text, or -EINVAL. *clear: they take the place of those before. */
static int read_rules(const char *text, struct rule *out, int room, bool *clear)
{
	char copy[MAX_TEXT], *save;
	int n = 0, more;

	if (!text || strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	for (char *rule = strtok_r(copy, ";", &save); rule; rule = strtok_r(NULL, ";", &save), n += more) {
		if (!strcmp(rule, "clear")) {
			*clear = true;
			more = -n;
		} else if (!strcmp(rule, "lost")) {
			more = read_rules(lost, out + n, room - n, clear);
			if (more < 0)
				return more;
		} else {
			if (n == room || !read_rule(&out[n], rule))
				return -EINVAL;
			more = 1;
		}
	}
	return n;
}

static void raise_async(int event)
{
	if (event == IBV_EVENT_PORT_ERR)
		soft_device_port_state(IBV_PORT_DOWN);
	else if (event == IBV_EVENT_PORT_ACTIVE)
		soft_device_port_state(IBV_PORT_ACTIVE);
	if (event == DEVICE_REMOVAL)
		soft_id_device_removed();
	else if (!soft_async_open())
		soft_async_port((enum ibv_event_type)event);
}

static void obey(const char *name, const char *text)
{
	if (softhca_fault(text)) {
		fprintf(stderr, "softhca: %s: %s is not understood; the device refuses all calls (see its README)\n", name, text);
		environment_is_bad = true;
	}
}

void soft_fault_read_environment(void)
{
	const char *text = getenv("SOFTHCA_FAULTS");

	if (text)
		obey("SOFTHCA_FAULTS", text);
}

/* ---- the file, for processes that run already ---- */

static struct soft_timer next_look;

/* SOFTHCA_FAULTS_FILE with the process's number in place of the first %p. False: not set. */
static bool file_name(char *name, size_t bytes)
{
	const char *pattern = getenv("SOFTHCA_FAULTS_FILE"), *pid = pattern ? strstr(pattern, "%p") : NULL;

	if (!pattern || !*pattern)
		return false;
	if (pid)
		snprintf(name, bytes, "%.*s%d%s", (int)(pid - pattern), pattern, (int)getpid(), pid + 2);
	else
		snprintf(name, bytes, "%s", pattern);
	return true;
}

/* Obeys the file and deletes it, which tells whoever wrote it. False: it could not be deleted. */
static bool obey_file(const char *name)
{
	char text[MAX_TEXT];
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd < 0)
		return true;
	close(fd);
	text[n > 0 ? n : 0] = 0;
	text[strcspn(text, "\n")] = 0;
	obey(name, text);
	return !unlink(name);
}

static void look(struct soft_timer *timer)
{
	char name[PATH_MAX];
	bool again;

	soft_leave();
	again = file_name(name, sizeof(name)) && obey_file(name);
	soft_enter();
	if (again)
		soft_timer_set(timer, soft_now_ns() + LOOK_EVERY_MS * SOFT_NS_PER_MS, look);
}

void soft_fault_watch_file(void)
{
	if (getenv("SOFTHCA_FAULTS_FILE"))
		soft_timer_set(&next_look, soft_now_ns(), look);
}

int softhca_fault(const char *text)
{
	struct rule read[MAX_RULES];
	bool clear = false;
	int n = read_rules(text, read, MAX_RULES, &clear), have;

	if (n < 0)
		return n;
	pthread_mutex_lock(&lock);
	have = clear ? 0 : atomic_load(&rule_count);
	if (n > MAX_RULES - have)
		n = -EINVAL;
	for (int i = 0; i < n; i++)
		if (read[i].async_event < 0)
			rules[have++] = read[i];
	atomic_store(&rule_count, have);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		if (read[i].async_event >= 0)
			raise_async(read[i].async_event);
	return n < 0 ? n : 0;
}

void softhca_fault_clear(void)
{
	pthread_mutex_lock(&lock);
	atomic_store(&rule_count, 0);
	pthread_mutex_unlock(&lock);
}

/* Rules and their counts go on in the child. */
void soft_fault_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	memset(&next_look, 0, sizeof(next_look));
}

/* ---- firing ---- */

static bool rule_fires(struct rule *rule)
{
	if (++rule->seen <= rule->after || (rule->count && rule->fired == rule->count))
		return false;
	rule->fired++;
	return true;
}

static bool hit(enum fault_point point, int opcode, struct soft_fault *fault)
{
	bool fires = false;

	if (!atomic_load_explicit(&rule_count, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < atomic_load(&rule_count); i++) {
		struct rule *rule = &rules[i];

		if (rule->point != point || (rule->opcode != ANY_OPCODE && rule->opcode != opcode) || !rule_fires(rule))
			continue;
		if (!fires && fault)
			*fault = rule->fault;		/* all rules count, the first that fires decides */
		fires = true;
	}
	pthread_mutex_unlock(&lock);
	if (fires)
		soft_count(FAULTS_FIRED, 1);
	return fires;
}

bool soft_fault_hit(enum fault_point point, struct soft_fault *fault) { return hit(point, ANY_OPCODE, fault); }

bool soft_fault_hit_wc(enum ibv_wc_opcode opcode, struct soft_fault *fault) { return hit(FAULT_WC, (int)opcode, fault); }

int soft_fault_call(enum fault_point point)
{
	struct soft_fault fault;
	bool fires = soft_fault_hit(point, &fault);

	if (environment_is_bad)
		return EINVAL;
	return fires ? fault.error : 0;
}
