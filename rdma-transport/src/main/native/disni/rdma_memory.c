#include "rdma_memory.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static jint JNICALL page_bytes(JAVA)
{
	return sysconf(_SC_PAGESIZE);
}

/* RLIMIT_MEMLOCK, or -1 for unlimited. */
static jlong JNICALL memlock_limit(JAVA)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit)) {
		rdma_throw(env, "getrlimit", errno);
		return 0;
	}
	return limit.rlim_cur == RLIM_INFINITY ? -1 : (jlong)limit.rlim_cur;
}

/* CAP_IPC_LOCK, with which the limit does not count: capabilities(7). */
static jboolean JNICALL may_lock_all(JAVA)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &header, data) && data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK);
}

static jlong mapped(JNIEnv *env, const char *call, void *address, int error)
{
	if (address != MAP_FAILED)
		return (jlong)(uintptr_t)address;
	rdma_throw(env, call, error);
	return 0;
}

enum { HUGE_PAGE_BYTES = 2 << 20 };	/* x86-64, and aarch64 with pages of 4 KiB */

/* Maps so that huge pages fit in from the first byte: kernels before 6.7 align to small pages only. */
static void *map_aligned(size_t bytes)
{
	size_t room = bytes + HUGE_PAGE_BYTES, head;
	char *address = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (address == MAP_FAILED)
		return MAP_FAILED;
	head = -(uintptr_t)address % HUGE_PAGE_BYTES;
	if (head)
		munmap(address, head);
	munmap(address + head + bytes, room - head - bytes);
	return address + head;
}

static jlong JNICALL map_anonymous(JAVA, jlong bytes)
{
	void *address = bytes < HUGE_PAGE_BYTES ?
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : map_aligned(bytes);

	if (address != MAP_FAILED && madvise(address, bytes, MADV_DONTFORK)) {
		int error = errno;

		munmap(address, bytes);
		return mapped(env, "madvise", MAP_FAILED, error);
	}
	if (address != MAP_FAILED && bytes >= HUGE_PAGE_BYTES)
		madvise(address, bytes, MADV_HUGEPAGE);	/* a wish: EINVAL where the kernel has none */
	return mapped(env, "mmap", address, errno);
}

/* Maps what is wholly inside the file's pages; ENODATA if the file is shorter. *call names what failed. */
static void *map_window(int fd, off_t offset, size_t bytes, bool writable, const char **call)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t page = sysconf(_SC_PAGESIZE);

	*call = "lseek";
	if (end < 0)
		return MAP_FAILED;
	*call = "mmap";
	if (offset >= end || bytes > ((size_t)(end - offset) + page - 1) / page * page) {
		errno = ENODATA;
		return MAP_FAILED;
	}
	return mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, offset);
}

/* Shared, never private: a private mapping would be copied page by page when it is pinned. */
static jlong JNICALL map_file(JAVA, jstring path, jlong offset, jlong bytes, jboolean writable)
{
	const char *name = (*env)->GetStringUTFChars(env, path, NULL), *call = "open";
	void *address;
	int fd, error;

	if (!name)
		return 0;
	fd = open(name, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	error = errno;
	(*env)->ReleaseStringUTFChars(env, path, name);
	if (fd < 0)
		return mapped(env, call, MAP_FAILED, error);
	address = map_window(fd, offset, bytes, writable, &call);
	error = errno;
	close(fd);
	return mapped(env, call, address, error);
}

static void JNICALL unmap(JAVA, jlong address, jlong bytes)
{
	if (munmap(POINTER(address), bytes))
		rdma_throw(env, "munmap", errno);
}

static jobject JNICALL view(JAVA, jlong address, jlong bytes)
{
	return (*env)->NewDirectByteBuffer(env, POINTER(address), bytes);
}

const JNINativeMethod rdma_memory_methods[] = {
	METHOD("pageBytes", "()I", page_bytes),
	METHOD("memlockLimit", "()J", memlock_limit),
	METHOD("mayLockAll", "()Z", may_lock_all),
	METHOD("mapAnonymous", "(J)J", map_anonymous),
	METHOD("mapFile", "(Ljava/lang/String;JJZ)J", map_file),
	METHOD("unmap", "(JJ)V", unmap),
	METHOD("view", "(JJ)Ljava/nio/ByteBuffer;", view),
	END_OF_METHODS
};
