/* Reliable connected queue pairs. All of it is guarded by soft_lock. */
#ifndef IBV_QP_H
#define IBV_QP_H

#include "ibv_cq.h"
#include "soft_link.h"

struct send_request {
	uint64_t wr_id, remote_addr;
	uint32_t rkey, imm, seq;
	enum ibv_wr_opcode opcode;
	unsigned flags;
	uint64_t bytes, done_bytes;	/* done: of a READ */
	uint64_t generation;		/* of the region a direct READ has begun to read */
	enum ibv_wc_status failed;	/* known to fail; reported when its turn has come */
	struct ibv_sge *sge;
	int sges;
	uint8_t *inline_data;
};

struct recv_request {
	uint64_t wr_id;
	struct ibv_sge *sge;
	int sges;
};

struct soft_qp {
	struct ibv_qp v;
	struct ibv_qp_cap cap;
	bool signal_all;
	uint32_t access;		/* what the peer may do: IBV_ACCESS_REMOTE_* */
	uint8_t max_rd_atomic, max_dest_rd_atomic, retry_count, rnr_retry;

	/* A thread touches buffers of posted requests without soft_lock: nothing is flushed or freed meanwhile. */
	int busy;
	bool copying;			/* one of them executes the head of the send queue */
	bool peer_lost;			/* the oldest unanswered request will not be answered */

	struct send_request *sends;
	uint32_t send_head, send_count, started;	/* started: sent to the peer, not answered; from the head */
	uint32_t reads_started;
	bool rnr_wait, rewind;		/* the peer had no receive; start again from the head once the frame on its way is out */
	struct recv_request *recvs;
	uint32_t recv_head, recv_count;
	struct ibv_sge *sge_pool;
	uint8_t *inline_pool;

	struct link *link;		/* NULL: not connected */
	struct soft_qp *next_job;	/* of the engine */
	bool is_job;
};

static inline struct soft_qp *soft_qp_of(struct ibv_qp *v) { return container_of(v, struct soft_qp, v); }

static inline struct send_request *soft_send_at(struct soft_qp *q, uint32_t i)
{
	return &q->sends[(q->send_head + i) % q->cap.max_send_wr];
}

int soft_post_send(struct ibv_qp *v, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int soft_post_recv(struct ibv_qp *v, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

struct soft_qp *soft_qp_find(uint32_t qp_num);

/* Joins a queue pair and a connection whose peer has answered, ready to send. */
void soft_qp_connect(struct soft_qp *q, struct link *l);

/* The connection stands: who waits for completions may serve its socket. */
void soft_qp_share_socket(struct soft_qp *q);

/* Parts them: error state, flush. Waits for threads in system calls, so it may let go of soft_lock. */
void soft_qp_disconnect(struct soft_qp *q);

/* Error state; posted requests are flushed once no thread touches their buffers. */
void soft_qp_error(struct soft_qp *q);

/* Finishes the head of the send queue, or of the receive queue; any status but success breaks the queue pair. */
void soft_qp_finish_send(struct soft_qp *q, enum ibv_wc_status status);
void soft_qp_finish_recv(struct soft_qp *q, enum ibv_wc_status status, const struct frame *f);

void soft_qp_busy(struct soft_qp *q);
void soft_qp_idle(struct soft_qp *q);		/* flushes if that had to wait */

static inline bool soft_qp_is_down(const struct soft_qp *q)
{
	return !q || (q->v.state != IBV_QPS_RTR && q->v.state != IBV_QPS_RTS);
}

static inline uint32_t soft_qp_pd(const struct soft_qp *q) { return q->v.pd->handle; }
static inline unsigned soft_qp_retry_count(const struct soft_qp *q) { return q ? q->retry_count : 0; }

/* Tells peers of this host, through the region table, what they may read through this queue pair. */
void soft_qp_publish(struct soft_qp *q);

void soft_qp_break_overrun(void);	/* those that complete to a queue that was overrun */

#endif
