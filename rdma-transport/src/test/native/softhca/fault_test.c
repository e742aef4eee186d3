/* The fault language, its points, and the limits a program is told about. */
#include "harness.h"
#include <poll.h>
#include <time.h>

static void idle(struct end *e) { (void)e; }

static struct ibv_pd *fresh_pd(struct end *e)
{
	open_channel(e);
	resolve(e, 1);
	return p_ibv_alloc_pd(e->id->verbs);
}

static void wordsThatAreNotTheLanguageAreRefused(struct end *e)
{
	static const char *const wrong[] = {
		"nonsense", "reg_mr:errno=EWHAT", "reg_mr:after=-1", "reg_mr:after=", "reg_mr:after=1x", "reg_mr:status=REM_ACCESS_ERR",
		"wc", "wc:n=0,status=REM_ACCESS_ERR", "wc:n=1", "wc:status=SUCCESS", "connect:maybe", "async", "async:event=CQ_ERR",
		"reg_mr;nonsense", "qp_break:delay_ms=3", "lost:count=1", "clear:n=1", "dereg_mr:status=FATAL_ERR", "destroy_id", "drop_connection:after_ms=99999999"
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (p_softhca_fault(wrong[i]) != -EINVAL)
			fprintf(stderr, "# %s was taken\n", wrong[i]);
		CHECK(p_softhca_fault(wrong[i]) == -EINVAL);
	}
	CHECK(p_softhca_fault(NULL) == -EINVAL && p_softhca_fault("reg_mr:count") == -EINVAL);
	CHECK(counter("faults_fired") == 0);
	(void)e;
}

static void tooManyRulesAreRefused(struct end *e)
{
	for (int i = 0; i < 32; i++)
		CHECK(!p_softhca_fault("reg_mr"));
	CHECK(p_softhca_fault("reg_mr") == -EINVAL);
	p_softhca_fault_clear();
	CHECK(!p_softhca_fault("reg_mr"));
	(void)e;
}

static void registrationsFailAsTold(struct end *e)
{
	struct ibv_pd *pd = fresh_pd(e);
	struct ibv_mr *mr[6];

	CHECK(!p_softhca_fault("reg_mr:errno=EFAULT,after=2,count=2"));
	e->buffer = malloc(4096);
	for (int i = 0; i < 6; i++) {
		errno = 0;
		mr[i] = p_ibv_reg_mr(pd, e->buffer, 4096, 0);
		CHECK(i == 2 || i == 3 ? !mr[i] && errno == EFAULT : mr[i] != NULL);
	}
	for (int i = 0; i < 6; i++)
		CHECK(!mr[i] || !p_ibv_dereg_mr(mr[i]));
	CHECK(counter("faults_fired") == 2);
	CHECK(!p_ibv_dealloc_pd(pd));
	close_end(e);
}

static void rulesFromTheEnvironmentHold(struct end *e)
{
	struct ibv_pd *pd = fresh_pd(e);

	e->buffer = malloc(4096);
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 4096, 0) && errno == ENOMEM);
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 4096, 0) && errno == ENOMEM);
	p_softhca_fault_clear();
	CHECK(!p_ibv_dereg_mr(p_ibv_reg_mr(pd, e->buffer, 4096, 0)));
	CHECK(!p_ibv_dealloc_pd(pd));
	close_end(e);
}

static void unreadableEnvironmentMakesTheDeviceUseless(struct end *e)
{
	open_channel(e);
	resolve(e, 1);
	CHECK(!p_ibv_alloc_pd(e->id->verbs) && errno == EINVAL);
	close_end(e);
}

