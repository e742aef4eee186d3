/*
 * The receiving half of a connection, on the poller or a thread that waits for completions, one at a time. Payload goes
 * straight to its place.
 */
#include "soft_link.h"
#include "ibv_mr.h"
#include "ibv_qp.h"
#include "rdma_id.h"
#include "soft_requester.h"
#include "soft_responder.h"
#include <sys/socket.h>

enum { TURN_FRAMES = 64 };	/* then other connections have their turn */

enum rx_result { RX_MORE, RX_EMPTY, RX_LOST };

static uint8_t sink[64 << 10];		/* where thrown away bytes go; nobody reads it */

static bool is_hello(const struct frame *f)
{
	return f->type == FRAME_REQ || f->type == FRAME_REP || f->type == FRAME_REJ;
}

static bool is_request(const struct frame *f) { return f->type >= FRAME_SEND && f->type <= FRAME_READ; }

/* Lengths and values that no adapter sends end the connection before anything is done with them. */
static bool is_valid(const struct frame *f)
{
	if (f->magic != FRAME_MAGIC || !f->type || f->type >= FRAME_TYPES || f->status > IBV_WC_GENERAL_ERR)
		return false;
	if (is_hello(f))
		return f->len == sizeof(struct hello);
	if (is_request(f))
		return f->len <= SOFT_MAX_MESSAGE;
	if (f->type == FRAME_DATA)
		return f->len && f->len <= LINK_CHUNK_BYTES;
	return !f->len;
}

static bool begin(struct link *l)
{
	struct incoming *rx = &l->rx;

	rx->to = RX_DISCARD;
	rx->status = IBV_WC_SUCCESS;
	rx->verdict = VERDICT_TAKE;
	if (!is_valid(&rx->frame) || !soft_id_expects(l, (enum frame_type)rx->frame.type))
		return false;
	rx->payload_left = rx->frame.type == FRAME_READ ? 0 : rx->frame.len;
	if (is_hello(&rx->frame))
		rx->to = RX_HELLO;
	else if (is_request(&rx->frame))
		return soft_responder_begin(l);
	else if (rx->frame.type == FRAME_DATA)
		return soft_answer_data_begin(l);
	return true;
}

static bool end(struct link *l)
{
	const struct frame *f = &l->rx.frame;

	if (f->type <= FRAME_DREP)
		return soft_id_frame(l, f);
	if (is_request(f))
		return soft_responder_end(l);
	return soft_answer(l, f);
}

/* Where the payload that is left goes. Pins what it names; *pins sges are pinned. No room: thrown away. */
static int place(struct link *l, struct iovec *iov, struct ibv_sge *pinned, int *pins)
{
	uint64_t offset = l->rx.frame.len - l->rx.payload_left;
	int n = 0;

	*pins = 0;
	if (l->rx.to == RX_HELLO) {
		iov[0] = (struct iovec){ (char *)&l->hello + offset, l->rx.payload_left };
		return 1;
	}
	if (l->rx.to == RX_SINK)
		n = soft_answer_place(l, offset, iov, pinned, pins);
	else if (l->rx.to != RX_DISCARD)
		n = soft_responder_place(l, offset, iov, pinned, pins);
	if (n)
		return n;
	iov[0] = (struct iovec){ sink, l->rx.payload_left < sizeof(sink) ? l->rx.payload_left : sizeof(sink) };
	return 1;
}

static ssize_t read_unlocked(struct link *l, struct iovec *iov, int n, const struct ibv_sge *pinned, int pins)
{
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = (size_t)n };
	struct soft_qp *q = pins ? l->q : NULL;
	ssize_t got;

	l->rx_busy = true;
	if (q)
		soft_qp_busy(q);
	soft_leave();
	do
		got = recvmsg(l->pollee.fd, &m, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		got = -errno;
	soft_mr_unpin_all(pinned, pins);
	soft_enter();
	l->rx_busy = false;
	if (q)
		soft_qp_idle(q);
	pthread_cond_broadcast(&soft_cond);
	return got;
}

static enum rx_result receive_payload(struct link *l)
{
	struct iovec iov[LINK_IOVECS];
	struct ibv_sge pinned[SOFT_MAX_SGE];
	int pins, n = place(l, iov, pinned, &pins);
	ssize_t got = read_unlocked(l, iov, n, pinned, pins);

	if (l->pollee.dead)
		return RX_EMPTY;
	if (got == -EFAULT && pins) {		/* registered, but not mapped or not writable */
		l->rx.to = RX_DISCARD;
		l->rx.status = IBV_WC_LOC_PROT_ERR;
		return RX_MORE;
	}
	if (got <= 0)
		return got == -EAGAIN ? RX_EMPTY : RX_LOST;
	l->progress_ns = soft_now_ns();
	l->rx.payload_left -= (uint64_t)got;
	return RX_MORE;
}

static enum rx_result receive_header(struct link *l)
{
	struct incoming *rx = &l->rx;
	ssize_t got = recv(l->pollee.fd, (char *)&rx->frame + rx->header_bytes, sizeof(rx->frame) - rx->header_bytes, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return RX_EMPTY;
	if (got <= 0)
		return RX_LOST;
	l->progress_ns = soft_now_ns();
	rx->header_bytes += (uint32_t)got;
	if (rx->header_bytes == sizeof(rx->frame) && !begin(l))
		return RX_LOST;
	return RX_MORE;
}

static enum rx_result receive_some(struct link *l, int *frames)
{
	struct incoming *rx = &l->rx;

	if (rx->header_bytes < sizeof(rx->frame)) {
		enum rx_result result = receive_header(l);

		if (result != RX_MORE || rx->header_bytes < sizeof(rx->frame))
			return result;
	}
	if (rx->payload_left) {
		enum rx_result result = receive_payload(l);

		if (result != RX_MORE || rx->payload_left)
			return result;
	}
	rx->header_bytes = 0;
	++*frames;
	return end(l) ? RX_MORE : RX_LOST;
}

bool soft_link_receive(struct link *l)
{
	enum rx_result result = RX_MORE;
	int frames = 0;

	if (l->receiving)
		return true;
	l->receiving = true;
	for (int turns = 0; result == RX_MORE && turns < 4 * TURN_FRAMES && frames < TURN_FRAMES && !l->pollee.dead; turns++)
		result = receive_some(l, &frames);
	l->receiving = false;
	return result != RX_LOST || l->pollee.dead;
}
