/* What the peer asks for: SEND into posted receives, WRITE, and READ where the peer cannot copy itself. */
#ifndef SOFT_RESPONDER_H
#define SOFT_RESPONDER_H

#include "ibv_qp.h"

/* ---- for the receiving half of the link; false: not what an adapter says ---- */

bool soft_responder_begin(struct link *l);
int soft_responder_place(struct link *l, uint64_t offset, struct iovec *iov, struct ibv_sge *pinned, int *pins);
bool soft_responder_end(struct link *l);

/* ---- for the sending half ---- */

/* Whether the READ is (still) allowed: 0, or the status to answer with. A forbidden one breaks the queue pair. */
enum ibv_wc_status soft_responder_check_read(struct link *l, const struct response *r);
void soft_responder_violation(struct soft_qp *q);

/* A receive was posted, or the queue pair went down: a peer that waits for one tries again. */
void soft_responder_receive_posted(struct soft_qp *q);
void soft_responder_down(struct soft_qp *q);

#endif
