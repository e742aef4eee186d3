#include "harness.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define DEFINE(f) typeof(f) *p_##f;
LIBRARY_FUNCTIONS(DEFINE)
int64_t (*p_softhca_counter)(const char *);
int (*p_softhca_fault)(const char *);
void (*p_softhca_fault_clear)(void);
int (*p_softhca_close)(void);

enum { DEADLINE_MS = 20000, TEST_DEADLINE_S = 60 };

#ifdef __SANITIZE_THREAD__
enum { TOOL_THREADS = 1 };		/* starts with the first thread of the program */
#else
enum { TOOL_THREADS = 0 };
#endif

static int fds_before, threads_before;
static void *library;

int count_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	CHECK(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int count_threads(void) { return count_entries("/proc/self/task") - threads_before; }

int64_t counter(const char *name)
{
	int64_t value = p_softhca_counter(name);

	CHECK(value >= 0);
	return value;
}

void load_library(void)
{
	const char *path = getenv("SOFTHCA_LIBRARY");
	void *h = library = dlopen(path ? path : "libsofthca.so", RTLD_NOW | RTLD_LOCAL);

	if (!h)
		fprintf(stderr, "# %s\n", dlerror());
	CHECK(h);
#define LOAD(f) CHECK((p_##f = (typeof(f) *)dlsym(h, #f)));
	LIBRARY_FUNCTIONS(LOAD)
	CHECK((p_softhca_counter = (typeof(p_softhca_counter))dlsym(h, "softhca_counter")));
	CHECK((p_softhca_fault = (typeof(p_softhca_fault))dlsym(h, "softhca_fault")));
	CHECK((p_softhca_fault_clear = (typeof(p_softhca_fault_clear))dlsym(h, "softhca_fault_clear")));
	CHECK((p_softhca_close = (typeof(p_softhca_close))dlsym(h, "softhca_close")));
	fds_before = count_entries("/proc/self/fd");
	threads_before = count_entries("/proc/self/task");
}

void unload_library(void)
{
	CHECK(!p_softhca_close());
	CHECK(!dlclose(library));
}

/* The region table's memfd and the device's async descriptor live as long as the process. */
void check_nothing_left(void)
{
	static const char *const names[] = { "live_pds", "live_mrs", "live_cqs", "live_comp_channels", "live_qps", "live_ids",
		"live_event_channels", "live_peers", "live_threads", "registered_bytes" };
	int tries = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (counter(names[i]))
			fprintf(stderr, "# %s is %lld\n", names[i], (long long)counter(names[i]));
		CHECK(!counter(names[i]));
	}
	while (count_threads() > TOOL_THREADS && tries++ < 1000)	/* a joined thread leaves /proc a moment later */
		usleep(1000);
	CHECK(count_threads() <= TOOL_THREADS);
	CHECK(count_entries("/proc/self/fd") <= fds_before + 2);
}

void tell(struct end *e, char what) { CHECK(write(e->sync, &what, 1) == 1); }

void await(struct end *e, char what)
{
	struct pollfd p = { .fd = e->sync, .events = POLLIN };
	char got = 0;

	CHECK(poll(&p, 1, DEADLINE_MS) == 1);
	CHECK(read(e->sync, &got, 1) == 1);
	CHECK(got == what);
}

uint8_t pattern(uint64_t offset) { return (uint8_t)(offset * 2654435761u >> 24); }

void fill(uint8_t *buffer, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		buffer[i] = pattern(i);
}

struct rdma_cm_event *next_event(struct end *e, enum rdma_cm_event_type want)
{
	struct pollfd p = { .fd = e->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	CHECK(poll(&p, 1, DEADLINE_MS) == 1);
	CHECK(!p_rdma_get_cm_event(e->channel, &event));
	if (event->event != want)
		fprintf(stderr, "# event %d status %d instead of %d\n", event->event, event->status, want);
	CHECK(event->event == want);
	return event;
}

void take_event(struct end *e, enum rdma_cm_event_type want)
{
	p_rdma_ack_cm_event(next_event(e, want));
	if (want == RDMA_CM_EVENT_DISCONNECTED)
		e->disconnected = true;
}

struct ibv_wc next_wc(struct ibv_cq *cq)
{
	struct ibv_wc wc = { 0 };
	int n = 0;

	for (int i = 0; !n && i < DEADLINE_MS * 10; i++) {
		n = ibv_poll_cq(cq, 1, &wc);
		CHECK(n >= 0);
		if (!n)
			usleep(100);
	}
	CHECK(n == 1);
	return wc;
}

struct ibv_wc want_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = next_wc(cq);

	if (wc.wr_id != wr_id || wc.status != status)
		fprintf(stderr, "# completion %llu status %d instead of %llu status %d\n", (unsigned long long)wc.wr_id, wc.status,
			(unsigned long long)wr_id, status);
	CHECK(wc.wr_id == wr_id && wc.status == status);
	return wc;
}

