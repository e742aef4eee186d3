/* The sending half of a connection. Payload goes out straight from the registered memory. */
#include "soft_link.h"
#include "ibv_mr.h"
#include "ibv_qp.h"
#include "soft_requester.h"
#include "soft_responder.h"
#include <sys/epoll.h>
#include <sys/socket.h>

static const uint8_t zeros[64 << 10];

void soft_link_init(struct link *l)
{
	l->pollee.fd = -1;
}

bool soft_link_control(struct link *l, const struct frame *f, const void *payload)
{
	struct frame framed = *f;
	size_t bytes = sizeof(framed) + f->len;

	framed.magic = FRAME_MAGIC;
	if (l->broken || bytes > LINK_CONTROL_BYTES - l->control_len)
		return false;
	memcpy(l->control + l->control_len, &framed, sizeof(framed));
	if (f->len)
		memcpy(l->control + l->control_len + sizeof(framed), payload, f->len);
	l->control_len += (uint32_t)bytes;
	return true;
}

bool soft_link_respond(struct link *l, const struct response *r)
{
	if (l->response_count == LINK_RESPONSES)
		return false;
	l->responses[(l->response_head + l->response_count++) % LINK_RESPONSES] = *r;
	if (r->type == FRAME_DATA)
		l->reads_queued++;
	return true;
}

static struct response *first_response(struct link *l) { return &l->responses[l->response_head]; }

static void pop_response(struct link *l)
{
	if (first_response(l)->type == FRAME_DATA)
		l->reads_queued--;
	l->response_head = (l->response_head + 1) % LINK_RESPONSES;
	l->response_count--;
}

static struct frame ack_frame(const struct response *r)
{
	return (struct frame){ .magic = FRAME_MAGIC, .type = r->type == FRAME_DATA ? FRAME_ACK : r->type, .seq = r->seq,
			       .status = r->status };
}

/* The next frame of an answer: for a READ a chunk, with the ACK behind the last one. */
static void begin_response(struct link *l)
{
	struct response *r = first_response(l);
	struct outgoing *tx = &l->tx;

	if (r->type == FRAME_DATA && !r->status)
		r->status = soft_responder_check_read(l, r);
	if (r->type != FRAME_DATA || r->status || r->done == r->len) {
		tx->head = ack_frame(r);
		return;
	}
	tx->payload_bytes = r->len - r->done < LINK_CHUNK_BYTES ? r->len - r->done : LINK_CHUNK_BYTES;
	tx->head = (struct frame){ .magic = FRAME_MAGIC, .type = FRAME_DATA, .seq = r->seq, .len = (uint32_t)tx->payload_bytes,
				   .addr = r->done };
	tx->has_tail = r->done + tx->payload_bytes == r->len;
	tx->tail = ack_frame(r);
}

static bool begin(struct link *l)
{
	l->tx = (struct outgoing){ .kind = TX_NONE };
	if (l->control_sent < l->control_len) {
		l->tx.kind = TX_CONTROL;
	} else if (l->response_count) {
		l->tx.kind = TX_RESPONSE;
		begin_response(l);
	} else if (l->q && soft_request_begin(l->q, &l->tx)) {
		l->tx.kind = TX_REQUEST;
		l->tx.head.magic = FRAME_MAGIC;
		soft_link_arm_ack_timer(l);
	}
	return l->tx.kind != TX_NONE;
}

static uint64_t total_bytes(const struct link *l)
{
	if (l->tx.kind == TX_CONTROL)
		return l->control_len - l->control_sent;
	return sizeof(struct frame) + l->tx.payload_bytes + (l->tx.has_tail ? sizeof(struct frame) : 0);
}

/* What a step sends, and the pins it holds meanwhile. */
struct step {
	struct iovec iov[LINK_IOVECS];
	int n;
	struct soft_qp *q;		/* its busy count is raised */
	struct ibv_sge pinned[SOFT_MAX_SGE];
	int pins;
};

static void add_iov(struct step *s, const void *base, uint64_t bytes)
{
	if (bytes)
		s->iov[s->n++] = (struct iovec){ (void *)base, bytes };
}

