/* RDMA CM: private data, refusals, time-outs, the peer's death, threads, forks. */
#include "harness.h"
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct rdma_conn_param defaults = {
	.responder_resources = 8, .initiator_depth = 8, .retry_count = 7, .rnr_retry_count = 7,
};

/* ---- both ends in one process, on one channel ---- */

struct pair {
	struct end active, passive;
};

static struct rdma_cm_id *request(struct pair *p, struct rdma_conn_param *param, uint16_t port)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	resolve(&p->active, port);
	if (!p->active.pd)
		make_memory(&p->active, p->active.id->verbs);
	make_qp(&p->active, p->active.id);
	CHECK(!p_rdma_connect(p->active.id, param));
	event = next_event(&p->passive, RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(event->listen_id == p->passive.listener && event->id->verbs);
	id = event->id;
	if (param->private_data_len) {
		CHECK(event->param.conn.private_data_len == 56);
		CHECK(!memcmp(event->param.conn.private_data, param->private_data, param->private_data_len));
		CHECK(((const char *)event->param.conn.private_data)[55] == 0);
	}
	p_rdma_ack_cm_event(event);
	return id;
}

static uint16_t open_pair(struct pair *p)
{
	open_channel(&p->active);
	open_channel(&p->passive);
	return listen_on(&p->passive);
}

static void close_pair(struct pair *p)
{
	close_end(&p->active);
	close_end(&p->passive);
}

static void rejectionCarriesPrivateData(struct end *unused)
{
	struct pair p = { 0 };
	struct rdma_conn_param param = defaults;
	struct rdma_cm_event *event;
	uint16_t port = open_pair(&p);
	struct rdma_cm_id *id;

	(void)unused;
	param.private_data = "who are you";
	param.private_data_len = 12;
	id = request(&p, &param, port);
	CHECK(!p_rdma_reject(id, "nobody", 7));
	CHECK(!p_rdma_destroy_id(id));
	event = next_event(&p.active, RDMA_CM_EVENT_REJECTED);
	CHECK(event->status == 28 && event->param.conn.private_data_len == 148);
	CHECK(!strcmp(event->param.conn.private_data, "nobody"));
	p_rdma_ack_cm_event(event);
	p.active.disconnected = true;
	close_pair(&p);
}

