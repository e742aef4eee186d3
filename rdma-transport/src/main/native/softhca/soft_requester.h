/*
 * The send queue at work. Requests start in order and finish in order. A READ that can be made directly runs when everything
 * before it is answered, in the thread that posts it or on the engine; everything else goes out on the socket, up to
 * SOFT_MAX_UNACKED requests and max_rd_atomic READs ahead of the answers.
 */
#ifndef SOFT_REQUESTER_H
#define SOFT_REQUESTER_H

#include "ibv_qp.h"

/* Starts what can start. Copies that exceed the budget are left to the engine. */
void soft_requester_run(struct soft_qp *q, size_t budget_bytes);

/* The same on the engine, which may do a part of a copy. */
void soft_requester_run_slice(struct soft_qp *q, size_t slice_bytes);

/* ---- for the sending half of the link ---- */

/* Whether a request can be sent now. */
bool soft_request_waits(struct soft_qp *q);

bool soft_request_begin(struct soft_qp *q, struct outgoing *tx);	/* false: nothing may start now */

/* Memory of the request that is going out; returns the number of pins or -1 if it can no longer be sent. */
int soft_request_payload(struct soft_qp *q, uint64_t offset, uint64_t bytes, struct iovec *iov, int *n, struct ibv_sge *pinned);
void soft_request_sent(struct soft_qp *q);
void soft_request_failed(struct soft_qp *q, enum ibv_wc_status status);
void soft_request_drop(struct link *l);		/* the queue pair is down: forget the frame, break the link if half is out */
bool soft_requests_unanswered(const struct soft_qp *q, const struct link *l);
void soft_requests_timed_out(struct soft_qp *q);

/* ---- for the receiving half: false: not what an adapter says ---- */

bool soft_answer_data_begin(struct link *l);
int soft_answer_place(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins);
bool soft_answer(struct link *l, const struct frame *f);

#endif
