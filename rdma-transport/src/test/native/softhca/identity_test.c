/*
 * A READ reaches the process it was meant for or fails: pids that mean somebody else, a process that has executed another
 * program, memory that is gone. Linked with the adapter's own objects, to forge what the connection set-up would refuse.
 */
#include "harness.h"
#include "soft_direct.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PAGE = 4096, QP_NUM = 0x1001, PD = 1 };

/* What an owner tells about itself. */
struct owner {
	struct table_address table;
	uint64_t addr;
	uint32_t key;
};

static pid_t owner_pid;
static int owner_socket;

static void publish(struct shared_table *table, uint64_t addr, uint32_t key)
{
	struct shared_mr *mr = &table->mr[key];

	mr->addr = addr;
	mr->len = 2 * PAGE;
	mr->pd = PD;
	mr->access = IBV_ACCESS_REMOTE_READ;
	mr->key = key;
	mr->generation = 1;
	table->qp[QP_NUM % SOFT_MAX_QP].word = (uint64_t)QP_NUM << 32 | SHARED_QP_LIVE | IBV_ACCESS_REMOTE_READ;
}

static void fork_child(int fd)
{
	int32_t pid = fork();

	while (!pid)
		pause();
	CHECK(write(fd, &pid, sizeof(pid)) == sizeof(pid));
}

/* Obeys: f forks a child that stays, and tells its pid; b raises the generation, u unmaps, t truncates the file, q takes the queue pair away, x executes another program. */
static void obey(int fd, struct shared_table *table, uint8_t *memory, int file)
{
	char command;

	while (read(fd, &command, 1) == 1) {
		if (command == 'b')
			table->mr[1].generation++;
		else if (command == 'u')
			munmap(memory, PAGE);
		else if (command == 't')
			CHECK(!ftruncate(file, 0));
		else if (command == 'q')
			table->qp[QP_NUM % SOFT_MAX_QP].word = 0;
		else if (command == 'f')
			fork_child(fd);
		else if (command == 'x')
			execl("/bin/sleep", "sleep", "20", (char *)NULL);
		CHECK(write(fd, &command, 1) == 1);
	}
	_exit(0);
}

static void own(int fd)
{
	struct shared_table *table = soft_table_own();
	struct owner o = { .key = 1 };
	int file = memfd_create("file", MFD_CLOEXEC);
	uint8_t *memory;

	CHECK(table && !ftruncate(file, 2 * PAGE));
	memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(memory != MAP_FAILED);
	fill(memory, 2 * PAGE);
	publish(table, (uintptr_t)memory, 1);
	CHECK(soft_table_address(&o.table));
	o.addr = (uintptr_t)memory;
	CHECK(write(fd, &o, sizeof(o)) == sizeof(o));
	obey(fd, table, memory, file);
}

static struct owner start_owner(void)
{
	struct owner o;
	int pair[2];

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	owner_pid = fork();
	if (!owner_pid) {
		close(pair[0]);
		own(pair[1]);
	}
	close(pair[1]);
	owner_socket = pair[0];
	CHECK(read(owner_socket, &o, sizeof(o)) == sizeof(o));
	return o;
}

static void stop_owner(void)
{
	kill(owner_pid, SIGKILL);
	CHECK(waitpid(owner_pid, NULL, 0) == owner_pid);
	close(owner_socket);
}

static void command(char c)
{
	char echo;

	CHECK(write(owner_socket, &c, 1) == 1 && read(owner_socket, &echo, 1) == 1);
}

static struct soft_peer *open_peer(const struct owner *o)
{
	struct soft_peer *peer;

	soft_enter();
	peer = soft_peer_open(&o->table);
	soft_leave();
	return peer;
}

static void close_peer(struct soft_peer *peer)
{
	soft_enter();
	soft_peer_close(peer);
	soft_leave();
}

static enum direct_result read_it(struct soft_peer *peer, const struct owner *o, uint8_t *to)
{
	struct direct_read r = { .peer = peer, .qp_num = QP_NUM, .pd = PD, .key = o->key, .addr = o->addr, .len = 2 * PAGE };

	return soft_direct_read(&r, 0, &(struct iovec){ to, 2 * PAGE }, 1);
}

static bool is_right(const uint8_t *bytes)
{
	for (int i = 0; i < 2 * PAGE; i++)
		if (bytes[i] != pattern((uint64_t)i))
			return false;
	return true;
}

static void theRightProcessIsRead(struct end *e)
{
	struct owner o = start_owner();
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];

	(void)e;
	CHECK(peer && read_it(peer, &o, bytes) == DIRECT_OK && is_right(bytes));
	close_peer(peer);
	stop_owner();
}

static void aPidThatMeansSomebodyElseIsNotOpened(struct end *e)
{
	struct owner o = start_owner();
	int32_t pids[] = { getpid(), getppid(), 1, 0, -1, 0x7fffffff };

	(void)e;
	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		struct owner other = o;

		other.table.pid = pids[i];
		CHECK(!open_peer(&other));
	}
	o.table.nonce ^= 1;
	CHECK(!open_peer(&o));
	o.table.nonce = 0;
	CHECK(!open_peer(&o));
	stop_owner();
}