static void acceptanceCarriesPrivateDataAndMirroredDepths(struct end *unused)
{
	struct pair p = { 0 };
	struct rdma_conn_param param = defaults, answer = { .responder_resources = 3, .initiator_depth = 2, .private_data = "welcome",
		.private_data_len = 8, .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	uint16_t port = open_pair(&p);

	(void)unused;
	p.passive.id = request(&p, &param, port);
	make_memory(&p.passive, p.passive.id->verbs);
	make_qp(&p.passive, p.passive.id);
	CHECK(!p_rdma_accept(p.passive.id, &answer));
	event = next_event(&p.active, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(event->param.conn.private_data_len == 196 && !strcmp(event->param.conn.private_data, "welcome"));
	CHECK(event->param.conn.responder_resources == 2 && event->param.conn.initiator_depth == 3);
	p_rdma_ack_cm_event(event);
	take_event(&p.passive, RDMA_CM_EVENT_ESTABLISHED);
	close_end(&p.active);
	close_end(&p.passive);
}

static void aProcessReadsItselfThroughAConnection(struct end *unused)
{
	struct pair p = { 0 };
	struct rdma_conn_param param = defaults;
	uint16_t port = open_pair(&p);

	(void)unused;
	p.passive.id = request(&p, &param, port);
	make_memory(&p.passive, p.passive.id->verbs);
	make_qp(&p.passive, p.passive.id);
	fill(p.passive.buffer, BUFFER_BYTES);
	CHECK(!p_rdma_accept(p.passive.id, &param));
	take_event(&p.active, RDMA_CM_EVENT_ESTABLISHED);
	take_event(&p.passive, RDMA_CM_EVENT_ESTABLISHED);
	p.active.peer = (struct offer){ .addr = (uintptr_t)p.passive.buffer, .readable = p.passive.readable->rkey };
	CHECK(!read_peer(&p.active, 0, BUFFER_BYTES, 1));
	want_wc(p.active.cq, 1, IBV_WC_SUCCESS);
	CHECK(!memcmp(p.active.buffer, p.passive.buffer, BUFFER_BYTES));
	close_pair(&p);
}

enum { CONNECTIONS = 20 };

static void threadsAndDescriptorsStayBounded(struct end *unused)
{
	struct pair p = { 0 };
	struct rdma_conn_param param = defaults;
	struct rdma_cm_id *active[CONNECTIONS], *passive[CONNECTIONS];
	uint16_t port = open_pair(&p);

	(void)unused;
	for (int i = 0; i < CONNECTIONS; i++) {
		passive[i] = request(&p, &param, port);
		active[i] = p.active.id;
		if (!i)
			make_memory(&p.passive, passive[i]->verbs);
		make_qp(&p.passive, passive[i]);
		CHECK(!p_rdma_accept(passive[i], &param));
		take_event(&p.active, RDMA_CM_EVENT_ESTABLISHED);
		take_event(&p.passive, RDMA_CM_EVENT_ESTABLISHED);
	}
	CHECK(counter("live_threads") == 2 && count_threads() <= 3);	/* the poller, the engine; a sanitizer's */
	CHECK(counter("live_peers") == 1);
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK(!p_rdma_disconnect(active[i]));
		take_event(&p.active, RDMA_CM_EVENT_DISCONNECTED);
		take_event(&p.passive, RDMA_CM_EVENT_DISCONNECTED);
		p_rdma_destroy_qp(active[i]);
		p_rdma_destroy_qp(passive[i]);
		CHECK(!p_rdma_destroy_id(active[i]) && !p_rdma_destroy_id(passive[i]));
	}
	p.active.id = NULL;
	close_pair(&p);
}

static void listenerGoesAwayWithRequestsNobodyHasSeen(struct end *unused)
{
	struct pair p = { 0 };
	struct rdma_conn_param param = defaults;
	struct pollfd poll_passive;
	uint16_t port = open_pair(&p);

	(void)unused;
	resolve(&p.active, port);
	make_memory(&p.active, p.active.id->verbs);
	make_qp(&p.active, p.active.id);
	CHECK(!p_rdma_connect(p.active.id, &param));
	poll_passive = (struct pollfd){ .fd = p.passive.channel->fd, .events = POLLIN };
	CHECK(poll(&poll_passive, 1, 10000) == 1);
	CHECK(!p_rdma_destroy_id(p.passive.listener));
	p.passive.listener = NULL;
	CHECK(poll(&poll_passive, 1, 0) == 0);		/* its event is gone too */
	take_event(&p.active, RDMA_CM_EVENT_REJECTED);
	p.active.disconnected = true;
	close_pair(&p);
}

static void connectToNobodyIsRejected(struct end *e)
{
	struct rdma_conn_param param = defaults;
	struct rdma_cm_event *event;

	open_channel(e);
	resolve(e, htons(1));
	make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	CHECK(!p_rdma_connect(e->id, &param));
	event = next_event(e, RDMA_CM_EVENT_REJECTED);
	CHECK(event->status == 8);
	p_rdma_ack_cm_event(event);
	e->disconnected = true;
	close_end(e);
}

static void connectThatNobodyAnswersEndsUnreachable(struct end *e)
{
	struct rdma_conn_param param = defaults;
	struct rdma_cm_event *event;
	struct rdma_cm_id *unanswered;
	uint16_t port;

	open_channel(e);
	port = listen_on(e);
	resolve(e, port);
	make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	CHECK(!p_rdma_connect(e->id, &param));
	event = next_event(e, RDMA_CM_EVENT_CONNECT_REQUEST);
	unanswered = event->id;				/* seen, and neither accepted nor rejected */
	p_rdma_ack_cm_event(event);
	event = next_event(e, RDMA_CM_EVENT_UNREACHABLE);
	CHECK(event->status == -ETIMEDOUT);
	p_rdma_ack_cm_event(event);
	CHECK(p_rdma_accept(unanswered, &param));	/* too late */
	CHECK(!p_rdma_destroy_id(unanswered));
	e->disconnected = true;
	close_end(e);
}

static void wildcardListenerBelongsToNoDevice(struct end *e)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	open_channel(e);
	CHECK(!p_rdma_create_id(e->channel, &e->listener, NULL, RDMA_PS_TCP));
	CHECK(!p_rdma_bind_addr(e->listener, (struct sockaddr *)&any));
	CHECK(!e->listener->verbs && p_rdma_get_src_port(e->listener));
	CHECK(!p_rdma_listen(e->listener, 1));
	close_end(e);
}

/* ---- two processes ---- */

static void wait_killed(struct end *e)
{
	await(e, '9');			/* never comes */
}

