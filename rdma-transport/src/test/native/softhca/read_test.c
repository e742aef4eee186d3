/* RDMA READ: right bytes, right order, and nothing without the right key, bounds, rights and domain. */
#include "harness.h"

static void idle_server(struct end *e) { (void)e; }

static void check_read(struct end *e, uint64_t offset, uint32_t len, uint64_t wr_id)
{
	struct ibv_wc wc;

	memset(e->buffer + offset, 0xee, len);
	CHECK(!read_peer(e, offset, len, wr_id));
	wc = want_wc(e->cq, wr_id, IBV_WC_SUCCESS);
	CHECK(wc.opcode == IBV_WC_RDMA_READ && wc.byte_len == len && wc.qp_num == e->id->qp->qp_num);
	for (uint32_t i = 0; i < len; i++)
		CHECK(e->buffer[offset + i] == pattern(offset + i));
}

static void readsReturnTheOwnersBytes(struct end *e)
{
	unsigned seed = 20250101;

	for (uint64_t i = 0; i < 120; i++) {
		uint32_t len = (uint32_t)rand_r(&seed) % (i < 110 ? 100000 : BUFFER_BYTES - 1) + 1;

		check_read(e, (uint64_t)rand_r(&seed) % (BUFFER_BYTES - len + 1), len, i);
	}
	check_read(e, 0, BUFFER_BYTES, 1000);
	check_read(e, BUFFER_BYTES - 1, 1, 1001);
}

static void directReadsAreCounted(struct end *e)
{
	check_read(e, 0, 4096, 1);
	check_read(e, 0, 1 << 20, 2);
	CHECK(counter("reads_direct") == 2 && counter("read_bytes_direct") == 4096 + (1 << 20) && counter("reads_socket") == 0);
}

static void readsOverTheSocketAreCounted(struct end *e)
{
	check_read(e, 0, 4096, 1);
	check_read(e, 0, 1 << 20, 2);
	CHECK(counter("reads_socket") == 2 && counter("read_bytes_socket") == 4096 + (1 << 20) && counter("reads_direct") == 0);
}

static void readOfNothingSucceeds(struct end *e)
{
	CHECK(!read_peer(e, 0, 0, 1));
	want_wc(e->cq, 1, IBV_WC_SUCCESS);
}

static void manyReadsOfMixedSizeCompleteInOrder(struct end *e)
{
	for (int round = 0; round < 10; round++) {
		memset(e->buffer, 0xee, 3 << 20);
		for (uint64_t i = 0; i < 100; i++)
			CHECK(!read_peer(e, i * 30000, i % 7 ? 30 : 30000, i));
		for (uint64_t i = 0; i < 100; i++)
			want_wc(e->cq, i, IBV_WC_SUCCESS);
		for (uint64_t i = 0; i < 100; i++)
			for (uint64_t j = 0; j < (i % 7 ? 30 : 30000); j++)
				CHECK(e->buffer[i * 30000 + j] == pattern(i * 30000 + j));
	}
}

/*
 * WRITEs and READs of the same place, posted together: a READ sees the WRITE before it. That it does not see the WRITE behind it,
 * hardware promises only if that is fenced (InfiniBand specification, "Transaction ordering").
 */
static void fencedWritesAndReadsStayInOrder(struct end *e)
{
	e->send_flags = IBV_SEND_FENCE;
	for (int round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 20; i++) {
			uint8_t *from = e->buffer + i * 100000, *to = e->buffer + 3000000 + i * 64;

			memset(from, round + (int)i, 90000);
			CHECK(!post(e, IBV_WR_RDMA_WRITE, e->local->lkey, from, i % 3 ? 90000 : 50, e->peer.addr, e->peer.writable, 2 * i));
			CHECK(!post(e, IBV_WR_RDMA_READ, e->local->lkey, to, 50, e->peer.addr, e->peer.readable, 2 * i + 1));
		}
		for (uint64_t i = 0; i < 40; i++)
			CHECK(want_wc(e->cq, i, IBV_WC_SUCCESS).opcode == (i % 2 ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE));
		for (uint64_t i = 0; i < 20; i++)
			CHECK(e->buffer[3000000 + i * 64 + 49] == (uint8_t)((uint64_t)round + i));
	}
}

