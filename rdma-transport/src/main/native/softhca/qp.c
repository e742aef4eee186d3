/*
 * Queue pairs. Work requests of a send queue run strictly one after the other, by whichever thread calls qp_run:
 * the poster (while what is left to copy is small), the receiving thread (after an answer) or the pair's worker.
 * 'running' makes that exclusive, 'waiting' says that the head waits for the peer's answer, and 'busy' counts the
 * threads that touch the buffers of posted requests: a queue is flushed only when it is zero.
 */
#include "soft.h"
#include <sys/socket.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct qp *all_qps;
static uint32_t last_num = 0x10;

static size_t inline_max(void)
{
	static size_t v = SIZE_MAX;

	if (v == SIZE_MAX) {
		const char *s = getenv("SOFTHCA_INLINE_MAX");

		v = s ? strtoul(s, NULL, 0) : 16 << 10;
	}
	return v;
}

/* ---- completions and the error state ---- */

static void push(struct qp *q, struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status st, enum ibv_wc_opcode op,
		 uint32_t len, const struct frame *f)
{
	struct ibv_wc wc = { .wr_id = wr_id, .status = st, .opcode = op, .byte_len = len, .qp_num = q->v.qp_num };

	if (f && f->has_imm) {
		wc.wc_flags = IBV_WC_WITH_IMM;
		wc.imm_data = f->imm;
	}
	cq_push(containerof(cq, struct cq, v), &wc, f && f->solicited);
}

static void pop_send(struct qp *q, enum ibv_wc_status st)
{
	static const enum ibv_wc_opcode op[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	};
	struct sqe *e = &q->sq[q->sq_head];

	if (st != IBV_WC_SUCCESS || q->sig_all || e->flags & IBV_SEND_SIGNALED)
		push(q, q->v.send_cq, e->wr_id, st, op[e->op], e->bytes, NULL);
	q->sq_head = (q->sq_head + 1) % q->cap.max_send_wr;
	q->sq_count--;
}

static void pop_recv(struct qp *q, enum ibv_wc_status st, enum ibv_wc_opcode op, uint32_t len, const struct frame *f)
{
	push(q, q->v.recv_cq, q->rq[q->rq_head].wr_id, st, op, len, f);
	q->rq_head = (q->rq_head + 1) % q->cap.max_recv_wr;
	q->rq_count--;
}

static void flush(struct qp *q)
{
	if (q->v.state != IBV_QPS_ERR || q->busy)
		return;
	q->waiting = false;
	while (q->sq_count)
		pop_send(q, IBV_WC_WR_FLUSH_ERR);
	while (q->rq_count)
		pop_recv(q, IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0, NULL);
	for (struct inbound *in; (in = q->rnr); free(in))
		q->rnr = in->next;
	q->rnr_tail = &q->rnr;
	pthread_cond_broadcast(&q->cond);
}

static void error_locked(struct qp *q)
{
	if (q->v.state != IBV_QPS_RESET)
		q->v.state = IBV_QPS_ERR;
	flush(q);
}

void qp_error(struct qp *q)
{
	pthread_mutex_lock(&q->lock);
	error_locked(q);
	pthread_mutex_unlock(&q->lock);
}

static void finish(struct qp *q, enum ibv_wc_status st)
{
	if (q->sq_count)
		pop_send(q, st);
	if (st != IBV_WC_SUCCESS)
		error_locked(q);
}

/* ---- executing the send queue ---- */

static int local_iov(struct qp *q, const struct ibv_sge *sge, int n, uint32_t need, struct iovec *iov)
{
	for (int i = 0; i < n; i++) {
		struct mr_slot *s = sge[i].length ? mrtab_get(mrtab_own(NULL), sge[i].lkey, q->v.pd->handle,
							      sge[i].addr, sge[i].length, need) : NULL;

		if (sge[i].length && !s)
			return -1;
		mrtab_put(s);
		iov[i] = (struct iovec){ (void *)(uintptr_t)sge[i].addr, sge[i].length };
	}
	return 0;
}

/* One copy by the kernel between the two processes. 0, or the errno. */
static int copy_direct(struct link *l, bool write, struct iovec *iov, int n, uint64_t raddr, size_t left)
{
	while (left) {
		struct iovec r = { (void *)(uintptr_t)raddr, left };
		ssize_t k = write ? process_vm_writev(l->peer_pid, iov, n, &r, 1, 0)
				  : process_vm_readv(l->peer_pid, iov, n, &r, 1, 0);

		if (k <= 0)
			return k ? errno : EFAULT;
		raddr += k;
		left -= k;
		while (n && (size_t)k >= iov->iov_len) {
			k -= iov->iov_len;
			iov++, n--;
		}
		if (n) {
			iov->iov_base = (char *)iov->iov_base + k;
			iov->iov_len -= k;
		}
	}
	return 0;
}