static void expect_death(struct end *e)
{
	take_event(e, RDMA_CM_EVENT_DISCONNECTED);
	want_wc(e->cq, 7, IBV_WC_WR_FLUSH_ERR);
	CHECK(e->id->qp->state == IBV_QPS_ERR);
	CHECK(!read_peer(e, 0, 64, 3));
	want_wc(e->cq, 3, IBV_WC_WR_FLUSH_ERR);
}

static void deathOfThePeerFlushes(struct end *e)
{
	post_recv(e, e->buffer, 64, 7);
	CHECK(!kill(e->server, SIGKILL));
	expect_death(e);
}

static void deathOfThePeerFailsWhatWasUnderWay(struct end *e)
{
	CHECK(!post(e, IBV_WR_SEND, e->local->lkey, e->buffer, 64, 0, 0, 1));	/* no receive: waits */
	CHECK(!post(e, IBV_WR_SEND, e->local->lkey, e->buffer, 64, 0, 0, 2));
	CHECK(no_wc(e->cq, 50));
	CHECK(!kill(e->server, SIGKILL));
	for (uint64_t i = 1; i <= 2; i++) {
		struct ibv_wc wc = next_wc(e->cq);

		CHECK(wc.wr_id == i && (wc.status == IBV_WC_WR_FLUSH_ERR || (i == 1 && wc.status == IBV_WC_RETRY_EXC_ERR)));
	}
	take_event(e, RDMA_CM_EVENT_DISCONNECTED);
}

/* Reading on while the owner dies: every READ ends, and those that succeed have the right bytes. */
static void readsDuringTheDeathOfThePeerEnd(struct end *e)
{
	uint64_t i = 0;
	struct ibv_wc wc;

	do {
		CHECK(!read_peer(e, 0, 1 << 20, i));
		if (i == 20)
			CHECK(!kill(e->server, SIGKILL));
		wc = next_wc(e->cq);
		CHECK(wc.wr_id == i++);
		for (uint64_t j = 0; wc.status == IBV_WC_SUCCESS && j < 1 << 20; j += 511)
			CHECK(e->buffer[j] == pattern(j));
		memset(e->buffer, 0xee, 1 << 20);
	} while (wc.status == IBV_WC_SUCCESS);
	take_event(e, RDMA_CM_EVENT_DISCONNECTED);
}

static void stoppedPeerStillServesReadsButNotSends(struct end *e)
{
	CHECK(!kill(e->server, SIGSTOP));
	CHECK(!read_peer(e, 0, 100000, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);	/* one-sided */
	CHECK(!post(e, IBV_WR_SEND, e->local->lkey, e->buffer, 64, 0, 0, 2));
	want_wc(e->cq, 2, IBV_WC_RETRY_EXC_ERR);
	CHECK(!kill(e->server, SIGCONT));
}

static void idle(struct end *e) { (void)e; }

static void fork_and_wait(struct end *e)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		for (int i = 0; i < 100 && getppid() != 1; i++)
			usleep(20000);
		usleep(500000);
		_exit(0);
	}
	tell(e, '1');
	await(e, '9');
}

/* The grandchild has copies of all descriptors of the server and outlives it. */
static void childOfAPeerDoesNotKeepItsConnectionsOpen(struct end *e)
{
	post_recv(e, e->buffer, 64, 7);
	await(e, '1');
	CHECK(!kill(e->server, SIGKILL));
	expect_death(e);
}

