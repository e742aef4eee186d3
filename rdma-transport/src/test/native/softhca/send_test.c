/* SEND and receive: order, immediate data, receivers that are not ready, limits, errors, completion events. */
#include "harness.h"
#include <poll.h>

enum { MESSAGES = 1000, MESSAGE_BYTES = 512 };

static void send_one(struct end *e, void *at, uint32_t len, uint64_t wr_id)
{
	CHECK(!post(e, IBV_WR_SEND, e->local->lkey, at, len, 0, 0, wr_id));
}

/* ---- order ---- */

static void receive_numbered(struct end *e)
{
	for (uint64_t i = 0; i < 100; i++)
		post_recv(e, e->buffer + i * MESSAGE_BYTES, MESSAGE_BYTES, i);
	tell(e, '1');
	for (uint64_t i = 0; i < MESSAGES; i++) {
		uint8_t *at = e->buffer + i % 100 * MESSAGE_BYTES;
		struct ibv_wc wc = want_wc(e->cq, i, IBV_WC_SUCCESS);

		CHECK(wc.opcode == IBV_WC_RECV && wc.byte_len == 8 + i % 400);
		CHECK(!memcmp(at, &i, sizeof(i)));
		for (uint32_t j = 8; j < wc.byte_len; j++)
			CHECK(at[j] == (uint8_t)i);
		if (i + 100 < MESSAGES)
			post_recv(e, at, MESSAGE_BYTES, i + 100);
	}
}

/* Also when the sender is faster than the receiver posts: then messages are thrown away and repeated. */
static void messagesArriveOnceAndInOrder(struct end *e)
{
	uint64_t completed = 0;

	await(e, '1');
	for (uint64_t i = 0; i < MESSAGES; i++) {
		uint8_t *at = e->buffer + i % 64 * MESSAGE_BYTES;

		if (i >= 64)
			want_wc(e->cq, completed++, IBV_WC_SUCCESS);
		memcpy(at, &i, sizeof(i));
		memset(at + 8, (int)i, 400);
		send_one(e, at, (uint32_t)(8 + i % 400), i);
	}
	while (completed < MESSAGES)
		want_wc(e->cq, completed++, IBV_WC_SUCCESS);
}

/* ---- sizes and kinds ---- */

static void receive_large(struct end *e)
{
	post_recv(e, e->buffer, 3 << 20, 1);
	post_recv(e, e->buffer, 0, 2);
	CHECK(want_wc(e->cq, 1, IBV_WC_SUCCESS).byte_len == 3 << 20);
	for (uint64_t i = 0; i < 3 << 20; i++)
		CHECK(e->buffer[i] == 255 - pattern(i));
	CHECK(want_wc(e->cq, 2, IBV_WC_SUCCESS).byte_len == 0);
}

static void largeAndEmptyMessagesArrive(struct end *e)
{
	for (uint64_t i = 0; i < 3 << 20; i++)
		e->buffer[i] = 255 - pattern(i);
	send_one(e, e->buffer, 3 << 20, 1);
	send_one(e, e->buffer, 0, 2);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	want_wc(e->cq, 2, IBV_WC_SUCCESS);
}

static void receive_immediate(struct end *e)
{
	struct ibv_wc wc;

	memset(e->buffer, 0, 64);
	post_recv(e, e->buffer, 64, 1);
	post_recv(e, e->buffer, 64, 2);
	tell(e, '1');
	wc = want_wc(e->cq, 1, IBV_WC_SUCCESS);
	CHECK(wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == 0x12345678 && !memcmp(e->buffer, "abc", 3));
	wc = want_wc(e->cq, 2, IBV_WC_SUCCESS);
	CHECK(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 0x9abcdef0 && wc.byte_len == 3);
	CHECK(!memcmp(e->buffer + 1000, "abc", 3));
}

