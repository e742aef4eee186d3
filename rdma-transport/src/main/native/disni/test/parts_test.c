/*
 * The parts of the library that need neither a JVM nor an adapter: handles, waiting, holding files. `make check` runs this under the
 * address, undefined behaviour and thread sanitizers; the rest is tested from Java.
 */
#include "../rdma_file.h"
#include "../rdma_handle.h"
#include "../rdma_wait.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s: not so: %s\n", __FILE__, __LINE__, __func__, #condition); \
			exit(1); \
		} \
	} while (0)

enum { MS = 1000000, SOON_MS = 5000, THREADS = 4, ROUNDS = 20000, SHARED = 8 };

static char thrown_call[200];
static int thrown_error;
static char any_env;
#define ENV ((JNIEnv *)&any_env)	/* only handed through to rdma_throw */

void rdma_throw(UNUSED JNIEnv *env, const char *call, int error)
{
	snprintf(thrown_call, sizeof(thrown_call), "%s", call);
	thrown_error = error;
}

static void remove_handle(jlong handle, enum rdma_kind kind)
{
	CHECK(rdma_handle_retire(handle, kind));
	rdma_handle_free(handle);
}

static void handle_gives_its_object_to_its_kind_alone(void)
{
	int object;
	jlong h = rdma_handle_new(RDMA_QP, &object);

	CHECK(h > 0);
	CHECK(rdma_handle_use(NULL, h, RDMA_QP, "x") == &object);
	rdma_handle_done(h);
	CHECK(!rdma_handle_use(ENV, h, RDMA_CQ, "ibv_poll_cq"));
	CHECK(thrown_error == EBADF);
	CHECK(!strcmp(thrown_call, "ibv_poll_cq: the completion queue is closed"));
	remove_handle(h, RDMA_QP);
}

static void stale_handle_is_refused_though_its_slot_is_reused(void)
{
	int old, new;
	jlong first = rdma_handle_new(RDMA_MR, &old), second;

	remove_handle(first, RDMA_MR);
	second = rdma_handle_new(RDMA_MR, &new);
	CHECK(first != second);
	CHECK((first & 0xffffff) == (second & 0xffffff));
	CHECK(!rdma_handle_use(NULL, first, RDMA_MR, "x"));
	CHECK(!rdma_handle_hold(NULL, first, RDMA_MR, "x"));
	errno = 0;
	CHECK(!rdma_handle_retire(first, RDMA_MR) && errno == EBADF);
	CHECK(rdma_handle_use(NULL, second, RDMA_MR, "x") == &new);
	rdma_handle_done(second);
	remove_handle(second, RDMA_MR);
}

static void numbers_that_are_no_handles_are_refused(void)
{
	static const jlong garbage[] = { 0, -1, 1, INT64_MAX, INT64_MIN, 0xffffff, 1 << 24, 0x1234567890 };

	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		for (int kind = RDMA_CHANNEL; kind <= RDMA_MR; kind++) {
			CHECK(!rdma_handle_use(NULL, garbage[i], kind, "x"));
			CHECK(!rdma_handle_retire(garbage[i], kind));
		}
	}
}

static void parent_stays_until_its_children_are_gone(void)
{
	int pd;
	jlong h = rdma_handle_new(RDMA_PD, &pd);

	CHECK(rdma_handle_hold(NULL, h, RDMA_PD, "x") == &pd);
	CHECK(rdma_handle_hold(NULL, h, RDMA_PD, "x") == &pd);
	CHECK(!rdma_handle_retire(h, RDMA_PD) && errno == EBUSY);
	rdma_handle_drop(h);
	CHECK(!rdma_handle_retire(h, RDMA_PD) && errno == EBUSY);
	CHECK(rdma_handle_use(NULL, h, RDMA_PD, "x") == &pd);
	rdma_handle_done(h);
	rdma_handle_drop(h);
	remove_handle(h, RDMA_PD);
}

static void context_keeps_one_handle(void)
{
	struct ibv_context a, b;

	CHECK(rdma_handle_of_context(&a) == rdma_handle_of_context(&a));
	CHECK(rdma_handle_of_context(&a) != rdma_handle_of_context(&b));
}

