/*
 * Tests of libsofthca.so as a program sees it: loaded with dlopen, functions found with dlsym, posting and polling through
 * ibv_context.ops. Every test runs in two fresh processes, a server and a client, which end with nothing left: no object, no
 * thread, no descriptor.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#undef ibv_reg_mr
#undef ibv_query_port

#define CHECK(c) do { if (!(c)) { \
	fprintf(stderr, "# %s:%d: %s: %s (errno %d)\n", __FILE__, __LINE__, __func__, #c, errno); _exit(1); } } while (0)

#define LIBRARY_FUNCTIONS(X) X(rdma_create_event_channel) X(rdma_destroy_event_channel) X(rdma_create_id) X(rdma_destroy_id) \
	X(rdma_bind_addr) X(rdma_listen) X(rdma_resolve_addr) X(rdma_resolve_route) X(rdma_connect) X(rdma_accept) \
	X(rdma_reject) X(rdma_disconnect) X(rdma_get_cm_event) X(rdma_ack_cm_event) X(rdma_create_qp) X(rdma_destroy_qp) X(ibv_destroy_qp) \
	X(rdma_get_src_port) X(ibv_alloc_pd) X(ibv_dealloc_pd) X(ibv_reg_mr) X(ibv_dereg_mr) X(ibv_create_comp_channel) \
	X(ibv_destroy_comp_channel) X(ibv_create_cq) X(ibv_destroy_cq) X(ibv_get_cq_event) X(ibv_ack_cq_events) X(ibv_modify_qp) \
	X(ibv_query_device) X(ibv_query_gid) X(ibv_query_port) X(ibv_get_async_event) X(ibv_ack_async_event)
#define DECLARE(f) extern typeof(f) *p_##f;
LIBRARY_FUNCTIONS(DECLARE)
extern int64_t (*p_softhca_counter)(const char *);
extern int (*p_softhca_fault)(const char *);
extern void (*p_softhca_fault_clear)(void);
extern int (*p_softhca_close)(void);

enum { BUFFER_BYTES = 4 << 20 };

/* What a side tells the other about its memory. */
struct offer {
	uint64_t addr;
	uint32_t readable, writable, local, other_pd, gone;
};

/* One side of a test. */
struct end {
	int sync;			/* to the other side */
	pid_t server;			/* on the client: the server's process */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id, *listener;
	struct ibv_pd *pd, *pd2;
	struct ibv_comp_channel *comp_channel;
	struct ibv_cq *cq;
	uint8_t *buffer;
	struct ibv_mr *readable, *writable, *local, *other_pd;
	struct offer peer;
	uint16_t port;
	bool disconnected;		/* the DISCONNECTED event has been taken */
	uint64_t cqe, max_wr;
	unsigned send_flags;		/* more of them, for post */
};

struct test {
	const char *name;
	void (*server)(struct end *);	/* after the connection stands */
	void (*client)(struct end *);
	const char *environment;	/* NAME=value, or NULL */
	bool server_is_killed;		/* the client does it */
	bool alone;			/* client only, in a process with the library loaded and nothing made */
	struct rdma_conn_param accept_param, connect_param;	/* zero: the defaults below */
	uint64_t cqe, max_wr;		/* 0: 256, 128; cqe is the client's */
};

int run_tests(const struct test *tests, int n);	/* prints TAP; returns the exit code */

void tell(struct end *e, char what);
void await(struct end *e, char what);

/* The byte the server's buffer holds at an offset. */
uint8_t pattern(uint64_t offset);
void fill(uint8_t *buffer, uint64_t bytes);

struct rdma_cm_event *next_event(struct end *e, enum rdma_cm_event_type want);
void take_event(struct end *e, enum rdma_cm_event_type want);
struct ibv_wc next_wc(struct ibv_cq *cq);
struct ibv_wc want_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);
bool no_wc(struct ibv_cq *cq, int ms);

void post_recv(struct end *e, void *at, uint32_t len, uint64_t wr_id);

/* In two pieces, to exercise scatter lists. Returns what ibv_post_send did. */
int post(struct end *e, enum ibv_wr_opcode op, uint32_t lkey, void *at, uint32_t len, uint64_t raddr, uint32_t rkey, uint64_t wr_id);
int read_peer(struct end *e, uint64_t offset, uint32_t len, uint64_t wr_id);	/* to the same offset of our buffer */

/* The parts of setting up and tearing down, for tests that are alone. */
void load_library(void);
void unload_library(void);
int count_entries(const char *directory);
void open_channel(struct end *e);
void make_memory(struct end *e, struct ibv_context *context);
void make_qp(struct end *e, struct rdma_cm_id *id);
void resolve(struct end *e, uint16_t port);
uint16_t listen_on(struct end *e);
void close_end(struct end *e);
void check_nothing_left(void);
int count_threads(void);		/* more than when the library was loaded */
int64_t counter(const char *name);

#endif