bool no_wc(struct ibv_cq *cq, int ms)
{
	struct ibv_wc wc;

	for (int i = 0; i < ms; i++) {
		if (ibv_poll_cq(cq, 1, &wc))
			return false;
		usleep(1000);
	}
	return true;
}

void post_recv(struct end *e, void *at, uint32_t len, uint64_t wr_id)
{
	struct ibv_sge s = { (uintptr_t)at, len, e->local->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &s, .num_sge = 1 }, *bad;

	CHECK(!ibv_post_recv(e->id->qp, &wr, &bad));
}

int post(struct end *e, enum ibv_wr_opcode op, uint32_t lkey, void *at, uint32_t len, uint64_t raddr, uint32_t rkey, uint64_t wr_id)
{
	struct ibv_sge s[2] = { { (uintptr_t)at, len / 3, lkey }, { (uintptr_t)at + len / 3, len - len / 3, lkey } };
	struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = s, .num_sge = 2, .opcode = op, .send_flags = IBV_SEND_SIGNALED | e->send_flags,
		.wr.rdma = { raddr, rkey } }, *bad;

	return ibv_post_send(e->id->qp, &wr, &bad);
}

int read_peer(struct end *e, uint64_t offset, uint32_t len, uint64_t wr_id)
{
	return post(e, IBV_WR_RDMA_READ, e->local->lkey, e->buffer + offset, len, e->peer.addr + offset, e->peer.readable, wr_id);
}

/* ---- setting up ---- */

void open_channel(struct end *e)
{
	CHECK((e->channel = p_rdma_create_event_channel()));
}

void make_memory(struct end *e, struct ibv_context *context)
{
	CHECK((e->pd = p_ibv_alloc_pd(context)));
	CHECK((e->pd2 = p_ibv_alloc_pd(context)));
	CHECK((e->comp_channel = p_ibv_create_comp_channel(context)));
	CHECK((e->cq = p_ibv_create_cq(context, (int)(e->cqe ? e->cqe : 256), NULL, e->comp_channel, 0)));
	CHECK(!posix_memalign((void **)&e->buffer, 4096, BUFFER_BYTES));
	memset(e->buffer, 0xee, BUFFER_BYTES);
	CHECK((e->readable = p_ibv_reg_mr(e->pd, e->buffer, BUFFER_BYTES, IBV_ACCESS_REMOTE_READ)));
	CHECK((e->writable = p_ibv_reg_mr(e->pd, e->buffer, BUFFER_BYTES, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE)));
	CHECK((e->local = p_ibv_reg_mr(e->pd, e->buffer, BUFFER_BYTES, IBV_ACCESS_LOCAL_WRITE)));
	CHECK((e->other_pd = p_ibv_reg_mr(e->pd2, e->buffer, BUFFER_BYTES, IBV_ACCESS_REMOTE_READ)));
}

void make_qp(struct end *e, struct rdma_cm_id *id)
{
	uint32_t wr = (uint32_t)(e->max_wr ? e->max_wr : 128);
	struct ibv_qp_init_attr a = { .send_cq = e->cq, .recv_cq = e->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = wr, .max_recv_wr = wr, .max_send_sge = 4, .max_recv_sge = 4, .max_inline_data = 64 } };

	CHECK(!p_rdma_create_qp(id, e->pd, &a));
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

uint16_t listen_on(struct end *e)
{
	struct sockaddr_in a = loopback(0);

	CHECK(!p_rdma_create_id(e->channel, &e->listener, NULL, RDMA_PS_TCP));
	CHECK(!p_rdma_bind_addr(e->listener, (struct sockaddr *)&a));
	CHECK(!p_rdma_listen(e->listener, 8));
	return p_rdma_get_src_port(e->listener);
}

