#include "rdma_handle.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Slots live in chunks that never move, so that a look-up takes no lock. */
enum { INDEX_BITS = 24, CHUNK = 1024, CHUNKS = 4096, INDEX_MASK = (1 << INDEX_BITS) - 1 };

struct slot {
	_Atomic uint64_t generation;	/* odd while live */
	_Atomic uint32_t users;
	uint32_t children;
	enum rdma_kind kind;
	uint32_t next_free;
	void *object;
};

static struct slot *_Atomic chunks[CHUNKS];
static uint32_t used = 1;		/* index 0 is nobody's */
static uint32_t first_free;
static jint live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const names[] = {
	[RDMA_CHANNEL] = "event channel", [RDMA_ID] = "id", [RDMA_CONTEXT] = "device", [RDMA_PD] = "protection domain",
	[RDMA_COMP_CHANNEL] = "completion channel", [RDMA_CQ] = "completion queue", [RDMA_QP] = "queue pair",
	[RDMA_MR] = "memory region",
};

static struct slot *slot_at(uint32_t index)
{
	struct slot *chunk = index / CHUNK < CHUNKS ? atomic_load(&chunks[index / CHUNK]) : NULL;

	return chunk ? &chunk[index % CHUNK] : NULL;
}

static struct slot *slot_of(jlong handle)
{
	return handle > 0 ? slot_at(handle & INDEX_MASK) : NULL;
}

static bool is_live(struct slot *s, jlong handle, enum rdma_kind kind)
{
	return s && atomic_load(&s->generation) == (uint64_t)handle >> INDEX_BITS && s->kind == kind;
}

static void *stale(JNIEnv *env, enum rdma_kind kind, const char *call)
{
	char text[160];

	if (env) {
		snprintf(text, sizeof(text), "%s: the %s is closed", call, names[kind]);
		rdma_throw(env, text, EBADF);
	}
	return NULL;
}

static uint32_t free_index(void)
{
	uint32_t index = first_free;

	if (index) {
		first_free = slot_at(index)->next_free;
		return index;
	}
	if (used / CHUNK >= CHUNKS)
		return 0;
	if (!slot_at(used)) {
		struct slot *chunk = calloc(CHUNK, sizeof(*chunk));

		if (!chunk)
			return 0;
		atomic_store(&chunks[used / CHUNK], chunk);
	}
	return used++;
}

static jlong new_locked(enum rdma_kind kind, void *object)
{
	uint32_t index = free_index();
	struct slot *s;

	if (!index)
		return 0;
	s = slot_at(index);
	s->kind = kind;
	s->object = object;
	s->children = 0;
	live += kind != RDMA_CONTEXT;
	return (jlong)((atomic_fetch_add(&s->generation, 1) + 1) << INDEX_BITS | index);
}

jlong rdma_handle_new(enum rdma_kind kind, void *object)
{
	jlong handle;

	pthread_mutex_lock(&lock);
	handle = new_locked(kind, object);
	pthread_mutex_unlock(&lock);
	return handle;
}

jlong rdma_handle_of_context(struct ibv_context *context)
{
	jlong handle = 0;

	pthread_mutex_lock(&lock);
	for (uint32_t i = 1; i < used && !handle; i++) {
		struct slot *s = slot_at(i);
		uint64_t generation = atomic_load(&s->generation);

		if ((generation & 1) && s->kind == RDMA_CONTEXT && s->object == context)
			handle = (jlong)(generation << INDEX_BITS | i);
	}
	if (!handle)
		handle = new_locked(RDMA_CONTEXT, context);
	pthread_mutex_unlock(&lock);
	return handle;
}

void *rdma_handle_use(JNIEnv *env, jlong handle, enum rdma_kind kind, const char *call)
{
	struct slot *s = slot_of(handle);

	if (!s)
		return stale(env, kind, call);
	atomic_fetch_add(&s->users, 1);
	if (is_live(s, handle, kind))
		return s->object;
	atomic_fetch_sub(&s->users, 1);
	return stale(env, kind, call);
}

void rdma_handle_done(jlong handle)
{
	atomic_fetch_sub(&slot_of(handle)->users, 1);
}

void *rdma_handle_hold(JNIEnv *env, jlong handle, enum rdma_kind kind, const char *call)
{
	struct slot *s = slot_of(handle);
	void *object = NULL;

	pthread_mutex_lock(&lock);
	if (is_live(s, handle, kind)) {
		s->children++;
		object = s->object;
	}
	pthread_mutex_unlock(&lock);
	return object ? object : stale(env, kind, call);
}

void rdma_handle_drop(jlong handle)
{
	pthread_mutex_lock(&lock);
	slot_of(handle)->children--;
	pthread_mutex_unlock(&lock);
}

void *rdma_handle_retire(jlong handle, enum rdma_kind kind)
{
	struct slot *s = slot_of(handle);
	void *object = NULL;

	pthread_mutex_lock(&lock);
	if (!is_live(s, handle, kind)) {
		errno = EBADF;
	} else if (s->children) {
		errno = EBUSY;
	} else {
		atomic_fetch_add(&s->generation, 1);
		live--;
		object = s->object;
	}
	pthread_mutex_unlock(&lock);
	return object;
}

void rdma_handle_free(jlong handle)
{
	struct slot *s = slot_of(handle);

	while (atomic_load(&s->users))
		sched_yield();
	pthread_mutex_lock(&lock);
	s->next_free = first_free;
	first_free = handle & INDEX_MASK;
	pthread_mutex_unlock(&lock);
}

/* Objects made and not yet destroyed, contexts left out. */
static jint JNICALL open_objects(JAVA)
{
	jint count;

	pthread_mutex_lock(&lock);
	count = live;
	pthread_mutex_unlock(&lock);
	return count;
}

const JNINativeMethod rdma_handle_methods[] = {
	METHOD("openObjects", "()I", open_objects),
	END_OF_METHODS
};