/* Inline data may be overwritten as soon as the call returns. */
static void immediateAndInlineDataArrive(struct end *e)
{
	char text[] = "abc";
	struct ibv_sge s = { (uintptr_t)text, 3, 0 };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x12345678,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE }, *bad;

	await(e, '1');
	CHECK(!ibv_post_send(e->id->qp, &wr, &bad));
	wr.wr_id = 2;
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = 0x9abcdef0;
	wr.wr.rdma.remote_addr = e->peer.addr + 1000;
	wr.wr.rdma.rkey = e->peer.writable;
	CHECK(!ibv_post_send(e->id->qp, &wr, &bad));
	memset(text, 'x', 3);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	want_wc(e->cq, 2, IBV_WC_SUCCESS);
}

/* ---- receiver not ready ---- */

static void receive_late(struct end *e)
{
	await(e, '1');
	CHECK(no_wc(e->cq, 50));
	for (uint64_t i = 0; i < 3; i++)
		post_recv(e, e->buffer + i * 100, 100, i);
	for (uint64_t i = 0; i < 3; i++) {
		want_wc(e->cq, i, IBV_WC_SUCCESS);
		CHECK(e->buffer[i * 100] == (uint8_t)(i + 1));
	}
}

static void messagesWaitForAReceive(struct end *e)
{
	for (uint64_t i = 0; i < 3; i++) {
		e->buffer[i * 100] = (uint8_t)(i + 1);
		send_one(e, e->buffer + i * 100, 100, i);
	}
	CHECK(!read_peer(e, 1 << 20, 100000, 3));	/* behind them in the queue: waits too, and is not lost */
	tell(e, '1');
	for (uint64_t i = 0; i < 4; i++)
		want_wc(e->cq, i, IBV_WC_SUCCESS);
	for (uint64_t i = 0; i < 100000; i++)
		CHECK(e->buffer[(1 << 20) + i] == pattern((1 << 20) + i));
}

static void wait_only(struct end *e) { await(e, '9'); }

static void finiteRnrRetriesRunOut(struct end *e)
{
	send_one(e, e->buffer, 100, 1);
	send_one(e, e->buffer, 100, 2);
	want_wc(e->cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	want_wc(e->cq, 2, IBV_WC_WR_FLUSH_ERR);
	tell(e, '9');
}

static void break_late(struct end *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	await(e, '1');
	usleep(20000);
	CHECK(!p_ibv_modify_qp(e->id->qp, &a, IBV_QP_STATE));
	await(e, '9');
}

/* With retries without end, a receiver that breaks meanwhile must not leave the sender waiting for ever. */
static void messageToAPairThatBreaksWhileNotReadyFails(struct end *e)
{
	send_one(e, e->buffer, 100, 1);
	tell(e, '1');
	want_wc(e->cq, 1, IBV_WC_RETRY_EXC_ERR);
	tell(e, '9');
}

/* ---- errors ---- */

static void receive_too_short(struct end *e)
{
	post_recv(e, e->buffer, 50, 1);
	post_recv(e, e->buffer, 50, 2);
	tell(e, '1');
	want_wc(e->cq, 1, IBV_WC_LOC_LEN_ERR);
	want_wc(e->cq, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK(e->id->qp->state == IBV_QPS_ERR);
	await(e, '9');
}

static void messageLongerThanTheReceiveFailsOnBothSides(struct end *e)
{
	await(e, '1');
	send_one(e, e->buffer, 51, 1);
	want_wc(e->cq, 1, IBV_WC_REM_INV_REQ_ERR);
	tell(e, '9');
}

static void receive_into_read_only(struct end *e)
{
	struct ibv_sge s = { (uintptr_t)e->buffer, 64, e->readable->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &s, .num_sge = 1 }, *bad;

	CHECK(!ibv_post_recv(e->id->qp, &wr, &bad));
	tell(e, '1');
	want_wc(e->cq, 1, IBV_WC_LOC_PROT_ERR);
	await(e, '9');
}

static void receiveIntoAReadOnlyRegionFailsOnBothSides(struct end *e)
{
	await(e, '1');
	send_one(e, e->buffer, 51, 1);
	want_wc(e->cq, 1, IBV_WC_REM_OP_ERR);
	tell(e, '9');
}

static void errorFlushesEverythingPosted(struct end *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };
	int sends = 0, recvs = 0;

	for (uint64_t i = 0; i < 10; i++) {
		post_recv(e, e->buffer, 64, 100 + i);
		send_one(e, e->buffer, 64, i);		/* nobody receives */
	}
	CHECK(!p_ibv_modify_qp(e->id->qp, &a, IBV_QP_STATE));
	for (int i = 0; i < 20; i++) {
		struct ibv_wc wc = next_wc(e->cq);

		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
		CHECK(wc.wr_id == (wc.wr_id < 100 ? (uint64_t)sends++ : 100 + (uint64_t)recvs++));
	}
	post_recv(e, e->buffer, 64, 200);
	want_wc(e->cq, 200, IBV_WC_WR_FLUSH_ERR);
	send_one(e, e->buffer, 64, 201);
	want_wc(e->cq, 201, IBV_WC_WR_FLUSH_ERR);
	tell(e, '9');
}

static void fullQueuesRefusePosts(struct end *e)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad = NULL;

	for (uint64_t i = 0; i < 8; i++)
		post_recv(e, e->buffer, 64, i);
	CHECK(ibv_post_recv(e->id->qp, &wr, &bad) == ENOMEM && bad == &wr);
	for (uint64_t i = 0; i < 8; i++)
		send_one(e, e->buffer, 64, i);		/* nobody receives, so they stay */
	CHECK(post(e, IBV_WR_SEND, e->local->lkey, e->buffer, 64, 0, 0, 9) == ENOMEM);
	tell(e, '9');
}

