/*
 * Deregistration racing READs. The owner registers a window, tells its key and content, deregisters it, unmaps it and maps
 * something else at the same address, over and over. The reader may see an error or the content it was told, never other bytes.
 */
#include "harness.h"
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

enum { WINDOW_BYTES = 1 << 20, SMALL_BYTES = 8 << 10, RACE_MS = 2000, MAX_RACE_MS = 30000 };
static const uint64_t POISON = 0xdeadbeefdeadbeef;

/* Between the processes. The window's address never changes. */
struct story {
	_Atomic uint64_t addr;
	_Atomic uint32_t key;		/* 0: no window yet */
	_Atomic bool stop;
};
static struct story *story;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void fill_words(uint64_t *words, uint64_t value)
{
	for (size_t i = 0; i < WINDOW_BYTES / 8; i++)
		words[i] = value;
}

/* One life of a window. The content starts with the key, so the reader can tell which registration it read. */
static void live_once(struct end *e, uint64_t *window, unsigned *seed)
{
	struct ibv_mr *mr;

	CHECK(mmap(window, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == window);
	CHECK((mr = p_ibv_reg_mr(e->pd, window, WINDOW_BYTES, IBV_ACCESS_REMOTE_READ)));
	fill_words(window, mr->rkey);
	story->addr = (uintptr_t)window;
	story->key = mr->rkey;
	/* Mostly shorter than a READ takes; now and then long enough for a whole one, however slow the machine. */
	usleep(rand_r(seed) % 8 ? (useconds_t)rand_r(seed) % 600 : 10000);
	CHECK(!p_ibv_dereg_mr(mr));
	if (rand_r(seed) % 2) {
		CHECK(!munmap(window, WINDOW_BYTES));
		CHECK(mmap(window, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == window);
	}
	fill_words(window, POISON);
}

/* Accepts one connection after the other, since every refused READ costs one. */
static void *accept_all(void *arg)
{
	struct end *e = arg;
	struct rdma_conn_param p = { .responder_resources = 8, .initiator_depth = 8, .rnr_retry_count = 7 };

	for (;;) {
		struct rdma_cm_event *event;
		enum rdma_cm_event_type type;
		struct rdma_cm_id *id;

		CHECK(!p_rdma_get_cm_event(e->channel, &event));
		id = event->id;
		type = event->event;
		p_rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(e, id);
			CHECK(!p_rdma_accept(id, &p));
		} else if (type == RDMA_CM_EVENT_DISCONNECTED && id == e->id) {
			return NULL;		/* the harness's own connection: the end */
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			p_rdma_destroy_qp(id);
			CHECK(!p_rdma_destroy_id(id));
		} else {
			CHECK(type == RDMA_CM_EVENT_ESTABLISHED);
		}
	}
}

static void owner(struct end *e)
{
	uint64_t *window = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned seed = 20250102;
	pthread_t thread;

	CHECK(window != MAP_FAILED);
	CHECK(!pthread_create(&thread, NULL, accept_all, e));
	story->key = 0;
	story->stop = false;
	tell(e, '1');
	while (!story->stop)
		live_once(e, window, &seed);
	CHECK(!pthread_join(thread, NULL));
	e->disconnected = true;
	munmap(window, WINDOW_BYTES);
}

static void reconnect(struct end *e)
{
	struct rdma_conn_param p = { .responder_resources = 8, .initiator_depth = 8, .retry_count = 7, .rnr_retry_count = 7 };

	resolve(e, e->port);
	make_qp(e, e->id);
	CHECK(!p_rdma_connect(e->id, &p));
	take_event(e, RDMA_CM_EVENT_ESTABLISHED);
}

static void hang_up(struct end *e)
{
	p_rdma_disconnect(e->id);
	p_rdma_ack_cm_event(next_event(e, RDMA_CM_EVENT_DISCONNECTED));
	p_rdma_destroy_qp(e->id);
	CHECK(!p_rdma_destroy_id(e->id));
}

static void race(struct end *e, uint32_t bytes)
{
	struct rdma_cm_id *first = e->id;
	uint64_t start_ms = now_ms(), right = 0, refused = 0;

	await(e, '1');
	reconnect(e);
	while (now_ms() < start_ms + (right && refused ? RACE_MS : MAX_RACE_MS)) {
		uint32_t key = story->key;
		struct ibv_wc wc;

		if (!key)
			continue;
		CHECK(!post(e, IBV_WR_RDMA_READ, e->local->lkey, e->buffer, bytes, story->addr, key, 1));
		wc = next_wc(e->cq);
		if (wc.status == IBV_WC_SUCCESS) {
			for (uint32_t i = 0; i < bytes; i += 8) {
				uint64_t word;

				memcpy(&word, e->buffer + i, sizeof(word));
				if (word != key && word)		/* zero: read between registration and filling */
					fprintf(stderr, "# word %u is %llx, key %x\n", i, (unsigned long long)word, key);
				CHECK(word == key || !word);
			}
			right++;
			continue;
		}
		CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
		refused++;
		hang_up(e);
		reconnect(e);
	}
	hang_up(e);
	e->id = first;
	story->stop = true;
	printf("# %llu READs right, %llu refused, of these %lld raced the copy itself\n", (unsigned long long)right,
	       (unsigned long long)refused, (long long)counter("races_detected"));
	CHECK(right && refused);
}

static void large(struct end *e) { race(e, WINDOW_BYTES); }
static void small(struct end *e) { race(e, SMALL_BYTES); }

int main(void)
{
	static const struct test tests[] = {
		{ .name = "readsRacingDeregistrationNeverYieldOtherBytes (direct, engine)", .server = owner, .client = large },
		{ .name = "readsRacingDeregistrationNeverYieldOtherBytes (direct, inline)", .server = owner, .client = small },
		{ .name = "readsRacingDeregistrationNeverYieldOtherBytes (socket, large)", .server = owner, .client = large,
		  .environment = "SOFTHCA_DIRECT=0" },
		{ .name = "readsRacingDeregistrationNeverYieldOtherBytes (socket, small)", .server = owner, .client = small,
		  .environment = "SOFTHCA_DIRECT=0" },
	};

	story = mmap(NULL, sizeof(*story), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(story != MAP_FAILED);
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