static bool is_direct(const struct link *l, const struct sqe *e)
{
	return l->direct && (e->op == IBV_WR_RDMA_READ || e->op == IBV_WR_RDMA_WRITE);
}

static enum ibv_wc_status run_direct(struct qp *q, struct link *l, struct sqe *e)
{
	bool write = e->op == IBV_WR_RDMA_WRITE, inl = e->flags & IBV_SEND_INLINE;
	struct iovec iov[MAX_SGE];
	struct mr_slot *s;
	int rc;

	if (inl)
		iov[0] = (struct iovec){ e->inl, e->bytes };
	else if (local_iov(q, e->sge, e->nsge, write ? 0 : IBV_ACCESS_LOCAL_WRITE, iov))
		return IBV_WC_LOC_PROT_ERR;
	if (!e->bytes)
		return IBV_WC_SUCCESS;
	s = mrtab_get(l->peer_mrs, e->rkey, l->peer_pd, e->raddr, e->bytes,
		      write ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ);
	if (!s)
		return IBV_WC_REM_ACCESS_ERR;
	rc = copy_direct(l, write, iov, inl ? 1 : e->nsge, e->raddr, e->bytes);
	mrtab_put(s);
	return !rc ? IBV_WC_SUCCESS : rc == EFAULT ? IBV_WC_REM_ACCESS_ERR : rc == ESRCH ? IBV_WC_RETRY_EXC_ERR
		: IBV_WC_REM_OP_ERR;
}

/* Send the request as a frame; the answer is worked on by qp_frame. */
static enum ibv_wc_status run_socket(struct qp *q, struct link *l, struct sqe *e)
{
	struct frame f = { .len = e->bytes, .addr = e->raddr, .rkey = e->rkey, .imm = e->imm,
			   .solicited = !!(e->flags & IBV_SEND_SOLICITED) };
	struct iovec iov[MAX_SGE];
	int n = e->nsge;

	f.has_imm = e->op == IBV_WR_SEND_WITH_IMM || e->op == IBV_WR_RDMA_WRITE_WITH_IMM;
	f.type = e->op == IBV_WR_RDMA_READ ? F_READ
		: e->op == IBV_WR_SEND || e->op == IBV_WR_SEND_WITH_IMM ? F_SEND : F_WRITE;
	if (e->flags & IBV_SEND_INLINE) {
		iov[0] = (struct iovec){ e->inl, e->bytes };
		n = 1;
	} else if (local_iov(q, e->sge, n, f.type == F_READ ? IBV_ACCESS_LOCAL_WRITE : 0, iov))
		return IBV_WC_LOC_PROT_ERR;
	return link_send(l, &f, iov, f.type == F_READ ? 0 : n) ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
}

/* q->lock is held, and let go while a request is executed. More than 'budget' bytes are left to the worker. */
static void qp_run(struct qp *q, size_t budget)
{
	if (q->running)
		return;
	q->running = true;
	while (q->v.state == IBV_QPS_RTS && q->sq_count && !q->waiting && q->link) {
		struct sqe *e = &q->sq[q->sq_head];
		struct link *l = q->link;
		bool direct = is_direct(l, e);
		enum ibv_wc_status st;

		if (e->bytes > budget) {
			q->kick = true;
			pthread_cond_broadcast(&q->cond);
			break;
		}
		budget -= e->bytes;
		q->waiting = !direct;
		q->busy++;
		pthread_mutex_unlock(&q->lock);
		st = direct ? run_direct(q, l, e) : run_socket(q, l, e);
		if (st == IBV_WC_REM_ACCESS_ERR || st == IBV_WC_LOC_PROT_ERR)	/* both ends break */
			link_send(l, &(struct frame){ .type = F_TERM }, NULL, 0);
		pthread_mutex_lock(&q->lock);
		q->busy--;
		if (direct || st != IBV_WC_SUCCESS) {
			q->waiting = false;
			finish(q, st);
		}
	}
	q->running = false;
	flush(q);
	pthread_cond_broadcast(&q->cond);
}

