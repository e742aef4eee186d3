/* softhca: a software RDMA adapter in user space. Internal declarations. */
#ifndef SOFT_H
#define SOFT_H
#include "glibc_compat.h"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/uio.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

enum {
	MAX_SGE = 16, MAX_INLINE = 256, MAX_WR = 16384, MAX_CQE = 1 << 20,
	MR_SLOTS = 1 << 16, REQ_PRIV = 56, REP_PRIV = 196, REJ_PRIV = 148,
};

/* ---- mrtab.c: memory regions, in a memfd that peers of this host map ---- */

struct mr_slot {
	_Atomic uint32_t key;		/* 0: free */
	_Atomic uint32_t users;		/* operations in progress, of any process */
	uint32_t access, pd;
	uint64_t addr, len;
};

struct mr_table {
	uint64_t nonce;
	uint64_t slots;
	struct mr_slot slot[MR_SLOTS];
};

struct mr_table *mrtab_own(int *memfd);			/* NULL: errno */
struct mr_table *mrtab_map(int pid, int memfd, uint64_t nonce);
void mrtab_unmap(struct mr_table *t);
int mrtab_add(uint32_t pd, uint64_t addr, uint64_t len, uint32_t access, uint32_t *key);
int mrtab_del(uint32_t key);
/* Check key, protection domain, bounds and rights; pins the region until mrtab_put. */
struct mr_slot *mrtab_get(struct mr_table *t, uint32_t key, uint32_t pd,
			  uint64_t addr, uint64_t len, uint32_t need);
void mrtab_put(struct mr_slot *s);

/* ---- wire.c: frames on the socket of one connection ---- */

enum frame_type {
	F_REQ = 1, F_REP, F_RTU, F_REJ, F_DISC, F_DREP,		/* connection manager */
	F_SEND, F_WRITE, F_READ, F_DATA, F_ACK, F_TERM,		/* queue pair */
};

struct frame {
	uint8_t type, solicited, has_imm, pad;
	uint32_t len;			/* payload bytes (F_READ: bytes wanted) */
	uint64_t addr;
	uint32_t rkey, imm, status, pad2;
};

struct hello {				/* payload of F_REQ and F_REP */
	uint64_t nonce, nonce_addr;	/* the peer proves direct access by reading it */
	uint32_t pid, memfd, qp_num, pd;
	uint8_t responder_resources, initiator_depth, flow_control, retry_count;
	uint8_t rnr_retry_count, srq, priv_len, pad;
	uint8_t priv[256];
};

struct link {
	int fd;
	pthread_mutex_t tx;
	bool direct;			/* peer's memory is reachable by process_vm_* */
	int peer_pid;
	uint32_t peer_pd;
	struct mr_table *peer_mrs;
	void (*detach)(struct link *l);	/* stops the receiving thread and parts queue pair and link */
};

int read_full(int fd, void *buf, size_t len);
int readv_full(int fd, struct iovec *iov, int n);
int link_send(struct link *l, const struct frame *f, struct iovec *iov, int n);
bool link_try_send(struct link *l, const struct frame *f);	/* false: would block */
void link_hello(struct hello *h);
void link_probe(struct link *l, const struct hello *h);
void link_close(struct link *l);
int soft_thread(pthread_t *t, void *(*fn)(void *), void *arg);

/* ---- verbs.c ---- */

struct chan {				/* completion channel: eventfd as semaphore + list */
	struct ibv_comp_channel v;
	pthread_mutex_t lock;
	struct cq_event { struct cq_event *next; struct cq *cq; } *head, **tail;
};

struct cq {
	struct ibv_cq v;
	struct ibv_wc *ring;
	_Atomic uint32_t count;
	uint32_t cap, head;
	int armed;			/* 0 no, 1 solicited only, 2 any */
	bool overrun;
	uint32_t events_got;
};

extern struct ibv_context soft_context;
void cq_push(struct cq *cq, const struct ibv_wc *wc, bool solicited);
struct ibv_pd *default_pd(void);

/* ---- qp.c ---- */

struct sqe {
	uint64_t wr_id, raddr;
	uint32_t rkey, imm, bytes;
	enum ibv_wr_opcode op;
	unsigned flags;
	int nsge;
	struct ibv_sge sge[MAX_SGE];
	uint8_t inl[MAX_INLINE];
};

struct rqe {
	uint64_t wr_id;
	int nsge;
	struct ibv_sge sge[MAX_SGE];
};

struct inbound {			/* a SEND that found no receive (RNR), or a reply to send */
	struct inbound *next;
	struct frame f;
	uint8_t data[];
};

struct qp {
	struct ibv_qp v;
	struct ibv_qp_cap cap;
	bool sig_all, stop, kick;
	bool running;			/* one thread executes the send queue */
	bool waiting;			/* its head waits for an answer of the peer */
	int busy;			/* threads touching buffers of posted requests */
	struct sqe *sq;
	struct rqe *rq;
	uint32_t sq_head, sq_count, rq_head, rq_count;
	struct inbound *rnr, **rnr_tail, *reply, **reply_tail;
	struct link *link;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_t worker;
	struct qp *next;
};

struct qp *qp_find(uint32_t qp_num);
int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void qp_connect(struct qp *q, struct link *l);
void qp_disconnect(struct qp *q);	/* error state, flush, forget the link */
void qp_error(struct qp *q);
int qp_frame(struct qp *q, struct link *l, struct frame *f);	/* from the receiving thread */

#define containerof(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define EXPORT __attribute__((visibility("default")))
#endif