static void memlockLimitIsKept(struct end *e)
{
	struct ibv_pd *pd = fresh_pd(e);
	struct ibv_mr *a, *b;

	e->buffer = malloc(8 << 20);
	CHECK((a = p_ibv_reg_mr(pd, e->buffer, 600000, 0)));
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 400001, 0) && errno == ENOMEM);
	CHECK((b = p_ibv_reg_mr(pd, e->buffer, 400000, 0)));
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 1, 0) && errno == ENOMEM);
	CHECK(!p_ibv_dereg_mr(a));
	CHECK((a = p_ibv_reg_mr(pd, e->buffer, 600000, 0)));
	CHECK(counter("registered_bytes") == 1000000);
	CHECK(p_ibv_dealloc_pd(pd) == EBUSY);
	CHECK(!p_ibv_dereg_mr(a) && !p_ibv_dereg_mr(b) && !p_ibv_dealloc_pd(pd));
	close_end(e);
}

static void badRegistrationsAreRefused(struct end *e)
{
	struct ibv_pd *pd = fresh_pd(e);

	e->buffer = malloc(4096);
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 0, 0) && errno == EINVAL);
	CHECK(!p_ibv_reg_mr(pd, e->buffer, SIZE_MAX, 0) && errno == EINVAL);
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 4096, IBV_ACCESS_REMOTE_WRITE) && errno == EINVAL);
	CHECK(!p_ibv_reg_mr(pd, (void *)4096, 4096, 0) && errno == EFAULT);
	CHECK(!p_ibv_dealloc_pd(pd));
	close_end(e);
}

static void keysDoNotComeBackSoon(struct end *e)
{
	enum { ROUNDS = 200000 };
	struct ibv_pd *pd = fresh_pd(e);
	uint8_t *seen = calloc(1ULL << 32 >> 3, 1);

	CHECK(seen);
	e->buffer = malloc(4096);
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_mr *mr = p_ibv_reg_mr(pd, e->buffer, 4096, 0);

		CHECK(mr && !(seen[mr->rkey >> 3] & 1 << (mr->rkey & 7)));
		seen[mr->rkey >> 3] |= (uint8_t)(1 << (mr->rkey & 7));
		CHECK(!p_ibv_dereg_mr(mr));
	}
	free(seen);
	CHECK(!p_ibv_dealloc_pd(pd));
	close_end(e);
}

static void deviceLooksLikeRoce(struct end *e)
{
	struct ibv_port_attr port = { 0 };
	struct ibv_device_attr device;
	union ibv_gid gid;

	open_channel(e);
	resolve(e, 1);
	CHECK(!strcmp(e->id->verbs->device->name, "soft0"));
	CHECK(!p_ibv_query_device(e->id->verbs, &device) && device.phys_port_cnt == 1 && device.max_qp_rd_atom == 16);
	CHECK(!p_ibv_query_port(e->id->verbs, 1, (struct _compat_ibv_port_attr *)&port));
	CHECK(port.state == IBV_PORT_ACTIVE && port.link_layer == IBV_LINK_LAYER_ETHERNET && !port.lid);
	CHECK(p_ibv_query_port(e->id->verbs, 2, (struct _compat_ibv_port_attr *)&port) == EINVAL);
	CHECK(!p_ibv_query_gid(e->id->verbs, 1, 0, &gid));
	CHECK(gid.raw[0] == 0 && gid.raw[9] == 0 && gid.raw[10] == 0xff && gid.raw[11] == 0xff && gid.raw[12]);
	close_end(e);
}

static void portEventsAreRaised(struct end *e)
{
	struct ibv_port_attr port = { 0 };
	struct ibv_async_event event;

	open_channel(e);
	resolve(e, 1);
	CHECK(!p_softhca_fault("async:event=PORT_ERR"));
	CHECK(!p_ibv_get_async_event(e->id->verbs, &event));
	CHECK(event.event_type == IBV_EVENT_PORT_ERR && event.element.port_num == 1);
	p_ibv_ack_async_event(&event);
	CHECK(!p_ibv_query_port(e->id->verbs, 1, (struct _compat_ibv_port_attr *)&port) && port.state == IBV_PORT_DOWN);
	CHECK(!p_softhca_fault("async:event=PORT_ACTIVE"));
	CHECK(!p_ibv_get_async_event(e->id->verbs, &event) && event.event_type == IBV_EVENT_PORT_ACTIVE);
	p_ibv_ack_async_event(&event);
	CHECK(!p_ibv_query_port(e->id->verbs, 1, (struct _compat_ibv_port_attr *)&port) && port.state == IBV_PORT_ACTIVE);
	close_end(e);
}

