/*
 * Opens a file beneath a directory so that no link is followed on the way, whoever changes the directories between at the same
 * time. The descriptor is O_PATH, open(2): nothing is read, nothing blocks, be it a FIFO or a device; the caller looks what it
 * is and opens it through /proc/self/fd, which leads to the same inode whatever becomes of its names.
 */
#include "rdma_file.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437			/* on every architecture */
#endif

/* openat2(2), whose header older systems lack. */
struct how {
	uint64_t flags, mode, resolve;
};
enum { NO_SYMLINKS = 0x04, BENEATH = 0x08 };

enum { HANDLE = O_PATH | O_NOFOLLOW | O_CLOEXEC };

typedef int holder(const char *directory, const char *path);

static void close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

int rdma_file_hold(const char *directory, const char *path)
{
	struct how how = { .flags = HANDLE, .resolve = NO_SYMLINKS | BENEATH };
	int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (at < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	close_keeping_errno(at);
	return fd;
}

static bool leads_down(const char *name)
{
	return *name && strcmp(name, ".") && strcmp(name, "..");
}

int rdma_file_hold_by_steps(const char *directory, const char *path)
{
	char *copy = strdup(path), *rest = copy, *name;
	int at = copy ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, next;

	while (at >= 0 && (name = strsep(&rest, "/"))) {
		errno = EXDEV;		/* as openat2 */
		next = leads_down(name) ? openat(at, name, HANDLE | (rest ? O_DIRECTORY : 0)) : -1;
		close_keeping_errno(at);
		at = next;
	}
	free(copy);
	return at;
}

/* The descriptor, or -1 with an exception. */
static jint opened(JNIEnv *env, jstring directory, jstring path, const char *call, holder *hold)
{
	const char *top = (*env)->GetStringUTFChars(env, directory, NULL);
	const char *rest = top ? (*env)->GetStringUTFChars(env, path, NULL) : NULL;
	int fd = -1, error = 0;

	if (rest) {
		fd = hold(top, rest);
		error = errno;
		(*env)->ReleaseStringUTFChars(env, path, rest);
	}
	if (top)
		(*env)->ReleaseStringUTFChars(env, directory, top);
	if (rest && fd < 0)
		rdma_throw(env, call, error);
	return fd;
}

static jint JNICALL open_beneath(JAVA, jstring directory, jstring path)
{
	return opened(env, directory, path, "openat2", rdma_file_hold);
}

static jint JNICALL walk_beneath(JAVA, jstring directory, jstring path)
{
	return opened(env, directory, path, "openat", rdma_file_hold_by_steps);
}

static void JNICALL close_file(JAVA, jint fd)
{
	close(fd);
}

const JNINativeMethod rdma_file_methods[] = {
	METHOD("openBeneath", "(Ljava/lang/String;Ljava/lang/String;)I", open_beneath),
	METHOD("walkBeneath", "(Ljava/lang/String;Ljava/lang/String;)I", walk_beneath),
	METHOD("closeFile", "(I)V", close_file),
	END_OF_METHODS
};