static void unsignaledReadsAreSilent(struct end *e)
{
	struct ibv_sge s = { (uintptr_t)e->buffer, 100, e->local->lkey };
	struct ibv_send_wr wr[2] = {
		{ .wr_id = 1, .next = &wr[1], .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
		  .wr.rdma = { e->peer.addr, e->peer.readable } },
		{ .wr_id = 2, .sg_list = &s, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		  .wr.rdma = { e->peer.addr, e->peer.readable } },
	}, *bad;

	CHECK(!ibv_post_send(e->id->qp, wr, &bad));
	want_wc(e->cq, 2, IBV_WC_SUCCESS);
	CHECK(no_wc(e->cq, 20));
}

/* ---- what must not work: the READ fails, everything behind it is flushed, the sink is untouched, the pair is in error ---- */

static void refused(struct end *e, enum ibv_wr_opcode op, uint32_t lkey, uint64_t raddr, uint32_t rkey, enum ibv_wc_status status)
{
	int seen = 0;

	post_recv(e, e->buffer + 4096, 64, 90);
	CHECK(!post(e, op, lkey, e->buffer, 100, raddr, rkey, 1));
	read_peer(e, 8192, 64, 2);	/* flushed, or refused because the pair is already in error: it may not succeed */
	want_wc(e->cq, 1, status);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = next_wc(e->cq);

		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
		seen |= wc.wr_id == 2 ? 1 : wc.wr_id == 90 ? 2 : 4;
	}
	CHECK(seen == 3 && e->id->qp->state == IBV_QPS_ERR);
	for (int i = 0; i < 100; i++)
		CHECK(e->buffer[i] == 0xee && e->buffer[8192 + i] == 0xee);
	CHECK(no_wc(e->cq, 10));
}

#define REFUSED(name, op, lkey, raddr, rkey, status) \
	static void name(struct end *e) { refused(e, op, lkey, raddr, rkey, status); }

REFUSED(unknownKeyIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, 0xdead01, IBV_WC_REM_ACCESS_ERR)
REFUSED(keyZeroIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, 0, IBV_WC_REM_ACCESS_ERR)
REFUSED(readPastTheEndIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr + BUFFER_BYTES - 99, e->peer.readable, IBV_WC_REM_ACCESS_ERR)
REFUSED(readBeforeTheStartIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr - 1, e->peer.readable, IBV_WC_REM_ACCESS_ERR)
REFUSED(wrappingReadIsRefused, IBV_WR_RDMA_READ, e->local->lkey, UINT64_MAX - 40, e->peer.readable, IBV_WC_REM_ACCESS_ERR)
REFUSED(readWithoutTheRightIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, e->peer.writable, IBV_WC_REM_ACCESS_ERR)
REFUSED(readOfALocalRegionIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, e->peer.local, IBV_WC_REM_ACCESS_ERR)
REFUSED(readOfAnotherDomainIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, e->peer.other_pd, IBV_WC_REM_ACCESS_ERR)
REFUSED(readOfADeregisteredRegionIsRefused, IBV_WR_RDMA_READ, e->local->lkey, e->peer.addr, e->peer.gone, IBV_WC_REM_ACCESS_ERR)
REFUSED(writeWithoutTheRightIsRefused, IBV_WR_RDMA_WRITE, e->local->lkey, e->peer.addr, e->peer.readable, IBV_WC_REM_ACCESS_ERR)
REFUSED(readIntoAReadOnlyRegionIsRefused, IBV_WR_RDMA_READ, e->readable->lkey, e->peer.addr, e->peer.readable, IBV_WC_LOC_PROT_ERR)
REFUSED(readWithAnUnknownLocalKeyIsRefused, IBV_WR_RDMA_READ, 12345, e->peer.addr, e->peer.readable, IBV_WC_LOC_PROT_ERR)
REFUSED(readIntoAnotherDomainIsRefused, IBV_WR_RDMA_READ, e->other_pd->lkey, e->peer.addr, e->peer.readable, IBV_WC_LOC_PROT_ERR)
REFUSED(writeFromAnUnknownLocalKeyIsRefused, IBV_WR_RDMA_WRITE, 12345, e->peer.addr, e->peer.writable, IBV_WC_LOC_PROT_ERR)