void resolve(struct end *e, uint16_t port)
{
	struct sockaddr_in a = loopback(port);

	CHECK(!p_rdma_create_id(e->channel, &e->id, NULL, RDMA_PS_TCP));
	CHECK(!p_rdma_resolve_addr(e->id, NULL, (struct sockaddr *)&a, 1000));
	take_event(e, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(!p_rdma_resolve_route(e->id, 1000));
	take_event(e, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static struct rdma_conn_param params(const struct rdma_conn_param *p)
{
	static const struct rdma_conn_param zero;

	if (memcmp(p, &zero, sizeof(zero)))
		return *p;
	return (struct rdma_conn_param){ .responder_resources = 8, .initiator_depth = 8, .retry_count = 7, .rnr_retry_count = 7 };
}

static void exchange_offers(struct end *e)
{
	struct ibv_mr *gone = p_ibv_reg_mr(e->pd, e->buffer, BUFFER_BYTES, IBV_ACCESS_REMOTE_READ);
	struct offer mine = { (uintptr_t)e->buffer, e->readable->rkey, e->writable->rkey, e->local->rkey, e->other_pd->rkey, gone->rkey };

	CHECK(!p_ibv_dereg_mr(gone));
	CHECK(write(e->sync, &mine, sizeof(mine)) == sizeof(mine));
	CHECK(recv(e->sync, &e->peer, sizeof(e->peer), MSG_WAITALL) == sizeof(e->peer));
}

void close_end(struct end *e)
{
	if (e->id && e->id->qp && !e->disconnected) {
		p_rdma_disconnect(e->id);
		take_event(e, RDMA_CM_EVENT_DISCONNECTED);
	}
	if (e->id && e->id->qp)
		p_rdma_destroy_qp(e->id);
	if (e->id)
		CHECK(!p_rdma_destroy_id(e->id));
	if (e->listener)
		CHECK(!p_rdma_destroy_id(e->listener));
	if (e->pd) {
		CHECK(!p_ibv_dereg_mr(e->readable) && !p_ibv_dereg_mr(e->writable));
		CHECK(!p_ibv_dereg_mr(e->local) && !p_ibv_dereg_mr(e->other_pd));
		CHECK(!p_ibv_destroy_cq(e->cq));
		CHECK(!p_ibv_destroy_comp_channel(e->comp_channel));
		CHECK(!p_ibv_dealloc_pd(e->pd) && !p_ibv_dealloc_pd(e->pd2));
	}
	if (e->channel)
		p_rdma_destroy_event_channel(e->channel);
	free(e->buffer);
}

static void serve(const struct test *t, struct end *e)
{
	struct rdma_conn_param p = params(&t->accept_param);
	struct rdma_cm_event *event;
	uint16_t port;

	load_library();
	open_channel(e);
	port = listen_on(e);
	CHECK(write(e->sync, &port, sizeof(port)) == sizeof(port));
	event = next_event(e, RDMA_CM_EVENT_CONNECT_REQUEST);
	e->id = event->id;
	p_rdma_ack_cm_event(event);
	make_memory(e, e->id->verbs);
	fill(e->buffer, BUFFER_BYTES);
	make_qp(e, e->id);
	exchange_offers(e);
	CHECK(!p_rdma_accept(e->id, &p));
	take_event(e, RDMA_CM_EVENT_ESTABLISHED);
	t->server(e);
	if (!e->disconnected)
		take_event(e, RDMA_CM_EVENT_DISCONNECTED);
	close_end(e);
	check_nothing_left();
}

static void dial(const struct test *t, struct end *e)
{
	struct rdma_conn_param p = params(&t->connect_param);

	load_library();
	open_channel(e);
	CHECK(recv(e->sync, &e->port, sizeof(e->port), MSG_WAITALL) == sizeof(e->port));
	resolve(e, e->port);
	make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	CHECK(!p_rdma_connect(e->id, &p));
	exchange_offers(e);
	take_event(e, RDMA_CM_EVENT_ESTABLISHED);
	t->client(e);
	close_end(e);
	check_nothing_left();
}

/* ---- running ---- */

static pid_t start(const struct test *t, int sync, pid_t server_pid)
{
	struct end e = { .sync = sync, .server = server_pid, .cqe = server_pid ? t->cqe : 0, .max_wr = t->max_wr };
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	alarm(TEST_DEADLINE_S);
	if (t->environment)
		putenv((char *)t->environment);
	if (t->alone) {
		load_library();
		t->client(&e);
		check_nothing_left();
	} else if (server_pid) {
		dial(t, &e);
	} else {
		serve(t, &e);
	}
	exit(0);			/* with the sanitizers' checks at exit */
}

static bool ended_well(pid_t pid, const char *side, bool is_killed)
{
	int st;

	if (waitpid(pid, &st, 0) != pid)
		return false;
	if (is_killed ? WIFSIGNALED(st) && WTERMSIG(st) == SIGKILL : WIFEXITED(st) && !WEXITSTATUS(st))
		return true;
	printf("# the %s ended with %s %d\n", side, WIFSIGNALED(st) ? "signal" : "status", WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
	return false;
}

static bool run(const struct test *t)
{
	int pair[2];
	pid_t server = 0, client;
	bool ok;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	if (!t->alone)
		server = start(t, pair[0], 0);
	client = start(t, pair[1], server);
	close(pair[0]);
	close(pair[1]);
	ok = ended_well(client, "client", false);
	if (!ok && server)
		kill(server, SIGKILL);		/* it would wait for its peer until the deadline */
	if (server)
		ok = ended_well(server, "server", t->server_is_killed) && ok;
	return ok;
}

int run_tests(const struct test *tests, int n)
{
	const char *only = getenv("ONLY");
	int failed = 0;

	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		bool ok;

		if (only && !strstr(tests[i].name, only))
			continue;
		ok = run(&tests[i]);
		printf("%sok %d - %s\n", ok ? "" : "not ", i + 1, tests[i].name);
		fflush(stdout);
		failed += !ok;
	}
	return failed != 0;
}
