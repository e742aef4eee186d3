#include "ibv_async.h"
#include "ibv_device.h"
#include "soft_fork.h"
#include <poll.h>
#include <sys/eventfd.h>

struct node {
	struct node *next;
	struct ibv_async_event event;
};

/* A small lock of its own, taken after soft_lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *head, **tail = &head;
static unsigned queued;
static struct node *unacked;		/* read by the program; kept until acknowledged */

int soft_async_open(void)
{
	pthread_mutex_lock(&lock);
	if (soft_context.async_fd < 0)
		soft_context.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	pthread_mutex_unlock(&lock);
	return soft_context.async_fd < 0 ? -1 : 0;
}

/* The descriptor is the parent's too: an event raised on it would wake the parent. */
void soft_async_forget(void)
{
	struct node *node;

	pthread_mutex_init(&lock, NULL);
	if (soft_context.async_fd >= 0)
		close(soft_context.async_fd);
	soft_context.async_fd = -1;
	while ((node = head)) {
		head = node->next;
		free(node);
	}
	tail = &head;
	queued = 0;
}

void soft_async_close(void)
{
	struct node *node;

	soft_async_forget();
	while ((node = unacked)) {
		unacked = node->next;
		free(node);
	}
}

static void post(struct ibv_async_event event)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return;
	node->event = event;
	pthread_mutex_lock(&lock);
	if (queued == SOFT_MAX_ASYNC_EVENTS || soft_context.async_fd < 0) {
		free(node);
	} else {
		queued++;
		*tail = node;
		tail = &node->next;
		eventfd_write(soft_context.async_fd, 1);
	}
	pthread_mutex_unlock(&lock);
}

void soft_async_cq(struct ibv_cq *cq, enum ibv_event_type type)
{
	post((struct ibv_async_event){ .element.cq = cq, .event_type = type });
}

void soft_async_qp(struct ibv_qp *qp, enum ibv_event_type type)
{
	post((struct ibv_async_event){ .element.qp = qp, .event_type = type });
}

void soft_async_port(enum ibv_event_type type)
{
	post((struct ibv_async_event){ .element.port_num = 1, .event_type = type });
}

static struct node *take(void)
{
	struct node *node;

	pthread_mutex_lock(&lock);
	node = head;
	if (node) {
		head = node->next;
		if (!head)
			tail = &head;
		queued--;
		node->next = unacked;
		unacked = node;
	}
	pthread_mutex_unlock(&lock);
	return node;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct node *node = NULL;
	eventfd_t one;

	while (!node) {
		if (eventfd_read(context->async_fd, &one))	/* blocks or not, as the program set the descriptor */
			return -1;
		node = take();			/* NULL: its object was destroyed meanwhile */
	}
	*event = node->event;
	return 0;
}

static bool same(const struct ibv_async_event *a, const struct ibv_async_event *b)
{
	return a->event_type == b->event_type && !memcmp(&a->element, &b->element, sizeof(a->element));
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct node **link, *node;

	pthread_mutex_lock(&lock);
	for (link = &unacked; (node = *link) && !same(&node->event, event); link = &node->next)
		;
	if (node)
		*link = node->next;
	pthread_mutex_unlock(&lock);
	free(node);
}

static void drop_unread(void *element)
{
	struct node **link = &head, *node;

	while ((node = *link)) {
		struct pollfd p = { .fd = soft_context.async_fd, .events = POLLIN };
		eventfd_t one;

		if ((void *)node->event.element.cq != element) {
			link = &node->next;
			continue;
		}
		*link = node->next;
		free(node);
		queued--;
		if (poll(&p, 1, 0) == 1)	/* else another thread took the token: it will find nothing */
			eventfd_read(soft_context.async_fd, &one);
	}
	tail = link;
}

static bool is_unacked(void *element)
{
	for (struct node *node = unacked; node; node = node->next)
		if ((void *)node->event.element.cq == element)
			return true;
	return false;
}

bool soft_async_drain(void *element)
{
	uint64_t deadline_ns = soft_now_ns() + 10000 * SOFT_NS_PER_MS;
	bool waiting;

	pthread_mutex_lock(&lock);
	drop_unread(element);
	while ((waiting = is_unacked(element)) && soft_now_ns() < deadline_ns) {
		pthread_mutex_unlock(&lock);
		usleep(1000);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return !waiting;
}