static void add_response_payload(struct link *l, struct step *s, uint64_t offset, uint64_t bytes)
{
	struct response *r = first_response(l);

	if (!l->tx.fill && !r->status)
		r->status = soft_responder_check_read(l, r);
	if (!l->tx.fill && !r->status && soft_mr_pin(r->rkey, soft_qp_pd(l->q), r->addr, r->len, IBV_ACCESS_REMOTE_READ)) {
		s->pinned[s->pins++] = (struct ibv_sge){ .length = 1, .lkey = r->rkey };
		add_iov(s, (void *)(uintptr_t)(r->addr + r->done + offset), bytes);
		return;
	}
	if (!r->status)
		r->status = IBV_WC_REM_ACCESS_ERR;	/* deregistered between the check and the pin */
	l->tx.tail.status = r->status;
	l->tx.fill = true;
	add_iov(s, zeros, bytes < sizeof(zeros) ? bytes : sizeof(zeros));
}

/* Builds the next step behind sent_bytes. False: the memory of a request can no longer be sent. */
static bool build(struct link *l, struct step *s)
{
	struct outgoing *tx = &l->tx;
	uint64_t offset = tx->sent_bytes, payload_end = sizeof(struct frame) + tx->payload_bytes, before;

	if (tx->kind == TX_CONTROL) {
		add_iov(s, l->control + l->control_sent, l->control_len - l->control_sent);
		return true;
	}
	if (offset < sizeof(struct frame)) {
		add_iov(s, (char *)&tx->head + offset, sizeof(struct frame) - offset);
		offset = sizeof(struct frame);
	}
	if (offset < payload_end) {
		uint64_t bytes = payload_end - offset < LINK_CHUNK_BYTES ? payload_end - offset : LINK_CHUNK_BYTES;

		before = offset - sizeof(struct frame);
		if (tx->kind == TX_RESPONSE) {
			add_response_payload(l, s, before, bytes);
		} else {
			s->pins = soft_request_payload(l->q, before, bytes, s->iov, &s->n, s->pinned);
			if (s->pins < 0)
				return false;
		}
		offset += bytes;
	}
	/* Not behind filled bytes: their number in this step differs. */
	if (tx->has_tail && offset >= payload_end && !tx->fill)
		add_iov(s, (char *)&tx->tail + (offset - payload_end), sizeof(struct frame) - (offset - payload_end));
	else if (tx->has_tail && tx->fill && tx->sent_bytes >= payload_end)
		add_iov(s, (char *)&tx->tail + (tx->sent_bytes - payload_end), total_bytes(l) - tx->sent_bytes);
	return true;
}

/* A request follows an acknowledgement at once: one packet, which wakes the peer once. Were it not to, TCP waits 200 ms. */
static int flags_of(const struct link *l)
{
	bool more = l->tx.kind == TX_RESPONSE && l->tx.head.type == FRAME_ACK && l->response_count == 1 && l->q &&
		    soft_request_waits(l->q);

	return MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
}

