/* A peer that does not keep to the protocol: cut, garbled and forged frames end its connection and nothing else. */
#include "harness.h"
#include "soft_frame.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

static int dial(uint16_t cm_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(ntohs(cm_port) ^ 0x4000),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)));
	CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	return fd;
}

static void put(int fd, const void *bytes, size_t n) { CHECK(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n); }

static void put_frame(int fd, struct frame f)
{
	f.magic = FRAME_MAGIC;
	put(fd, &f, sizeof(f));
}

static struct hello good_hello(void)
{
	return (struct hello){ .magic = HELLO_MAGIC, .version = HELLO_VERSION, .qp_num = 0x1001, .responder_resources = 4,
			       .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7, .private_len = 56 };
}

static struct frame get_frame(int fd)
{
	struct frame f;

	CHECK(recv(fd, &f, sizeof(f), MSG_WAITALL) == sizeof(f) && f.magic == FRAME_MAGIC);
	return f;
}

/* The other side closes (or resets) within the time limit. */
static void expect_closed(int fd)
{
	char sink[4096];
	ssize_t n;

	while ((n = recv(fd, sink, sizeof(sink), 0)) > 0)
		;
	CHECK(n == 0 || errno == ECONNRESET);
	close(fd);
}

/* ---- before there is a connection ---- */

static void strangersAreSentAwayAndTheListenerLives(struct end *e)
{
	static const uint8_t noise[600] = "GET / HTTP/1.1\r\n\r\n";
	struct hello bad = good_hello();
	struct rdma_cm_event *event;
	struct frame req = { .type = FRAME_REQ, .len = sizeof(bad) };
	uint16_t port;
	int fd;

	open_channel(e);
	port = listen_on(e);
	fd = dial(port);
	put(fd, noise, sizeof(noise));
	expect_closed(fd);
	fd = dial(port);
	put_frame(fd, (struct frame){ .type = FRAME_REQ, .len = UINT32_MAX });
	expect_closed(fd);
	fd = dial(port);
	put_frame(fd, (struct frame){ .type = FRAME_SEND, .len = 10 });
	expect_closed(fd);
	bad.version = 99;
	fd = dial(port);
	put_frame(fd, req);
	put(fd, &bad, sizeof(bad));
	expect_closed(fd);
	bad = good_hello();
	bad.private_len = 255;
	fd = dial(port);
	put_frame(fd, req);
	put(fd, &bad, sizeof(bad));
	expect_closed(fd);
	fd = dial(port);
	put(fd, &req, 7);			/* a part, and silence: ends with the time-out */
	expect_closed(fd);
	bad = good_hello();
	fd = dial(port);
	put_frame(fd, req);
	put(fd, &bad, sizeof(bad));
	event = next_event(e, RDMA_CM_EVENT_CONNECT_REQUEST);
	e->id = event->id;
	p_rdma_ack_cm_event(event);
	CHECK(!p_rdma_reject(e->id, NULL, 0));
	CHECK(get_frame(fd).type == FRAME_REJ);
	close(fd);
	close_end(e);
}

/* ---- on a connection ---- */

static int connect_raw(struct end *e, uint16_t port)
{
	struct rdma_conn_param p = { .responder_resources = 4, .initiator_depth = 4, .rnr_retry_count = 7 };
	struct hello hello = good_hello();
	struct rdma_cm_event *event;
	int fd = dial(port);

	put_frame(fd, (struct frame){ .type = FRAME_REQ, .len = sizeof(hello) });
	put(fd, &hello, sizeof(hello));
	event = next_event(e, RDMA_CM_EVENT_CONNECT_REQUEST);
	e->id = event->id;
	p_rdma_ack_cm_event(event);
	if (!e->pd)
		make_memory(e, e->id->verbs);
	make_qp(e, e->id);
	CHECK(!p_rdma_accept(e->id, &p));
	CHECK(get_frame(fd).type == FRAME_REP);
	CHECK(recv(fd, &hello, sizeof(hello), MSG_WAITALL) == sizeof(hello) && hello.magic == HELLO_MAGIC);
	put_frame(fd, (struct frame){ .type = FRAME_RTU });
	take_event(e, RDMA_CM_EVENT_ESTABLISHED);
	return fd;
}

static void disconnected(struct end *e)
{
	take_event(e, RDMA_CM_EVENT_DISCONNECTED);
	CHECK(e->id->qp->state == IBV_QPS_ERR);
	p_rdma_destroy_qp(e->id);
	CHECK(!p_rdma_destroy_id(e->id));
	e->id = NULL;
}