static void childThatExitsDisturbsNothing(struct end *e)
{
	pid_t child = fork();
	int st;

	if (!child)
		exit(0);
	CHECK(waitpid(child, &st, 0) == child && WIFEXITED(st));
	CHECK(!read_peer(e, 0, 1 << 20, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	for (uint64_t i = 0; i < 1 << 20; i++)
		CHECK(e->buffer[i] == pattern(i));
}

/* A child that goes on to use the device itself starts with nothing of its parent's. */
static void childMayUseTheDeviceItself(struct end *e)
{
	pid_t child = fork();
	int st;

	if (!child) {
		struct end mine = { .sync = -1 };

		CHECK(counter("live_ids") == 0 && counter("live_mrs") == 0 && counter("live_threads") == 0);
		aProcessReadsItselfThroughAConnection(&mine);
		CHECK(counter("live_ids") == 0 && counter("live_threads") == 0 && counter("reads_direct") == 1);
		_exit(0);
	}
	CHECK(waitpid(child, &st, 0) == child && WIFEXITED(st) && !WEXITSTATUS(st));
	CHECK(!read_peer(e, 0, 1 << 20, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	for (uint64_t i = 0; i < 1 << 20; i++)
		CHECK(e->buffer[i] == pattern(i));
}

/* Of the library and of its table. */
static int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	int found = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps))
		found += strstr(line, "libsofthca.so") || strstr(line, "memfd:softhca");
	CHECK(!fclose(maps));
	return found;
}

/* An event that is read and not acknowledged. */
static void leave_an_event(void)
{
	struct end e = { .sync = -1 };
	struct ibv_async_event event;

	open_channel(&e);
	resolve(&e, 1);
	CHECK(!p_softhca_fault("async:event=PORT_ERR;async:event=PORT_ACTIVE"));
	CHECK(!p_ibv_get_async_event(e.id->verbs, &event));
	close_end(&e);
}

/* Also with an event that nobody read, one that nobody acknowledged, and a child made afterwards. */
static void unloadedLibraryLeavesNothing(struct end *e)
{
	int descriptors = 0, st;
	pid_t child;

	for (int i = 0; i < 12; i++) {
		struct end mine = { .sync = -1 };

		open_channel(&mine);
		CHECK(p_softhca_close() == EBUSY);
		close_end(&mine);
		memset(&mine, 0, sizeof(mine));
		aProcessReadsItselfThroughAConnection(&mine);
		leave_an_event();
		unload_library();
		child = fork();
		if (!child)
			_exit(0);
		CHECK(waitpid(child, &st, 0) == child && WIFEXITED(st) && !WEXITSTATUS(st));
		if (!i)
			descriptors = count_entries("/proc/self/fd");
		CHECK(count_entries("/proc/self/fd") == descriptors);
		CHECK(!count_mappings());
		load_library();
	}
	(void)e;
}

static void idleConnectionCostsNoCpu(struct end *e)
{
	struct rusage before, after;

	CHECK(!read_peer(e, 0, 1 << 20, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	usleep(50000);
	CHECK(!getrusage(RUSAGE_SELF, &before));
	usleep(500000);
	CHECK(!getrusage(RUSAGE_SELF, &after));
	CHECK(after.ru_nvcsw - before.ru_nvcsw <= 3);
}

#define T(f, s) { .name = #f, .server = s, .client = f }
#define KILLED(f) { .name = #f, .server = wait_killed, .client = f, .server_is_killed = true }, \
	{ .name = #f " (socket)", .server = wait_killed, .client = f, .server_is_killed = true, .environment = "SOFTHCA_DIRECT=0" }
#define ALONE(f) { .name = #f, .client = f, .alone = true }

int main(void)
{
	static const struct test tests[] = {
		ALONE(rejectionCarriesPrivateData),
		ALONE(acceptanceCarriesPrivateDataAndMirroredDepths),
		ALONE(aProcessReadsItselfThroughAConnection),
		{ .name = "aProcessReadsItselfThroughAConnection (socket)", .client = aProcessReadsItselfThroughAConnection, .alone = true,
		  .environment = "SOFTHCA_DIRECT=0" },
		ALONE(threadsAndDescriptorsStayBounded),
		ALONE(listenerGoesAwayWithRequestsNobodyHasSeen),
		ALONE(connectToNobodyIsRejected),
		ALONE(unloadedLibraryLeavesNothing),
		{ .name = "connectThatNobodyAnswersEndsUnreachable", .client = connectThatNobodyAnswersEndsUnreachable, .alone = true,
		  .environment = "SOFTHCA_CONNECT_TIMEOUT_MS=300" },
		ALONE(wildcardListenerBelongsToNoDevice),
		KILLED(deathOfThePeerFlushes),
		KILLED(deathOfThePeerFailsWhatWasUnderWay),
		KILLED(readsDuringTheDeathOfThePeerEnd),
		{ .name = "stoppedPeerStillServesReadsButNotSends", .server = idle, .client = stoppedPeerStillServesReadsButNotSends,
		  .environment = "SOFTHCA_ACK_TIMEOUT_MS=50" },
		{ .name = "childOfAPeerDoesNotKeepItsConnectionsOpen", .server = fork_and_wait,
		  .client = childOfAPeerDoesNotKeepItsConnectionsOpen, .server_is_killed = true },
		T(childThatExitsDisturbsNothing, idle),
		T(childMayUseTheDeviceItself, idle),
		T(idleConnectionCostsNoCpu, idle),
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