static void destroyingFailsAsToldAndWorksAfterwards(struct end *e)
{
	struct ibv_qp *qp;

	open_channel(e);
	resolve(e, 1);
	make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	qp = e->id->qp;
	CHECK(!p_softhca_fault("dereg_mr;dealloc_pd:errno=EBUSY;destroy_cq:after=1;destroy_qp:count=2"));
	CHECK(p_ibv_dereg_mr(e->local) == EIO && counter("live_mrs") == 4);
	CHECK(p_ibv_dealloc_pd(e->pd2) == EBUSY && counter("live_pds") == 2);
	CHECK(p_ibv_destroy_qp(qp) == EIO && e->id->qp == qp);
	p_rdma_destroy_qp(e->id);
	CHECK(!e->id->qp && counter("live_qps") == 1);	/* fails, and does not tell */
	CHECK(p_ibv_destroy_cq(e->cq) == EBUSY);		/* for the queue pair is still there */
	CHECK(!p_ibv_destroy_qp(qp));
	CHECK(p_ibv_destroy_cq(e->cq) == EIO && counter("live_cqs") == 1);
	CHECK(counter("faults_fired") == 5);
	close_end(e);
}

static void expect_async(struct end *e, enum ibv_event_type type)
{
	struct pollfd p = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	CHECK(poll(&p, 1, 10000) == 1 && !p_ibv_get_async_event(e->id->verbs, &event));
	CHECK(event.event_type == type);
	p_ibv_ack_async_event(&event);
}

static void lostDeviceLetsNothingGo(struct end *e)
{
	struct ibv_qp *qp;

	open_channel(e);
	resolve(e, 1);
	make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	qp = e->id->qp;
	CHECK(!p_softhca_fault("lost"));
	expect_async(e, IBV_EVENT_DEVICE_FATAL);
	for (int i = 0; i < 3; i++) {
		CHECK(p_ibv_dereg_mr(e->local) == EIO && p_ibv_dealloc_pd(e->pd2) == EIO);
		CHECK(p_ibv_destroy_cq(e->cq) == EIO && p_ibv_destroy_qp(qp) == EIO);
		errno = 0;
		CHECK(!p_ibv_alloc_pd(e->id->verbs) && errno == EIO);
		CHECK(!p_ibv_reg_mr(e->pd, e->buffer, 4096, 0) && errno == EIO);
		CHECK(!p_ibv_create_cq(e->id->verbs, 1, NULL, NULL, 0) && errno == EIO);
	}
	CHECK(counter("live_mrs") == 4 && counter("live_pds") == 2 && counter("live_cqs") == 1 && counter("live_qps") == 1);
	CHECK(!p_softhca_fault("clear"));
	p_rdma_destroy_qp(e->id);
	close_end(e);
}

static void removalIsToldToEachId(struct end *e)
{
	open_channel(e);
	listen_on(e);
	resolve(e, 1);
	CHECK(!p_softhca_fault("async:event=DEVICE_REMOVAL"));
	for (int i = 0; i < 2; i++)
		take_event(e, RDMA_CM_EVENT_DEVICE_REMOVAL);
	close_end(e);
}

/* For the file, which the test before this process names with %p. */
static void write_rules(const char *rules)
{
	char name[64], other[80];
	FILE *file;

	snprintf(name, sizeof(name), "/tmp/softhca-faults.%d.txt", (int)getpid());
	snprintf(other, sizeof(other), "%s.new", name);
	CHECK((file = fopen(other, "w")));
	CHECK(fprintf(file, "%s\n", rules) > 0 && !fclose(file));
	CHECK(!rename(other, name));
	for (int i = 0; !access(name, F_OK); i++) {
		CHECK(i < 10000);
		usleep(1000);
	}
}