static void framesNobodySendsEndTheConnection(struct end *e)
{
	static const struct frame wrong[] = {
		{ .type = 0 }, { .type = FRAME_TYPES }, { .type = 255 },
		{ .type = FRAME_SEND, .len = 0x80000001u }, { .type = FRAME_READ, .len = UINT32_MAX },
		{ .type = FRAME_SEND, .seq = 5 }, { .type = FRAME_READ, .seq = UINT32_MAX },
		{ .type = FRAME_DATA, .len = 100 }, { .type = FRAME_DATA }, { .type = FRAME_DATA, .len = UINT32_MAX },
		{ .type = FRAME_ACK }, { .type = FRAME_ACK, .status = 1000 }, { .type = FRAME_ACK, .len = 1 },
		{ .type = FRAME_RNR }, { .type = FRAME_RTU }, { .type = FRAME_REP, .len = sizeof(struct hello) },
		{ .type = FRAME_REQ, .len = sizeof(struct hello) },
	};
	uint16_t port;

	open_channel(e);
	port = listen_on(e);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		int fd = connect_raw(e, port);

		post_recv(e, e->buffer, 64, i);
		put_frame(fd, wrong[i]);
		disconnected(e);
		want_wc(e->cq, i, IBV_WC_WR_FLUSH_ERR);
		expect_closed(fd);
	}
	close_end(e);
}

static void noiseEndsTheConnection(struct end *e)
{
	unsigned seed = 20250103;
	uint16_t port;

	open_channel(e);
	port = listen_on(e);
	for (int i = 0; i < 50; i++) {
		uint8_t noise[256];
		int fd = connect_raw(e, port);

		for (size_t j = 0; j < sizeof(noise); j++)
			noise[j] = (uint8_t)rand_r(&seed);
		put(fd, noise, sizeof(noise));
		disconnected(e);
		expect_closed(fd);
	}
	close_end(e);
}

static void halfAMessageIsNeverDelivered(struct end *e)
{
	uint8_t half[500] = { 1 };
	uint16_t port;
	int fd;

	open_channel(e);
	port = listen_on(e);
	fd = connect_raw(e, port);
	post_recv(e, e->buffer, 1000, 1);
	put_frame(fd, (struct frame){ .type = FRAME_SEND, .len = 1000 });
	put(fd, half, sizeof(half));
	CHECK(no_wc(e->cq, 50));
	close(fd);
	disconnected(e);
	want_wc(e->cq, 1, IBV_WC_WR_FLUSH_ERR);
	close_end(e);
}

static void requestsAreCheckedByTheOwner(struct end *e)
{
	uint16_t port;
	int fd;
	struct frame f;
	uint8_t bytes[100];

	open_channel(e);
	port = listen_on(e);
	fd = connect_raw(e, port);
	fill(e->buffer, BUFFER_BYTES);
	put_frame(fd, (struct frame){ .type = FRAME_READ, .len = 100, .addr = (uintptr_t)e->buffer + 7, .rkey = e->readable->rkey });
	f = get_frame(fd);
	CHECK(f.type == FRAME_DATA && f.len == 100 && recv(fd, bytes, 100, MSG_WAITALL) == 100);
	CHECK(!memcmp(bytes, e->buffer + 7, 100));
	f = get_frame(fd);
	CHECK(f.type == FRAME_ACK && !f.status);
	put_frame(fd, (struct frame){ .type = FRAME_READ, .len = 100, .seq = 1, .addr = (uintptr_t)e->buffer + 7,
				      .rkey = e->writable->rkey });
	f = get_frame(fd);
	CHECK(f.type == FRAME_ACK && f.seq == 1 && f.status == IBV_WC_REM_ACCESS_ERR);
	CHECK(e->id->qp->state == IBV_QPS_ERR);
	put_frame(fd, (struct frame){ .type = FRAME_READ, .len = 100, .seq = 2, .addr = (uintptr_t)e->buffer, .rkey = e->readable->rkey });
	f = get_frame(fd);
	CHECK(f.type == FRAME_ACK && f.seq == 2 && f.status == IBV_WC_RETRY_EXC_ERR);
	close(fd);
	disconnected(e);
	close_end(e);
}

/* A peer that never reads its answers and sends more READs than were agreed. */
static void readsBeyondTheAgreedDepthAreRefused(struct end *e)
{
	uint16_t port;
	bool refused = false;
	int fd;

	open_channel(e);
	port = listen_on(e);
	fd = connect_raw(e, port);
	for (uint32_t i = 0; i < 100; i++)
		if (send(fd, &(struct frame){ .magic = FRAME_MAGIC, .type = FRAME_READ, .len = BUFFER_BYTES, .seq = i,
			 .addr = (uintptr_t)e->buffer, .rkey = e->readable->rkey }, sizeof(struct frame), MSG_NOSIGNAL) < 0)
			break;
	for (int i = 0; i < 10000 && !refused; i++) {
		refused = e->id->qp->state == IBV_QPS_ERR;
		usleep(1000);
	}
	CHECK(refused);
	close(fd);
	disconnected(e);
	close_end(e);
}

#define ALONE(f) { .name = #f, .client = f, .alone = true }

int main(void)
{
	static const struct test tests[] = {
		{ .name = "strangersAreSentAwayAndTheListenerLives", .client = strangersAreSentAwayAndTheListenerLives, .alone = true,
		  .environment = "SOFTHCA_CONNECT_TIMEOUT_MS=500" },
		ALONE(framesNobodySendsEndTheConnection),
		ALONE(noiseEndsTheConnection),
		ALONE(halfAMessageIsNeverDelivered),
		ALONE(requestsAreCheckedByTheOwner),
		ALONE(readsBeyondTheAgreedDepthAreRefused),
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