/* Many more than one chunk of slots. */
static void thousands_of_handles_live_side_by_side(void)
{
	enum { COUNT = 5000 };
	static int objects[COUNT];
	static jlong handles[COUNT];

	for (int i = 0; i < COUNT; i++)
		handles[i] = rdma_handle_new(RDMA_MR, &objects[i]);
	for (int i = 0; i < COUNT; i++) {
		CHECK(rdma_handle_use(NULL, handles[i], RDMA_MR, "x") == &objects[i]);
		rdma_handle_done(handles[i]);
	}
	for (int i = 0; i < COUNT; i++)
		remove_handle(handles[i], RDMA_MR);
}

static _Atomic jlong shared[SHARED];

/* Uses, replaces and removes the shared handles; an object of a handle in use must not have been freed. */
static void *hammer(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		_Atomic jlong *slot = &shared[rand_r(&seed) % SHARED];
		jlong h = *slot;
		int *object;

		if (i % 16 == 0) {
			object = malloc(sizeof(*object));
			CHECK(object);
			*object = 42;
			h = atomic_exchange(slot, rdma_handle_new(RDMA_QP, object));
			object = rdma_handle_retire(h, RDMA_QP);
			if (object) {
				rdma_handle_free(h);
				*object = 0;
				free(object);
			}
		} else if ((object = rdma_handle_use(NULL, h, RDMA_QP, "x"))) {
			CHECK(*object == 42);
			rdma_handle_done(h);
		}
	}
	return NULL;
}

static void handle_in_use_outlives_its_removal(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(threads[i], NULL));
	for (int i = 0; i < SHARED; i++) {
		free(rdma_handle_retire(shared[i], RDMA_QP));
		rdma_handle_free(shared[i]);
	}
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / MS;
}

static void wait_ends_with_the_time(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), wake = rdma_wait_open(fd);
	int64_t start = now_ms();

	CHECK(wake >= 0);
	CHECK(!rdma_wait(fd, wake, 50 * INT64_C(1000000)));
	CHECK(now_ms() - start >= 49 && now_ms() - start < SOON_MS);
	CHECK(!rdma_wait(fd, wake, 0));
	CHECK(!rdma_wait(fd, wake, -1));
	close(fd);
	close(wake);
}

static void wait_sees_what_is_to_read(void)
{
	int fd = eventfd(1, EFD_CLOEXEC), wake = rdma_wait_open(fd);
	eventfd_t value;

	CHECK(rdma_wait(fd, wake, INT64_MAX));
	rdma_wait_wake(wake);
	CHECK(rdma_wait(fd, wake, INT64_MAX));	/* both: the wake-up is consumed as well */
	CHECK(!eventfd_read(fd, &value));
	CHECK(eventfd_read(fd, &value) && errno == EAGAIN);	/* opened for reads that never block */
	CHECK(!rdma_wait(fd, wake, 0));
	close(fd);
	close(wake);
}

static void *wake_later(void *arg)
{
	usleep(20000);
	rdma_wait_wake(*(int *)arg);
	return NULL;
}

static void wake_up_ends_one_wait(void)
{
	int fd = eventfd(0, EFD_CLOEXEC), wake = rdma_wait_open(fd);
	int64_t start = now_ms();
	pthread_t thread;

	rdma_wait_wake(wake);
	rdma_wait_wake(wake);
	CHECK(!rdma_wait(fd, wake, INT64_MAX));
	CHECK(!pthread_create(&thread, NULL, wake_later, &wake));
	CHECK(!rdma_wait(fd, wake, INT64_MAX));
	CHECK(now_ms() - start < SOON_MS);
	CHECK(!pthread_join(thread, NULL));
	close(fd);
	close(wake);
}

typedef int holder(const char *directory, const char *path);
static holder *const holders[] = { rdma_file_hold, rdma_file_hold_by_steps };

static char root[] = "/tmp/parts_test_XXXXXX";

static const char *in_root(const char *name)
{
	static char path[4][200];
	static unsigned next;
	char *it = path[next++ % 4];

	snprintf(it, sizeof(path[0]), "%s/%s", root, name);
	return it;
}