static void *worker(void *arg)
{
	struct qp *q = arg;

	pthread_mutex_lock(&q->lock);
	while (!q->stop) {
		struct inbound *in = q->reply;

		if (in) {
			struct link *l = q->link;
			struct frame f = in->f;

			q->reply = in->next;
			if (!q->reply)
				q->reply_tail = &q->reply;
			free(in);
			if (!l)
				continue;
			q->busy++;
			pthread_mutex_unlock(&q->lock);
			if (f.type == F_READ) {
				struct mr_slot *s = mrtab_get(mrtab_own(NULL), f.rkey, q->v.pd->handle, f.addr, f.len,
							      IBV_ACCESS_REMOTE_READ);
				struct iovec v = { (void *)(uintptr_t)f.addr, f.len };

				f.type = s ? F_DATA : F_ACK;
				f.status = s ? 0 : IBV_WC_REM_ACCESS_ERR;
				link_send(l, &f, &v, s ? 1 : 0);
				mrtab_put(s);
			} else
				link_send(l, &f, NULL, 0);
			pthread_mutex_lock(&q->lock);
			q->busy--;
			if (f.type == F_ACK && f.status)
				error_locked(q);
			flush(q);
			pthread_cond_broadcast(&q->cond);
		} else if (q->kick) {
			q->kick = false;
			qp_run(q, SIZE_MAX);
		} else
			pthread_cond_wait(&q->cond, &q->lock);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* ---- the peer's requests and answers; the receiving thread must never block on sending ---- */

static void queue_reply(struct qp *q, const struct frame *f)
{
	struct inbound *in = calloc(1, sizeof(*in));

	in->f = *f;
	*q->reply_tail = in;
	q->reply_tail = &in->next;
	pthread_cond_broadcast(&q->cond);
}

static void answer(struct qp *q, enum ibv_wc_status st)
{
	struct frame f = { .type = F_ACK, .status = st };

	if (q->link && (q->reply || !link_try_send(q->link, &f)))
		queue_reply(q, &f);
}

/* Match messages that arrived with posted receives. Without a receive they wait: receiver not ready. */
static void deliver(struct qp *q)
{
	struct inbound *in;

	while ((in = q->rnr) && q->rq_count && q->v.state != IBV_QPS_ERR) {
		struct rqe *r = &q->rq[q->rq_head];
		bool send = in->f.type == F_SEND;
		struct iovec iov[MAX_SGE];
		uint32_t off = 0;
		enum ibv_wc_status st = IBV_WC_SUCCESS;

		q->rnr = in->next;
		if (!q->rnr)
			q->rnr_tail = &q->rnr;
		if (send && local_iov(q, r->sge, r->nsge, IBV_ACCESS_LOCAL_WRITE, iov))
			st = IBV_WC_LOC_PROT_ERR;
		for (int i = 0; send && !st && i < r->nsge && off < in->f.len; i++) {
			uint32_t k = in->f.len - off < iov[i].iov_len ? in->f.len - off : iov[i].iov_len;

			memcpy(iov[i].iov_base, in->data + off, k);
			off += k;
		}
		if (send && !st && off < in->f.len)
			st = IBV_WC_LOC_LEN_ERR;
		/* Before the completion: the program's answer must not overtake it (perftest -e counts on that). */
		answer(q, !st ? st : st == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR);
		pop_recv(q, st, send ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM, in->f.len, &in->f);
		free(in);
		if (st)
			error_locked(q);
	}
}

static int frame_send(struct qp *q, struct link *l, struct frame *f)
{
	struct inbound *in;
	uint32_t len = f->type == F_SEND ? f->len : 0;

	in = calloc(1, sizeof(*in) + len);
	if (!in || read_full(l->fd, in->data, len)) {
		free(in);
		return -1;
	}
	in->f = *f;
	pthread_mutex_lock(&q->lock);
	*q->rnr_tail = in;
	q->rnr_tail = &in->next;
	deliver(q);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int frame_write(struct qp *q, struct link *l, struct frame *f)
{
	struct mr_slot *s = f->len ? mrtab_get(mrtab_own(NULL), f->rkey, q->v.pd->handle, f->addr, f->len,
					       IBV_ACCESS_REMOTE_WRITE) : NULL;
	int rc = s ? read_full(l->fd, (void *)(uintptr_t)f->addr, f->len) : 0;

	mrtab_put(s);
	if (f->len && !s) {		/* the payload is not read: the connection is over */
		pthread_mutex_lock(&q->lock);
		answer(q, IBV_WC_REM_ACCESS_ERR);
		error_locked(q);
		pthread_mutex_unlock(&q->lock);
		for (char sink[4096]; f->len; f->len -= f->len < sizeof(sink) ? f->len : sizeof(sink))
			if (read_full(l->fd, sink, f->len < sizeof(sink) ? f->len : sizeof(sink)))
				return -1;
		return 0;
	}
	if (rc)
		return rc;
	if (f->has_imm)
		return frame_send(q, l, f);
	pthread_mutex_lock(&q->lock);
	answer(q, IBV_WC_SUCCESS);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

static int frame_data(struct qp *q, struct link *l, struct frame *f)
{
	struct sqe *e = &q->sq[q->sq_head];
	struct iovec iov[MAX_SGE];
	int rc = -1;

	pthread_mutex_lock(&q->lock);
	if (q->v.state == IBV_QPS_RTS && q->waiting && e->op == IBV_WR_RDMA_READ && e->bytes == f->len) {
		int n = e->nsge;

		for (int i = 0; i < n; i++)
			iov[i] = (struct iovec){ (void *)(uintptr_t)e->sge[i].addr, e->sge[i].length };
		q->busy++;
		pthread_mutex_unlock(&q->lock);
		rc = readv_full(l->fd, iov, n);
		pthread_mutex_lock(&q->lock);
		q->busy--;
		q->waiting = false;
		finish(q, rc ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS);
		qp_run(q, inline_max());
		flush(q);
	}
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int qp_frame(struct qp *q, struct link *l, struct frame *f)
{
	switch (f->type) {
	case F_SEND:
		return frame_send(q, l, f);
	case F_WRITE:
		return frame_write(q, l, f);
	case F_READ:
		pthread_mutex_lock(&q->lock);
		queue_reply(q, f);
		pthread_mutex_unlock(&q->lock);
		return 0;
	case F_DATA:
		return frame_data(q, l, f);
	case F_ACK:
		pthread_mutex_lock(&q->lock);
		if (q->waiting) {
			q->waiting = false;
			finish(q, f->status);
			qp_run(q, inline_max());
		}
		pthread_mutex_unlock(&q->lock);
		return 0;
	case F_TERM:
		qp_error(q);
		return 0;
	}
	return -1;
}

/* ---- posting ---- */

static int post_one(struct qp *q, const struct ibv_send_wr *wr)
{
	struct sqe *e = &q->sq[(q->sq_head + q->sq_count) % (q->cap.max_send_wr ? q->cap.max_send_wr : 1)];
	bool inl = wr->send_flags & IBV_SEND_INLINE;
	uint64_t bytes = 0;

	if (q->v.state != IBV_QPS_RTS && q->v.state != IBV_QPS_ERR)
		return EINVAL;
	if (q->sq_count == q->cap.max_send_wr)
		return ENOMEM;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > q->cap.max_send_sge || wr->opcode > IBV_WR_RDMA_READ)
		return EINVAL;
	for (int i = 0; i < wr->num_sge; i++) {
		if (inl && bytes + wr->sg_list[i].length <= MAX_INLINE)
			memcpy(e->inl + bytes, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		e->sge[i] = wr->sg_list[i];
		bytes += wr->sg_list[i].length;
	}
	if (bytes > 1ULL << 31 || (inl && (bytes > q->cap.max_inline_data || wr->opcode == IBV_WR_RDMA_READ)))
		return EINVAL;
	e->wr_id = wr->wr_id;
	e->op = wr->opcode;
	e->flags = wr->send_flags;
	e->raddr = wr->wr.rdma.remote_addr;
	e->rkey = wr->wr.rdma.rkey;
	e->imm = wr->imm_data;
	e->nsge = wr->num_sge;
	e->bytes = bytes;
	q->sq_count++;
	return 0;
}

int qp_post_send(struct ibv_qp *v, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct qp *q = containerof(v, struct qp, v);
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	for (; wr; wr = wr->next) {
		rc = post_one(q, wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	qp_run(q, inline_max());
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int qp_post_recv(struct ibv_qp *v, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct qp *q = containerof(v, struct qp, v);
	int rc = 0;

	pthread_mutex_lock(&q->lock);
	for (; wr; wr = wr->next) {
		struct rqe *r;

		if (v->state == IBV_QPS_RESET || wr->num_sge < 0 || (uint32_t)wr->num_sge > q->cap.max_recv_sge)
			rc = EINVAL;
		else if (q->rq_count == q->cap.max_recv_wr)
			rc = ENOMEM;
		if (rc) {
			*bad = wr;
			break;
		}
		r = &q->rq[(q->rq_head + q->rq_count++) % q->cap.max_recv_wr];
		r->wr_id = wr->wr_id;
		r->nsge = wr->num_sge;
		if (wr->num_sge)
			memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
	}
	deliver(q);
	flush(q);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

/* ---- life ---- */

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct ibv_qp_cap *c = &a->cap;
	struct qp *q;

	if (a->qp_type != IBV_QPT_RC || a->srq || !a->send_cq || !a->recv_cq || c->max_send_wr > MAX_WR ||
	    c->max_recv_wr > MAX_WR || c->max_send_sge > MAX_SGE || c->max_recv_sge > MAX_SGE ||
	    c->max_inline_data > MAX_INLINE) {
		errno = a->qp_type == IBV_QPT_RC && !a->srq ? EINVAL : EOPNOTSUPP;
		return NULL;
	}
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->sq = calloc(c->max_send_wr + 1, sizeof(*q->sq));
	q->rq = calloc(c->max_recv_wr + 1, sizeof(*q->rq));
	q->cap = *c;
	q->v.context = pd->context;
	q->v.qp_context = a->qp_context;
	q->v.pd = pd;
	q->v.send_cq = a->send_cq;
	q->v.recv_cq = a->recv_cq;
	q->v.qp_type = a->qp_type;
	q->v.state = IBV_QPS_RESET;
	q->sig_all = a->sq_sig_all;
	q->rnr_tail = &q->rnr;
	q->reply_tail = &q->reply;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->cond, NULL);
	if (!q->sq || !q->rq || (errno = soft_thread(&q->worker, worker, q))) {
		free(q->sq);
		free(q->rq);
		free(q);
		return NULL;
	}
	pthread_mutex_lock(&list_lock);
	q->v.qp_num = q->v.handle = ++last_num & 0xffffff;
	q->next = all_qps;
	all_qps = q;
	pthread_mutex_unlock(&list_lock);
	return &q->v;
}

struct qp *qp_find(uint32_t num)
{
	struct qp *q;

	pthread_mutex_lock(&list_lock);
	for (q = all_qps; q && q->v.qp_num != num; q = q->next)
		;
	pthread_mutex_unlock(&list_lock);
	return q;
}

void qp_connect(struct qp *q, struct link *l)
{
	pthread_mutex_lock(&q->lock);
	q->link = l;
	if (q->v.state != IBV_QPS_ERR)
		q->v.state = IBV_QPS_RTS;
	pthread_mutex_unlock(&q->lock);
}

void qp_disconnect(struct qp *q)
{
	pthread_mutex_lock(&q->lock);
	error_locked(q);
	while (q->busy || q->running)
		pthread_cond_wait(&q->cond, &q->lock);
	q->link = NULL;
	for (struct inbound *in; (in = q->reply); free(in))
		q->reply = in->next;
	q->reply_tail = &q->reply;
	flush(q);
	pthread_mutex_unlock(&q->lock);
}

EXPORT int ibv_destroy_qp(struct ibv_qp *v)
{
	struct qp *q = containerof(v, struct qp, v), **pp;

	if (q->link)
		q->link->detach(q->link);
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_broadcast(&q->cond);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->worker, NULL);
	pthread_mutex_lock(&list_lock);
	for (pp = &all_qps; *pp != q; pp = &(*pp)->next)
		;
	*pp = q->next;
	pthread_mutex_unlock(&list_lock);
	for (struct inbound *in; (in = q->rnr); free(in))
		q->rnr = in->next;
	free(q->sq);
	free(q->rq);
	free(q);
	return 0;
}

EXPORT int ibv_modify_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask)
{
	struct qp *q = containerof(v, struct qp, v);

	if (!(mask & IBV_QP_STATE))
		return 0;
	pthread_mutex_lock(&q->lock);
	if (a->qp_state == IBV_QPS_ERR)
		error_locked(q);
	else if (v->state != IBV_QPS_ERR || a->qp_state == IBV_QPS_RESET)
		v->state = a->qp_state;
	pthread_mutex_unlock(&q->lock);
	return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *v, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *i)
{
	struct qp *q = containerof(v, struct qp, v);

	(void)mask;
	memset(a, 0, sizeof(*a));
	a->qp_state = a->cur_qp_state = v->state;
	a->path_mtu = IBV_MTU_4096;
	a->cap = q->cap;
	a->port_num = 1;
	a->max_rd_atomic = a->max_dest_rd_atomic = 16;
	memset(i, 0, sizeof(*i));
	i->qp_context = v->qp_context;
	i->send_cq = v->send_cq;
	i->recv_cq = v->recv_cq;
	i->cap = q->cap;
	i->qp_type = v->qp_type;
	i->sq_sig_all = q->sig_all;
	return 0;
}