/* ---- rights of the queue pair, limits ---- */

static void withdraw_rights(struct end *e)
{
	struct ibv_qp_attr a = { .qp_access_flags = 0 };

	await(e, '1');
	CHECK(!p_ibv_modify_qp(e->id->qp, &a, IBV_QP_ACCESS_FLAGS));
	tell(e, '2');
	await(e, '3');
}

static void readThroughAPairWithoutReadRightIsRefused(struct end *e)
{
	check_read(e, 0, 1000, 1);
	tell(e, '1');
	await(e, '2');
	CHECK(!read_peer(e, 0, 1000, 2));
	want_wc(e->cq, 2, IBV_WC_REM_INV_REQ_ERR);
	tell(e, '3');
}

static void break_pair(struct end *e)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_ERR };

	await(e, '1');
	CHECK(!p_ibv_modify_qp(e->id->qp, &a, IBV_QP_STATE));
	tell(e, '2');
	await(e, '3');
}

static void readThroughABrokenPairFails(struct end *e)
{
	tell(e, '1');
	await(e, '2');
	CHECK(!read_peer(e, 0, 1000, 2));
	want_wc(e->cq, 2, IBV_WC_RETRY_EXC_ERR);
	tell(e, '3');
}

static void readWithoutReadDepthFailsInsteadOfWaiting(struct end *e)
{
	CHECK(!read_peer(e, 0, 1000, 1));
	want_wc(e->cq, 1, IBV_WC_LOC_QP_OP_ERR);
}

#define BOTH(f) { .name = #f " (direct)", .server = idle_server, .client = f }, \
	{ .name = #f " (socket)", .server = idle_server, .client = f, .environment = "SOFTHCA_DIRECT=0" }
#define BOTH_WITH(f, s) { .name = #f " (direct)", .server = s, .client = f }, \
	{ .name = #f " (socket)", .server = s, .client = f, .environment = "SOFTHCA_DIRECT=0" }

int main(void)
{
	static const struct test tests[] = {
		BOTH(readsReturnTheOwnersBytes),
		{ .name = "readsReturnTheOwnersBytes (engine)", .server = idle_server, .client = readsReturnTheOwnersBytes,
		  .environment = "SOFTHCA_INLINE_MAX=0" },
		{ .name = "directReadsAreCounted", .server = idle_server, .client = directReadsAreCounted },
		{ .name = "readsOverTheSocketAreCounted", .server = idle_server, .client = readsOverTheSocketAreCounted,
		  .environment = "SOFTHCA_DIRECT=0" },
		BOTH(readOfNothingSucceeds),
		BOTH(manyReadsOfMixedSizeCompleteInOrder),
		BOTH(fencedWritesAndReadsStayInOrder),
		BOTH(unsignaledReadsAreSilent),
		BOTH(unknownKeyIsRefused),
		BOTH(keyZeroIsRefused),
		BOTH(readPastTheEndIsRefused),
		BOTH(readBeforeTheStartIsRefused),
		BOTH(wrappingReadIsRefused),
		BOTH(readWithoutTheRightIsRefused),
		BOTH(readOfALocalRegionIsRefused),
		BOTH(readOfAnotherDomainIsRefused),
		BOTH(readOfADeregisteredRegionIsRefused),
		BOTH(writeWithoutTheRightIsRefused),
		BOTH(readIntoAReadOnlyRegionIsRefused),
		BOTH(readWithAnUnknownLocalKeyIsRefused),
		BOTH(readIntoAnotherDomainIsRefused),
		BOTH(writeFromAnUnknownLocalKeyIsRefused),
		BOTH_WITH(readThroughAPairWithoutReadRightIsRefused, withdraw_rights),
		BOTH_WITH(readThroughABrokenPairFails, break_pair),
		{ .name = "readWithoutReadDepthFailsInsteadOfWaiting", .server = idle_server,
		  .client = readWithoutReadDepthFailsInsteadOfWaiting,
		  .connect_param = { .responder_resources = 1, .rnr_retry_count = 7, .retry_count = 7 } },
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
