/* Posting work requests (ibv_post_send(3), ibv_post_recv(3)). */
#include "ibv_qp.h"
#include "soft_requester.h"
#include "soft_responder.h"

static bool gather_inline(struct send_request *r, const struct ibv_send_wr *wr, uint32_t max_bytes)
{
	uint64_t bytes = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > max_bytes - bytes)
			return false;
		memcpy(r->inline_data + bytes, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		bytes += wr->sg_list[i].length;
	}
	return true;
}

static int check(const struct soft_qp *q, const struct ibv_send_wr *wr)
{
	if (q->v.state != IBV_QPS_RTS && q->v.state != IBV_QPS_ERR)
		return EINVAL;
	if (q->send_count == q->cap.max_send_wr)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > q->cap.max_send_sge || wr->opcode > IBV_WR_RDMA_READ)
		return EINVAL;
	return wr->opcode == IBV_WR_RDMA_READ && wr->send_flags & IBV_SEND_INLINE ? EINVAL : 0;
}

static int append(struct soft_qp *q, const struct ibv_send_wr *wr)
{
	struct send_request *r;
	uint64_t bytes = 0;
	int rc = check(q, wr);

	if (rc)
		return rc;
	r = soft_send_at(q, q->send_count);
	for (int i = 0; i < wr->num_sge; i++) {
		r->sge[i] = wr->sg_list[i];
		bytes += wr->sg_list[i].length;
	}
	if (bytes > SOFT_MAX_MESSAGE || (wr->send_flags & IBV_SEND_INLINE && !gather_inline(r, wr, q->cap.max_inline_data)))
		return EINVAL;
	r->wr_id = wr->wr_id;
	r->opcode = wr->opcode;
	r->flags = wr->send_flags;
	r->remote_addr = wr->wr.rdma.remote_addr;
	r->rkey = wr->wr.rdma.rkey;
	r->imm = wr->imm_data;
	r->sges = wr->num_sge;
	r->bytes = bytes;
	r->done_bytes = 0;
	r->generation = 0;
	r->failed = IBV_WC_SUCCESS;
	q->send_count++;
	return 0;
}

int soft_post_send(struct ibv_qp *v, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct soft_qp *q = soft_qp_of(v);
	int rc = 0;

	soft_enter();
	for (; wr; wr = wr->next) {
		rc = append(q, wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	if (v->state == IBV_QPS_ERR)
		soft_qp_error(q);		/* flushes */
	else
		soft_requester_run(q, soft_config()->inline_max_bytes);
	soft_leave();
	return rc;
}

static int append_recv(struct soft_qp *q, const struct ibv_recv_wr *wr)
{
	struct recv_request *r;

	if (q->v.state == IBV_QPS_RESET || wr->num_sge < 0 || (uint32_t)wr->num_sge > q->cap.max_recv_sge)
		return EINVAL;
	if (q->recv_count == q->cap.max_recv_wr)
		return ENOMEM;
	r = &q->recvs[(q->recv_head + q->recv_count++) % q->cap.max_recv_wr];
	r->wr_id = wr->wr_id;
	r->sges = wr->num_sge;
	if (wr->num_sge)
		memcpy(r->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*r->sge));
	return 0;
}

int soft_post_recv(struct ibv_qp *v, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct soft_qp *q = soft_qp_of(v);
	int rc = 0;

	soft_enter();
	for (; wr; wr = wr->next) {
		rc = append_recv(q, wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	if (v->state == IBV_QPS_ERR)
		soft_qp_error(q);		/* flushes */
	else
		soft_responder_receive_posted(q);
	soft_leave();
	return rc;
}