static ssize_t send_step(struct link *l, struct step *s)
{
	struct msghdr m = { .msg_iov = s->iov, .msg_iovlen = (size_t)s->n };
	int flags = flags_of(l);
	ssize_t n;

	s->q = l->tx.kind == TX_REQUEST ? l->q : NULL;
	if (s->q)
		soft_qp_busy(s->q);
	soft_leave();
	do
		n = sendmsg(l->pollee.fd, &m, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	soft_mr_unpin_all(s->pinned, s->pins);
	soft_enter();
	if (s->q)
		soft_qp_idle(s->q);
	return n;
}

static void finished(struct link *l)
{
	struct response *r = first_response(l);

	if (l->tx.kind == TX_CONTROL) {
		l->control_sent = l->control_len = 0;
	} else if (l->tx.kind == TX_RESPONSE) {
		if (l->tx.head.type == FRAME_DATA)
			r->done += (uint32_t)l->tx.payload_bytes;
		if (l->tx.head.type != FRAME_DATA || l->tx.has_tail)
			pop_response(l);
	}
	if (l->tx.kind == TX_REQUEST && l->q)
		soft_request_sent(l->q);
	l->tx.kind = TX_NONE;
}

static void account(struct link *l, uint64_t n)
{
	l->progress_ns = soft_now_ns();
	if (l->tx.kind == TX_CONTROL) {
		l->control_sent += (uint32_t)n;
		if (l->control_sent == l->control_len)
			finished(l);
		return;
	}
	l->tx.sent_bytes += n;
	if (l->tx.sent_bytes == total_bytes(l))
		finished(l);
	else if (l->tx.kind == TX_REQUEST && soft_qp_is_down(l->q))
		soft_link_abort(l);		/* half a message must not be taken for a whole one */
}

/* Memory that is registered but not mapped (EFAULT): an error of the request, or of the answer. */
static void payload_fault(struct link *l)
{
	if (l->tx.kind == TX_RESPONSE) {
		first_response(l)->status = IBV_WC_REM_ACCESS_ERR;
		l->tx.tail.status = IBV_WC_REM_ACCESS_ERR;
		l->tx.fill = true;
		soft_responder_violation(l->q);
		return;
	}
	if (l->tx.sent_bytes)
		soft_link_abort(l);
	l->tx.kind = TX_NONE;
	soft_request_failed(l->q, IBV_WC_LOC_PROT_ERR);
}

enum step_result { STEP_SENT, STEP_FULL, STEP_FAILED };

static enum step_result step(struct link *l, size_t *budget)
{
	struct step s = { .n = 0 };
	ssize_t n;

	if (!build(l, &s)) {
		payload_fault(l);
		return STEP_SENT;
	}
	n = send_step(l, &s);
	if (l->pollee.dead)
		return STEP_FAILED;
	if (n == -EAGAIN)
		return STEP_FULL;
	if (n == -EFAULT && l->tx.kind != TX_CONTROL) {
		payload_fault(l);
		return STEP_SENT;
	}
	if (n < 0) {
		l->broken = true;		/* the poller sees it too and takes the connection down */
		return STEP_FAILED;
	}
	account(l, (uint64_t)n);
	*budget -= (size_t)n < *budget ? (size_t)n : *budget;
	return STEP_SENT;
}

void soft_link_transmit(struct link *l, size_t budget)
{
	enum step_result result = STEP_SENT;
	bool more = false;

	if (l->tx_busy || l->pollee.fd < 0 || !l->pollee.watched)
		return;				/* whoever is busy goes on until nothing is left */
	l->tx_busy = true;
	while (result == STEP_SENT && !l->broken && !l->pollee.dead && (l->tx.kind != TX_NONE || begin(l))) {
		more = !budget;
		if (more)
			break;
		result = step(l, &budget);
		pthread_cond_broadcast(&soft_cond);
	}
	l->tx_busy = false;
	if (soft_qp_is_down(l->q))
		soft_request_drop(l);
	if (!l->pollee.dead && l->pollee.watched)
		soft_poller_watch(&l->pollee, EPOLLIN | (more || result == STEP_FULL ? EPOLLOUT : 0));
	pthread_cond_broadcast(&soft_cond);
}

void soft_link_abort(struct link *l)
{
	l->broken = true;
	if (l->pollee.fd >= 0)
		shutdown(l->pollee.fd, SHUT_RDWR);
}

void soft_link_quiesce(struct link *l)
{
	while (l->tx_busy || l->rx_busy)
		soft_wait_until(soft_now_ns() + 100 * SOFT_NS_PER_MS);
}

/* ---- the ack time-out ---- */

static uint64_t ack_limit_ns(const struct link *l)
{
	return soft_config()->ack_timeout_ns * (soft_qp_retry_count(l->q) + 1u);
}

static void ack_timer_fired(struct soft_timer *timer)
{
	struct link *l = container_of(timer, struct link, ack_timer);
	uint64_t due_ns;

	if (!l->q || !soft_requests_unanswered(l->q, l))
		return;
	due_ns = l->progress_ns + ack_limit_ns(l);
	if (due_ns > soft_now_ns())
		soft_timer_set(timer, due_ns, ack_timer_fired);
	else
		soft_requests_timed_out(l->q);
}

void soft_link_arm_ack_timer(struct link *l)
{
	if (l->ack_timer.link)
		return;
	l->progress_ns = soft_now_ns();
	soft_timer_set(&l->ack_timer, l->progress_ns + ack_limit_ns(l), ack_timer_fired);
}
