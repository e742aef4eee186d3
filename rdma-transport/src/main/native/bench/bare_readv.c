/*
 * The limit of the software adapter: a bare loop of process_vm_readv(2) over the blocks of files
 * that another process has mapped, into so many buffers in turns: one stays in the cache, as no block does that
 * somebody keeps; as many as a reader has under way do not.
 *
 *   bare_readv BLOCK_BYTES BLOCKS BUFFERS FILE...
 *
 * Prints "NANOS wall cpu", CPU being that of the reading process.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FILES = 4096 };

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

struct file {
	char *at;
	size_t bytes;
};

/* Maps every file before the fork, so that both processes know the addresses. */
static int map_all(char **names, int n, struct file *files)
{
	for (int i = 0; i < n; i++) {
		struct stat st;
		int fd = open(names[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || fstat(fd, &st))
			fail(names[i]);
		files[i].bytes = st.st_size;
		files[i].at = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (files[i].at == MAP_FAILED)
			fail("mmap");
		close(fd);
	}
	return n;
}

static void read_block(pid_t owner, char *to, const char *from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)from, bytes };

	if (process_vm_readv(owner, &local, 1, &remote, 1, 0) != (ssize_t)bytes)
		fail("process_vm_readv");
}

int main(int argc, char **argv)
{
	static struct file files[MAX_FILES];
	size_t block = argc > 4 ? strtoul(argv[1], NULL, 10) : 0;
	long blocks = argc > 4 ? atol(argv[2]) : 0, buffers = argc > 4 ? atol(argv[3]) : 0;
	int n = argc - 4;
	int64_t wall, cpu;
	char *buffer;
	pid_t owner;

	if (n < 1 || n > MAX_FILES || !block || block > 1UL << 30 || blocks < 1 || buffers < 1 || buffers > 1 << 16) {
		fprintf(stderr, "usage: bare_readv BLOCK_BYTES BLOCKS BUFFERS FILE...\n");
		return 2;
	}
	map_all(argv + 4, n, files);
	buffer = mmap(NULL, block * (size_t)buffers, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buffer == MAP_FAILED)
		fail("mmap");
	owner = fork();
	if (owner < 0)
		fail("fork");
	if (!owner) {
		pause();
		_exit(0);
	}
	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 0; i < blocks; i++) {
		const struct file *f = &files[i % n];
		size_t offset = (size_t)(i / n) * block % (f->bytes / block * block);

		read_block(owner, buffer + (size_t)(i % buffers) * block, f->at + offset, block);
	}
	printf("NANOS %lld %lld\n", (long long)(now(CLOCK_MONOTONIC) - wall),
	       (long long)(now(CLOCK_PROCESS_CPUTIME_ID) - cpu));
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	return 0;
}