/* A pid that was recycled: the connection's pid now belongs to another process, here one with the same memory layout. */
static void aRecycledPidYieldsNoBytes(struct end *e)
{
	struct owner first = start_owner(), second;
	pid_t first_pid = owner_pid;
	int first_socket = owner_socket;
	struct soft_peer *peer = open_peer(&first);
	uint8_t bytes[2 * PAGE];

	(void)e;
	CHECK(peer);
	second = start_owner();
	peer->address.pid = second.table.pid;	/* its nonce, at the same address or not, is another */
	CHECK(read_it(peer, &first, bytes) == DIRECT_ACCESS);
	peer->address.nonce_addr = second.table.nonce_addr;
	CHECK(read_it(peer, &first, bytes) == DIRECT_ACCESS);
	peer->address.nonce = second.table.nonce;
	CHECK(read_it(peer, &second, bytes) == DIRECT_OK);	/* only then */
	peer->address = first.table;
	close_peer(peer);
	stop_owner();
	owner_pid = first_pid;
	owner_socket = first_socket;
	stop_owner();
}

/* A forked child has the owner's memory, at the same addresses, as it was then; it must not pass for the owner. */
static void aChildOfTheOwnerDoesNotPassForIt(struct end *e)
{
	struct owner o = start_owner(), child;
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];

	(void)e;
	child = o;
	CHECK(peer && write(owner_socket, "f", 1) == 1);
	CHECK(read(owner_socket, &child.table.pid, sizeof(child.table.pid)) == sizeof(child.table.pid));
	CHECK(child.table.pid != o.table.pid && !kill(child.table.pid, 0));
	CHECK(!open_peer(&child));
	peer->address.pid = child.table.pid;
	CHECK(read_it(peer, &o, bytes) == DIRECT_ACCESS);
	peer->address.pid = o.table.pid;
	CHECK(read_it(peer, &o, bytes) == DIRECT_OK);
	close_peer(peer);
	kill(child.table.pid, SIGKILL);
	stop_owner();
}

static void aProcessThatExecutedAnotherProgramYieldsNoBytes(struct end *e)
{
	struct owner o = start_owner();
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];
	char c = 'x';

	(void)e;
	CHECK(peer && write(owner_socket, &c, 1) == 1);
	CHECK(read(owner_socket, &c, 1) == 0);		/* closed on exec */
	CHECK(read_it(peer, &o, bytes) == DIRECT_ACCESS);
	close_peer(peer);
	stop_owner();
}

static void aDeadProcessYieldsNoBytes(struct end *e)
{
	struct owner o = start_owner();
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];

	(void)e;
	CHECK(peer);
	stop_owner();
	CHECK(read_it(peer, &o, bytes) == DIRECT_GONE);
	close_peer(peer);
}

static void refusedAfter(char what, enum direct_result expected)
{
	struct owner o = start_owner();
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];

	CHECK(peer && read_it(peer, &o, bytes) == DIRECT_OK);
	command(what);
	CHECK(read_it(peer, &o, bytes) == expected);
	close_peer(peer);
	stop_owner();
}

static void aRaisedGenerationYieldsNoBytes(struct end *e) { (void)e; refusedAfter('b', DIRECT_ACCESS); }
static void unmappedMemoryYieldsNoBytes(struct end *e) { (void)e; refusedAfter('u', DIRECT_ACCESS); }
static void aTruncatedFileYieldsNoBytes(struct end *e) { (void)e; refusedAfter('t', DIRECT_ACCESS); }
static void aQueuePairThatIsGoneYieldsNoBytes(struct end *e) { (void)e; refusedAfter('q', DIRECT_GONE); }

/* Registered again in the same slot between two slices of one READ: the key may be right again, the generation is not. */
static void aReadAcrossTwoRegistrationsOfASlotFails(struct end *e)
{
	struct owner o = start_owner();
	struct soft_peer *peer = open_peer(&o);
	uint8_t bytes[2 * PAGE];
	struct direct_read r = { .peer = peer, .qp_num = QP_NUM, .pd = PD, .key = o.key, .addr = o.addr, .len = 2 * PAGE };

	(void)e;
	CHECK(peer && soft_direct_read(&r, 0, &(struct iovec){ bytes, PAGE }, 1) == DIRECT_OK);
	command('b');
	command('b');
	CHECK(soft_direct_read(&r, PAGE, &(struct iovec){ bytes + PAGE, PAGE }, 1) == DIRECT_ACCESS);
	r.generation = 0;
	CHECK(soft_direct_read(&r, 0, &(struct iovec){ bytes, 2 * PAGE }, 1) == DIRECT_OK);
	close_peer(peer);
	stop_owner();
}

static void peersCannotWriteTheTable(struct end *e)
{
	struct owner o = start_owner();
	char path[64];
	void *p;
	int fd;

	(void)e;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", o.table.pid, o.table.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p == MAP_FAILED && errno == EPERM);
	CHECK(write(fd, "x", 1) < 0 && errno == EPERM);
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
	close(fd);
	stop_owner();
}

#define ALONE(f) { .name = #f, .client = f, .alone = true }

int main(void)
{
	static const struct test tests[] = {
		ALONE(theRightProcessIsRead),
		ALONE(aPidThatMeansSomebodyElseIsNotOpened),
		ALONE(aRecycledPidYieldsNoBytes),
		ALONE(aChildOfTheOwnerDoesNotPassForIt),
		ALONE(aProcessThatExecutedAnotherProgramYieldsNoBytes),
		ALONE(aDeadProcessYieldsNoBytes),
		ALONE(aRaisedGenerationYieldsNoBytes),
		ALONE(unmappedMemoryYieldsNoBytes),
		ALONE(aTruncatedFileYieldsNoBytes),
		ALONE(aQueuePairThatIsGoneYieldsNoBytes),
		ALONE(aReadAcrossTwoRegistrationsOfASlotFails),
		ALONE(peersCannotWriteTheTable),
	};

	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