/* ---- completion queues ---- */

static void receive_and_poll(struct end *e)
{
	struct pollfd told = { .fd = e->sync, .events = POLLIN };
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 20; i++)
		post_recv(e, e->buffer, 64, i);
	tell(e, '1');
	while (!poll(&told, 1, 1))			/* this side's queue must not overrun */
		while (ibv_poll_cq(e->cq, 1, &wc) > 0)
			;
	await(e, '9');
}

static void overrunQueueBreaksItsPairsAndIsReported(struct end *e)
{
	struct pollfd p = { .fd = e->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	struct ibv_wc wc[16];
	int types[2];

	await(e, '1');
	for (uint64_t i = 0; i < 12; i++)		/* the queue has room for 8 */
		send_one(e, e->buffer, 64, i);
	for (int i = 0; i < 2; i++) {
		CHECK(poll(&p, 1, 10000) == 1);
		CHECK(!p_ibv_get_async_event(e->id->verbs, &event));
		types[i] = (int)event.event_type;
		CHECK(event.event_type == IBV_EVENT_CQ_ERR ? event.element.cq == e->cq : event.element.qp == e->id->qp);
		p_ibv_ack_async_event(&event);
	}
	CHECK(types[0] == IBV_EVENT_CQ_ERR && types[1] == IBV_EVENT_QP_FATAL);
	CHECK(e->id->qp->state == IBV_QPS_ERR);
	CHECK(ibv_poll_cq(e->cq, 16, wc) == 8 && wc[7].wr_id == 7 && ibv_poll_cq(e->cq, 16, wc) < 0);
	tell(e, '9');
}

static void send_when_told(struct end *e)
{
	await(e, '1');
	send_one(e, e->buffer, 64, 1);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	await(e, '9');
}

static void armedQueueWakesItsChannelOnce(struct end *e)
{
	struct pollfd p = { .fd = e->comp_channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	post_recv(e, e->buffer, 64, 1);
	CHECK(!ibv_req_notify_cq(e->cq, 0));
	CHECK(poll(&p, 1, 50) == 0);
	tell(e, '1');
	CHECK(poll(&p, 1, 10000) == 1);
	CHECK(!p_ibv_get_cq_event(e->comp_channel, &cq, &context) && cq == e->cq);
	CHECK(poll(&p, 1, 50) == 0);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	p_ibv_ack_cq_events(cq, 1);
	tell(e, '9');
}

enum { ROUNDS = 500 };

/* As ibv_get_cq_event(3) has it: arms, looks once more, waits for events until there is a completion. */
static void wait_for_message(struct end *e, uint64_t wr_id)
{
	struct pollfd p = { .fd = e->comp_channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	CHECK(!ibv_req_notify_cq(e->cq, 0));
	while (!ibv_poll_cq(e->cq, 1, &wc)) {
		CHECK(poll(&p, 1, 10000) == 1);
		CHECK(!p_ibv_get_cq_event(e->comp_channel, &cq, &context));
		p_ibv_ack_cq_events(cq, 1);
		CHECK(!ibv_req_notify_cq(e->cq, 0));
	}
	CHECK(wc.wr_id == wr_id && wc.status == IBV_WC_SUCCESS);
}

static void answer_each(struct end *e)
{
	for (int i = 0; i < ROUNDS; i++)
		post_recv(e, e->buffer, 64, 1);
	tell(e, '1');
	for (int i = 0; i < ROUNDS; i++) {
		wait_for_message(e, 1);
		send_one(e, e->buffer, 64, 2);
		want_wc(e->cq, 2, IBV_WC_SUCCESS);
	}
	await(e, '9');
}

static void twoThatOnlyWaitHearEachOther(struct end *e)
{
	await(e, '1');
	for (int i = 0; i < ROUNDS; i++) {
		post_recv(e, e->buffer, 64, 3);
		send_one(e, e->buffer, 64, 4);
		want_wc(e->cq, 4, IBV_WC_SUCCESS);
		wait_for_message(e, 3);
	}
	tell(e, '9');
}

static void send_twice(struct end *e)
{
	await(e, '1');
	send_one(e, e->buffer, 64, 1);
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
	await(e, '2');
	send_one(e, e->buffer, 64, 2);
	want_wc(e->cq, 2, IBV_WC_SUCCESS);
	tell(e, '3');
	await(e, '9');
}

static void messagesAreTakenThoughNobodyWaitsAgain(struct end *e)
{
	post_recv(e, e->buffer, 64, 1);
	post_recv(e, e->buffer, 64, 2);
	tell(e, '1');
	wait_for_message(e, 1);
	tell(e, '2');
	await(e, '3');			/* neither polling nor waiting */
	want_wc(e->cq, 2, IBV_WC_SUCCESS);
	tell(e, '9');
}

#define T(f, s) { .name = #f, .server = s, .client = f }
#define ACCEPT_RNR(n) .accept_param = { .responder_resources = 8, .initiator_depth = 8, .rnr_retry_count = n }

int main(void)
{
	static const struct test tests[] = {
		T(messagesArriveOnceAndInOrder, receive_numbered),
		T(largeAndEmptyMessagesArrive, receive_large),
		T(immediateAndInlineDataArrive, receive_immediate),
		T(messagesWaitForAReceive, receive_late),
		{ .name = "messagesWaitForAReceive (socket)", .server = receive_late, .client = messagesWaitForAReceive,
		  .environment = "SOFTHCA_DIRECT=0" },
		{ .name = "finiteRnrRetriesRunOut", .server = wait_only, .client = finiteRnrRetriesRunOut, ACCEPT_RNR(2) },
		{ .name = "finiteRnrRetriesRunOut (none)", .server = wait_only, .client = finiteRnrRetriesRunOut,
		  .accept_param = { .responder_resources = 1 } },
		{ .name = "messagesWaitForAReceive (finite retries)", .server = receive_late, .client = messagesWaitForAReceive,
		  ACCEPT_RNR(6) },
		T(messageToAPairThatBreaksWhileNotReadyFails, break_late),
		T(messageLongerThanTheReceiveFailsOnBothSides, receive_too_short),
		T(receiveIntoAReadOnlyRegionFailsOnBothSides, receive_into_read_only),
		T(errorFlushesEverythingPosted, wait_only),
		{ .name = "fullQueuesRefusePosts", .server = wait_only, .client = fullQueuesRefusePosts, .max_wr = 8 },
		{ .name = "overrunQueueBreaksItsPairsAndIsReported", .server = receive_and_poll,
		  .client = overrunQueueBreaksItsPairsAndIsReported, .cqe = 8, .max_wr = 32 },
		T(armedQueueWakesItsChannelOnce, send_when_told),
		{ .name = "twoThatOnlyWaitHearEachOther", .server = answer_each, .client = twoThatOnlyWaitHearEachOther,
		  .max_wr = 1024, .cqe = 1024 },
		T(messagesAreTakenThoughNobodyWaitsAgain, send_twice),
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