static void write_file(const char *name, char content)
{
	int fd = open(in_root(name), O_CREAT | O_WRONLY | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, &content, 1) == 1 && !close(fd));
}

/* What the descriptor leads to; it is closed. */
static char content_of(int held)
{
	char path[40], content = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && read(fd, &content, 1) == 1 && !close(fd) && !close(held));
	return content;
}

static void lay_out_files(void)
{
	CHECK(mkdtemp(root));
	CHECK(!mkdir(in_root("top"), 0700) && !mkdir(in_root("top/folder"), 0700) && !mkdir(in_root("other"), 0700));
	write_file("top/folder/file", 'g');
	write_file("other/file", 'b');
	CHECK(!symlink("../other", in_root("top/link")));
	CHECK(!symlink("file", in_root("top/folder/alias")));
}

static void remove_files(void)
{
	static const char *const files[] = { "top/folder/alias", "top/folder/file", "top/link", "other/file" };
	static const char *const folders[] = { "top/folder", "top", "other", "" };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		CHECK(!unlink(in_root(files[i])));
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		CHECK(!rmdir(in_root(folders[i])));
}

static void files_are_held_beneath_a_directory_alone(holder *hold)
{
	static const char *const refused[] = {
		"link/file", "../other/file", "folder/../folder/file", "/etc/passwd", "folder/none", "none/file", ""
	};
	struct stat found;
	int held;

	CHECK(content_of(hold(in_root("top"), "folder/file")) == 'g');
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (hold == rdma_file_hold && i == 2)
			continue;	/* stays beneath, so openat2 has nothing against it */
		CHECK(hold(in_root("top"), refused[i]) < 0 && errno);
	}
	held = hold(in_root("top"), "folder/alias");	/* the link itself, which is no plain file */
	CHECK(held >= 0 && !fstatat(held, "", &found, AT_EMPTY_PATH) && S_ISLNK(found.st_mode) && !close(held));
}

static _Atomic bool swapping;

/* What the owner of the directories can do: in place of the folder, a link to another, and back. */
static void *swap(UNUSED void *arg)
{
	while (swapping) {
		CHECK(!rename(in_root("top/folder"), in_root("top/aside")));
		CHECK(!rename(in_root("top/link"), in_root("top/folder")));
		CHECK(!rename(in_root("top/folder"), in_root("top/link")));
		CHECK(!rename(in_root("top/aside"), in_root("top/folder")));
	}
	return NULL;
}

static void a_folder_swapped_for_a_link_never_leads_elsewhere(holder *hold)
{
	char top[200];
	int right = 0, refused = 0;
	pthread_t thread;

	snprintf(top, sizeof(top), "%s", in_root("top"));
	swapping = true;
	CHECK(!pthread_create(&thread, NULL, swap, NULL));
	for (int64_t start = now_ms(); (!right || !refused || right + refused < ROUNDS) && now_ms() - start < SOON_MS; ) {
		int held = hold(top, "folder/file");

		if (held < 0)
			refused++;
		else {
			CHECK(content_of(held) == 'g');
			right++;
		}
	}
	swapping = false;
	CHECK(!pthread_join(thread, NULL));
	CHECK(right && refused);
}

static void files_are_held_safely(void)
{
	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		int probe = holders[i]("/", "proc");

		if (probe < 0 && (errno == ENOSYS || errno == EPERM))
			continue;	/* no openat2 here: the other way is what will be used */
		close(probe);
		files_are_held_beneath_a_directory_alone(holders[i]);
		a_folder_swapped_for_a_link_never_leads_elsewhere(holders[i]);
	}
}

int main(void)
{
	lay_out_files();
	files_are_held_safely();
	remove_files();
	handle_gives_its_object_to_its_kind_alone();
	stale_handle_is_refused_though_its_slot_is_reused();
	numbers_that_are_no_handles_are_refused();
	parent_stays_until_its_children_are_gone();
	context_keeps_one_handle();
	thousands_of_handles_live_side_by_side();
	handle_in_use_outlives_its_removal();
	wait_ends_with_the_time();
	wait_sees_what_is_to_read();
	wake_up_ends_one_wait();
	puts("parts_test: ok");
	return 0;
}