static void rulesFromAFileBeginAndEndWhileRunning(struct end *e)
{
	struct ibv_pd *pd = fresh_pd(e);
	struct ibv_mr *mr;

	e->buffer = malloc(4096);
	CHECK((mr = p_ibv_reg_mr(pd, e->buffer, 4096, 0)));
	write_rules("lost");
	expect_async(e, IBV_EVENT_DEVICE_FATAL);
	CHECK(p_ibv_dereg_mr(mr) == EIO);
	write_rules("dereg_mr:errno=EPERM;clear");
	CHECK(!p_ibv_dereg_mr(mr));
	write_rules("reg_mr:errno=EPERM");
	CHECK(!p_ibv_reg_mr(pd, e->buffer, 4096, 0) && errno == EPERM);
	CHECK(!p_ibv_dealloc_pd(pd));
	close_end(e);
}

/* ---- on a connection ---- */

static void overrunBreaksQueueAndPair(struct end *e)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	CHECK(!p_softhca_fault("cq_overrun:n=2"));
	CHECK(!read_peer(e, 0, 1000, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	CHECK(!read_peer(e, 0, 1000, 2));
	for (int i = 0; ibv_poll_cq(e->cq, 1, &wc) >= 0; i++) {
		CHECK(i < 10000);
		usleep(1000);
	}
	CHECK(!p_ibv_get_async_event(e->id->verbs, &event));
	CHECK(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == e->cq);
	p_ibv_ack_async_event(&event);
	expect_async(e, IBV_EVENT_QP_FATAL);
}

static void completionFailsAsTold(struct end *e)
{
	CHECK(!p_softhca_fault("wc:n=3,op=READ,status=REM_ACCESS_ERR"));
	for (uint64_t i = 0; i < 5; i++)
		read_peer(e, i * 1000, 1000, i);
	want_wc(e->cq, 0, IBV_WC_SUCCESS);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	want_wc(e->cq, 2, IBV_WC_REM_ACCESS_ERR);
	want_wc(e->cq, 3, IBV_WC_WR_FLUSH_ERR);
	want_wc(e->cq, 4, IBV_WC_WR_FLUSH_ERR);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void delayedCompletionHoldsBackThoseBehindIt(struct end *e)
{
	uint64_t start_ms = now_ms();

	CHECK(!p_softhca_fault("wc:n=2,delay_ms=200"));
	for (uint64_t i = 0; i < 4; i++)
		CHECK(!read_peer(e, i * 1000, 1000, i));
	want_wc(e->cq, 0, IBV_WC_SUCCESS);
	for (uint64_t i = 1; i < 4; i++) {
		want_wc(e->cq, i, IBV_WC_SUCCESS);
		CHECK(now_ms() - start_ms >= 199);
	}
}

static void pairBreaksAsTold(struct end *e)
{
	struct pollfd p = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	CHECK(!p_softhca_fault("qp_break:after=2"));
	post_recv(e, e->buffer, 64, 9);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK(!read_peer(e, i * 1000, 1000, i));
		want_wc(e->cq, i, IBV_WC_SUCCESS);
	}
	want_wc(e->cq, 9, IBV_WC_WR_FLUSH_ERR);
	CHECK(poll(&p, 1, 10000) == 1 && !p_ibv_get_async_event(e->id->verbs, &event));
	CHECK(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == e->id->qp);
	p_ibv_ack_async_event(&event);
}

static void connectionDropsAsTold(struct end *e)
{
	post_recv(e, e->buffer, 64, 9);
	want_wc(e->cq, 9, IBV_WC_WR_FLUSH_ERR);
	take_event(e, RDMA_CM_EVENT_DISCONNECTED);
}

static void readIsCorruptedAsTold(struct end *e)
{
	CHECK(!p_softhca_fault("corrupt_read:n=2"));
	for (uint64_t i = 0; i < 3; i++) {
		int wrong = 0;

		CHECK(!read_peer(e, 0, 50000, i));
		want_wc(e->cq, i, IBV_WC_SUCCESS);
		for (uint64_t j = 0; j < 50000; j++)
			wrong += e->buffer[j] != pattern(j);
		CHECK(wrong == (i == 1));
	}
}

static void refusedDirectAccessLeavesTheSocket(struct end *e)
{
	CHECK(!read_peer(e, 0, 500000, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	for (uint64_t j = 0; j < 500000; j++)
		CHECK(e->buffer[j] == pattern(j));
	CHECK(counter("reads_socket") == 1 && counter("reads_direct") == 0);
}

static void connectsFailAsTold(struct end *e)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_event *event;

	open_channel(e);
	CHECK(!p_softhca_fault("connect:refuse,n=1;connect:ignore,n=2"));
	for (int i = 0; i < 2; i++) {
		resolve(e, 1);
		if (!i)
			make_memory(e, e->id->verbs);
		make_qp(e, e->id);
		CHECK(!p_rdma_connect(e->id, &param));
		event = next_event(e, i ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED);
		CHECK(event->status == (i ? -ETIMEDOUT : 8));
		p_rdma_ack_cm_event(event);
		p_rdma_destroy_qp(e->id);
		CHECK(!p_rdma_destroy_id(e->id));
	}
	e->id = NULL;
	close_end(e);
}

#define ALONE(f) { .name = #f, .client = f, .alone = true }
#define BOTH(f) { .name = #f " (direct)", .server = idle, .client = f }, \
	{ .name = #f " (socket)", .server = idle, .client = f, .environment = "SOFTHCA_DIRECT=0" }

int main(void)
{
	static const struct test tests[] = {
		ALONE(wordsThatAreNotTheLanguageAreRefused),
		ALONE(tooManyRulesAreRefused),
		ALONE(registrationsFailAsTold),
		{ .name = "rulesFromTheEnvironmentHold", .client = rulesFromTheEnvironmentHold, .alone = true,
		  .environment = "SOFTHCA_FAULTS=reg_mr:count=0" },
		{ .name = "unreadableEnvironmentMakesTheDeviceUseless", .client = unreadableEnvironmentMakesTheDeviceUseless,
		  .alone = true, .environment = "SOFTHCA_FAULTS=reg_mrs" },
		{ .name = "memlockLimitIsKept", .client = memlockLimitIsKept, .alone = true, .environment = "SOFTHCA_MEMLOCK=1000000" },
		ALONE(badRegistrationsAreRefused),
		ALONE(keysDoNotComeBackSoon),
		ALONE(deviceLooksLikeRoce),
		ALONE(portEventsAreRaised),
		ALONE(destroyingFailsAsToldAndWorksAfterwards),
		ALONE(lostDeviceLetsNothingGo),
		ALONE(removalIsToldToEachId),
		{ .name = "rulesFromAFileBeginAndEndWhileRunning", .client = rulesFromAFileBeginAndEndWhileRunning, .alone = true,
		  .environment = "SOFTHCA_FAULTS_FILE=/tmp/softhca-faults.%p.txt" },
		BOTH(overrunBreaksQueueAndPair),
		BOTH(completionFailsAsTold),
		BOTH(delayedCompletionHoldsBackThoseBehindIt),
		BOTH(pairBreaksAsTold),
		{ .name = "connectionDropsAsTold", .server = idle, .client = connectionDropsAsTold,
		  .environment = "SOFTHCA_FAULTS=drop_connection:after_ms=100" },
		BOTH(readIsCorruptedAsTold),
		{ .name = "refusedDirectAccessLeavesTheSocket", .server = idle, .client = refusedDirectAccessLeavesTheSocket,
		  .environment = "SOFTHCA_FAULTS=direct:refuse" },
		{ .name = "connectsFailAsTold", .client = connectsFailAsTold, .alone = true,
		  .environment = "SOFTHCA_CONNECT_TIMEOUT_MS=300" },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
