/* This process's region table and its mappings of other processes' tables. */
#include "soft_table.h"
#include "soft_fork.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010	/* Linux 5.1 */
#endif

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared_table *_Atomic own;
static int own_fd = -1;
static uint64_t *nonce;			/* on a page of its own */
static struct soft_peer *peers;

static void warn_once(void)
{
	static bool warned;

	if (!warned && !soft_config()->quiet)
		fprintf(stderr, "softhca: software RDMA device for development: any process of this user may read this "
			"process's memory (ptrace allowed); SOFTHCA_QUIET=1 silences this\n");
	warned = true;
}

static int new_memfd(void)
{
	int fd = memfd_create("softhca", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && ftruncate(fd, sizeof(struct shared_table))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool fill_random(uint64_t *value)
{
	return getrandom(value, sizeof(*value), 0) == sizeof(*value) && *value;
}

static uint64_t *new_nonce(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, page, MADV_WIPEONFORK) || !fill_random(p)) {
		munmap(p, page);
		return NULL;
	}
	return p;
}

static struct shared_table *map_own(int fd)
{
	struct shared_table *table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (table == MAP_FAILED)
		return NULL;
	madvise(table, sizeof(*table), MADV_DONTFORK);	/* a child must not change what our peers see */
	table->magic = SOFT_TABLE_MAGIC;
	table->version = SOFT_TABLE_VERSION;
	if (!fill_random(&table->id)) {
		munmap(table, sizeof(*table));
		return NULL;
	}
	return table;
}

static struct shared_table *new_table(void)
{
	struct shared_table *table;
	int fd = new_memfd();

	if (fd < 0)
		return NULL;
	table = map_own(fd);
	nonce = table ? new_nonce() : NULL;
	if (!nonce) {
		if (table)
			munmap(table, sizeof(*table));
		close(fd);
		return NULL;
	}
	/* Nobody else gets a writable mapping; and the size is fixed, so that mapping it can never raise SIGBUS in a peer. */
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);	/* where Yama asks for it; see ptrace_scope in the kernel's Yama page */
	warn_once();
	own_fd = fd;
	return table;
}

struct shared_table *soft_table_own(void)
{
	struct shared_table *table = atomic_load_explicit(&own, memory_order_acquire);

	if (table)
		return table;
	pthread_mutex_lock(&table_lock);
	table = atomic_load_explicit(&own, memory_order_relaxed);
	if (!table) {
		table = new_table();
		atomic_store_explicit(&own, table, memory_order_release);
	}
	pthread_mutex_unlock(&table_lock);
	return table;
}

bool soft_table_address(struct table_address *address)
{
	struct shared_table *table = soft_table_own();

	memset(address, 0, sizeof(*address));
	if (!table)
		return false;
	address->nonce = *nonce;
	address->nonce_addr = (uintptr_t)nonce;
	address->table_id = table->id;
	address->pid = getpid();
	address->fd = own_fd;
	return true;
}

void soft_table_forget(void)
{
	pthread_mutex_init(&table_lock, NULL);
	if (nonce)
		munmap(nonce, (size_t)sysconf(_SC_PAGESIZE));
	if (own_fd >= 0)
		close(own_fd);
	nonce = NULL;
	own_fd = -1;
	atomic_store(&own, NULL);	/* the mappings of the tables were not inherited */
	while (peers) {
		struct soft_peer *peer = peers;

		peers = peer->next;
		free(peer);
	}
}

void soft_table_close(void)
{
	struct shared_table *table = atomic_load(&own);

	if (table)
		munmap(table, sizeof(*table));
	soft_table_forget();
}

/* Reading the nonce proves that the pid means the same process here as over there, and that we may read it. */
static bool nonce_matches(const struct table_address *a)
{
	uint64_t theirs = 0;
	struct iovec to = { &theirs, sizeof(theirs) }, from = { (void *)(uintptr_t)a->nonce_addr, sizeof(theirs) };

	return a->nonce && process_vm_readv(a->pid, &to, 1, &from, 1, 0) == sizeof(theirs) && theirs == a->nonce;
}

static const struct shared_table *map_table(const struct table_address *a)
{
	struct shared_table *table;
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", a->pid, a->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (lseek(fd, 0, SEEK_END) != (off_t)sizeof(*table) || !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK)) {
		close(fd);
		return NULL;
	}
	table = mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (table == MAP_FAILED)
		return NULL;
	madvise(table, sizeof(*table), MADV_DONTFORK);
	if (table->magic != SOFT_TABLE_MAGIC || table->version != SOFT_TABLE_VERSION || table->id != a->table_id) {
		munmap(table, sizeof(*table));
		return NULL;
	}
	return table;
}

struct soft_peer *soft_peer_open(const struct table_address *a)
{
	struct soft_peer *peer;

	if (!soft_config()->direct || a->pid <= 0 || a->fd < 0 || !nonce_matches(a))
		return NULL;
	for (peer = peers; peer; peer = peer->next)
		if (!memcmp(&peer->address, a, sizeof(*a)))
			return soft_peer_ref(peer);
	peer = calloc(1, sizeof(*peer));
	if (peer)
		peer->table = map_table(a);
	if (!peer || !peer->table) {
		free(peer);
		return NULL;
	}
	peer->address = *a;
	peer->users = 1;
	peer->next = peers;
	peers = peer;
	soft_count(LIVE_PEERS, 1);
	return peer;
}

struct soft_peer *soft_peer_ref(struct soft_peer *peer)
{
	if (peer)
		peer->users++;
	return peer;
}

void soft_peer_close(struct soft_peer *peer)
{
	struct soft_peer **link = &peers;

	if (!peer || --peer->users)
		return;
	while (*link != peer)
		link = &(*link)->next;
	*link = peer->next;
	munmap((void *)peer->table, sizeof(*peer->table));
	free(peer);
	soft_count(LIVE_PEERS, -1);
}
