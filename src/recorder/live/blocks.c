/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/pid.h"
#include "recording/growing_map.h"
#include "recording/open_failure.h"

enum {
    FIRST_BLOCKS = 32,  /* half a megabyte: a short process should not pay for more */
    EARLY_BLOCKS = 16,  /* of a step of osc_blocks_grow_early() */
    PIECE_BLOCKS = 512, /* then the file grows by 8 MiB */
    TRIES_MAX = 1000,   /* of a thread that others keep beating */
    PIECE_MIN = 16,     /* least number of blocks for a recording */
    WAKE_PART = 4,      /* wake the flusher when this fraction is full */
    WAKE_EVERY = 16,    /* and each time so many are taken while few are free */
    KEPT = 8,           /* recordings whose addresses stay reserved */
    AWAIT_STEPS = 4,    /* of a call that waits for a block: one second; thousands may wait, */
    AWAIT_STEP_NS = 250000000 /* and must leave the flusher a processor */
};

/*
 * A stack: index + 1 of its first block in the low half. The high half counts changes, to
 * detect a first block that was removed and came back.
 */
typedef uint64_t stack_word;

static struct {
    /* Start of the file; blocks follow at OSC_LIVE_BLOCKS_AT. It stays mapped when the
     * recording ends, and the change counts of the stacks continue: a thread that sleeps in
     * this module must still find memory when it wakes, and must not change a stack. */
    unsigned char *base;
    struct osc_fd file;
    uint32_t n_blocks, n_blocks_max;
    stack_word free, full;
    uint32_t n_free, n_full;
    uint32_t wake_part; /* wake the flusher when one in so many blocks is full */
    uint64_t last_seq;
    uint32_t wakes; /* a futex */
    uint32_t wakes_seen;
    uint32_t n_pieces; /* a futex: how often blocks were added, or could not be */
    uint32_t may_grow; /* the flusher would add blocks if it were woken */
    bool has_failed;   /* the last piece could not be added */
} pool;

/* Addresses of past recordings, the oldest at n_closed % KEPT. They are reused, so that a host
 * which starts and stops often does not run out of addresses; but late, because a thread may
 * still be asleep in a call. */
static struct {
    unsigned char *base;
    size_t len;
} closed[KEPT];
static uint32_t n_closed; /* ever */

/* The flusher records, too, such as in a callback of the host; it cannot wait for itself. */
static _Thread_local bool is_flusher __attribute__((tls_model("initial-exec")));

static unsigned char *get_base(void)
{
    /* acquire: pairs with the release in reserve_addresses(). */
    return __atomic_load_n(&pool.base, __ATOMIC_ACQUIRE);
}

struct osc_live_header *osc_blocks_header(void)
{
    return (struct osc_live_header *)(void *)get_base();
}

struct osc_live_thread *osc_blocks_threads(void)
{
    return (struct osc_live_thread *)(void *)(get_base() + OSC_LIVE_THREADS_AT);
}

struct osc_block *osc_blocks_at(uint32_t i)
{
    return (struct osc_block *)(void *)(get_base() + OSC_LIVE_BLOCKS_AT +
                                        (size_t)i * OSC_BLOCK_BYTES);
}

uint32_t osc_blocks_index(const struct osc_block *b)
{
    return (uint32_t)(((uintptr_t)b - (uintptr_t)osc_blocks_at(0)) / OSC_BLOCK_BYTES);
}

/* Whether B belongs to this recording: a thread that slept may hold a block of the last one. */
static bool is_ours(const struct osc_block *b)
{
    return get_base() && (uintptr_t)b >= (uintptr_t)osc_blocks_at(0) &&
           osc_blocks_index(b) < __atomic_load_n(&pool.n_blocks, __ATOMIC_RELAXED);
    /* relaxed: a thread that got B from this pool has seen at least its piece. */
}

/* relaxed: pop() may read it of a block that another thread owns by now; its exchange then
 * fails. */
static uint32_t get_next(const struct osc_block *b)
{
    return __atomic_load_n(&b->next, __ATOMIC_RELAXED);
}

static void set_next(struct osc_block *b, uint32_t next)
{
    __atomic_store_n(&b->next, next, __ATOMIC_RELAXED);
}

static void push(stack_word *stack, struct osc_block *b)
{
    const uint32_t i = osc_blocks_index(b) + 1;
    /* relaxed: the exchange below checks it. */
    stack_word old = __atomic_load_n(stack, __ATOMIC_RELAXED);
    stack_word next;

    do {
        set_next(b, (uint32_t)old);
        next = ((old >> 32) + 1) << 32 | i;
        /* release: pairs with the acquire in pop() and osc_blocks_drain(): B's next owner
         * sees its content. */
    } while (!__atomic_compare_exchange_n(stack, &old, next, true, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static struct osc_block *pop(stack_word *stack)
{
    /* acquire: pairs with the release in push() */
    stack_word old = __atomic_load_n(stack, __ATOMIC_ACQUIRE);

    for (int tries = 0; tries < TRIES_MAX && (uint32_t)old != 0; tries++) {
        struct osc_block *b = osc_blocks_at((uint32_t)old - 1);

        /* acquire: pairs with the release in add_piece(). A thread that slept may have OLD from
         * one recording and B from the next, which has fewer blocks. */
        if ((uint32_t)old > __atomic_load_n(&pool.n_blocks, __ATOMIC_ACQUIRE))
            return NULL;
        const stack_word next = ((old >> 32) + 1) << 32 | get_next(b);

        /* acquire: as above */
        if (__atomic_compare_exchange_n(stack, &old, next, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return b;
    }
    return NULL;
}

/* Whether the file can grow by LEN and leave as much free: names and the .osc file use the same
 * disk. */
static bool is_room_left(size_t len)
{
    const int kept = errno;
    struct statvfs st;
    const int fd = osc_fd_get(&pool.file);
    /* If the free space is unknown, growing the file will show it. */
    const bool is_so = fd < 0 || fstatvfs(fd, &st) != 0 || st.f_blocks == 0 ||
                       (uint64_t)st.f_bavail * st.f_frsize / 2 >= len;

    if (!is_so)
        osc_open_failure_store(ENOSPC);
    errno = kept;
    return is_so;
}

/* Map N more blocks at the end; false if there is no room. */
static bool add_piece(uint32_t n)
{
    const size_t from = OSC_LIVE_BLOCKS_AT + (size_t)pool.n_blocks * OSC_BLOCK_BYTES;
    const size_t end = from + (size_t)n * OSC_BLOCK_BYTES;

    if (!is_room_left(end - from) ||
        osc_growing_map_reserve(&pool.file, from, end, pool.base) != OSC_OK)
        return false;

    const uint32_t first = pool.n_blocks;
    /* release: pairs with the acquire in pop(); the blocks are mapped. */
    __atomic_store_n(&pool.n_blocks, first + n, __ATOMIC_RELEASE);
    __atomic_add_fetch(&pool.n_free, n, __ATOMIC_RELAXED);
    /* release: a reader of the file finds all blocks that the header counts. It counts them
     * before a thread can take one: the process may be killed at once. */
    __atomic_store_n(&osc_blocks_header()->n_blocks, first + n, __ATOMIC_RELEASE);
    for (uint32_t i = first + n; i > first; i--)
        push(&pool.free, osc_blocks_at(i - 1));
    return true;
}

static unsigned char *get_addresses(size_t len)
{
    const uint32_t oldest = n_closed % KEPT;
    unsigned char *base = closed[oldest].base;

    if (!base || closed[oldest].len != len)
        return osc_growing_map_addresses(len, OSC_BLOCK_BYTES);
    closed[oldest].base = NULL;
    return base;
}

/* Reserve address space for all blocks, aligned to their size; less if the process's address
 * space is limited. */
static bool reserve_addresses(uint64_t limit_bytes)
{
    uint64_t n = limit_bytes / OSC_BLOCK_BYTES;

    if (n > UINT32_MAX / 4)
        n = UINT32_MAX / 4;
    for (; n >= PIECE_MIN; n /= 2) {
        unsigned char *base = get_addresses(OSC_LIVE_BLOCKS_AT + n * OSC_BLOCK_BYTES);

        if (base) {
            /* release: pairs with the acquire in get_base(); there are no blocks yet. */
            __atomic_store_n(&pool.base, base, __ATOMIC_RELEASE);
            pool.n_blocks_max = (uint32_t)n;
            return true;
        }
    }
    return false;
}

/* relaxed, and in may_grow(): it only ends a wait with a time limit. */
static void set_may_grow(bool may_grow)
{
    __atomic_store_n(&pool.may_grow, may_grow, __ATOMIC_RELAXED);
}

static bool may_grow(void)
{
    return __atomic_load_n(&pool.may_grow, __ATOMIC_RELAXED);
}

static void empty_stack(stack_word *stack)
{
    /* relaxed: a thread in pop() detects the new count and finds the stack empty. */
    const stack_word old = __atomic_load_n(stack, __ATOMIC_RELAXED);

    __atomic_store_n(stack, ((old >> 32) + 1) << 32, __ATOMIC_RELAXED);
}

/* Empty the pool, so that no block can be taken or given back. */
static void empty_pool(void)
{
    /* relaxed: no thread records anything that matters. */
    __atomic_store_n(&pool.n_blocks, 0, __ATOMIC_RELAXED);
    empty_stack(&pool.free);
    empty_stack(&pool.full);
    __atomic_store_n(&pool.n_free, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.n_full, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.last_seq, 0, __ATOMIC_RELAXED);
    set_may_grow(false);
    pool.has_failed = false;
}

/* Write into H which process this is. */
static void write_process(struct osc_live_header *h)
{
    const char *run_id = secure_getenv("OPSCOPE_RUN_ID");
    struct osc_pid self;

    osc_pid_get_self(&self);
    h->pid = self.pid;
    h->pid_space = self.space;
    h->start_ticks = self.start_ticks;
    memcpy(h->boot_id, self.boot_id, sizeof h->boot_id);
    /* The last byte stays 0. */
    if (run_id)
        memcpy(h->run_id, run_id, strnlen(run_id, sizeof h->run_id - 1));
}

osc_status osc_blocks_open(int dir_fd, uint64_t limit_bytes, const uint64_t recording[2])
{
    empty_pool();
    osc_blocks_wake_at(WAKE_PART);
    const osc_status st = osc_growing_map_create(&pool.file, dir_fd, "blocks");

    if (st != OSC_OK)
        return st;
    /* The lock shows that this process runs, see left_over.h; some file systems have none. The
     * mapping holds it, too, if the host closes the descriptor. */
    const bool is_locked = flock(osc_fd_get(&pool.file), LOCK_EX | LOCK_NB) == 0;

    if (!reserve_addresses(limit_bytes)) {
        osc_fd_close(&pool.file);
        return OSC_ENOMEM;
    }
    uint32_t n = pool.n_blocks_max < FIRST_BLOCKS ? pool.n_blocks_max : FIRST_BLOCKS;
    const bool has_header =
        osc_growing_map_reserve_cold(&pool.file, 0, OSC_LIVE_BLOCKS_AT, pool.base) == OSC_OK;
    while (has_header && n >= PIECE_MIN && !add_piece(n))
        n /= 2;
    if (!has_header || n < PIECE_MIN) {
        osc_blocks_close();
        return OSC_EIO;
    }

    struct osc_live_header *h = osc_blocks_header();

    h->version = OSC_LIVE_VERSION;
    h->block_bytes = OSC_BLOCK_BYTES;
    h->state = OSC_LIVE_RECORDING;
    write_process(h);
    h->is_locked = is_locked;
    h->recording[0] = recording[0];
    h->recording[1] = recording[1];
    /* release: a reader that sees the magic sees the header. */
    __atomic_store_n(&h->magic, OSC_LIVE_MAGIC, __ATOMIC_RELEASE);
    return OSC_OK;
}

/* Wake the flusher when this many blocks are full, or when no more than this are free. */
static uint32_t n_worth_it(void)
{
    /* relaxed: they only affect a sleep with a time limit. */
    const uint32_t n = __atomic_load_n(&pool.n_blocks, __ATOMIC_RELAXED) /
                       __atomic_load_n(&pool.wake_part, __ATOMIC_RELAXED);

    return n > 0 ? n : 1;
}

struct osc_block *osc_blocks_take(uint64_t ordinal, uint32_t tid)
{
    struct osc_block *b = pop(&pool.free);

    if (!b)
        return NULL;
    /* relaxed: only a count. */
    const uint32_t n_left = __atomic_sub_fetch(&pool.n_free, 1, __ATOMIC_RELAXED);

    if (n_left % WAKE_EVERY == 0 && n_left <= n_worth_it())
        osc_blocks_wake(); /* needed if threads never fill their blocks */
    uint64_t seq = __atomic_add_fetch(&pool.last_seq, 1, __ATOMIC_RELAXED);
    while ((seq & 0xffff) == 0)
        seq = __atomic_add_fetch(&pool.last_seq, 1, __ATOMIC_RELAXED);
    b->thread = (uint32_t)ordinal;
    b->tid = tid;
    b->tag = (uint16_t)seq;
    b->used_slots = 0;
    b->written_slots = 0;
    b->seq = seq;
    /* release: a reader that sees it OPEN sees its thread, and empty slots. */
    __atomic_store_n(&b->state, OSC_BLOCK_OPEN, __ATOMIC_RELEASE);
    return b;
}

bool osc_blocks_are_out(void)
{
    /* relaxed: a thread that sees one still takes it by osc_blocks_take(). */
    return (uint32_t)__atomic_load_n(&pool.free, __ATOMIC_RELAXED) == 0;
}

struct osc_block *osc_blocks_await(uint64_t ordinal, uint32_t tid)
{
    const struct timespec step = {.tv_nsec = AWAIT_STEP_NS};
    const int kept = errno;
    struct osc_block *b = NULL;

    if (is_flusher)
        return NULL;
    for (int i = 0, n_late = 0; i < TRIES_MAX && n_late < AWAIT_STEPS && may_grow(); i++) {
        /* acquire: pairs with the release in osc_blocks_add() */
        const uint32_t seen = __atomic_load_n(&pool.n_pieces, __ATOMIC_ACQUIRE);

        b = osc_blocks_take(ordinal, tid);
        if (b)
            break;
        osc_blocks_wake();
        n_late +=
            syscall(SYS_futex, &pool.n_pieces, FUTEX_WAIT_PRIVATE, seen, &step, NULL, 0) != 0 &&
            errno == ETIMEDOUT;
    }
    if (!b)
        b = osc_blocks_take(ordinal, tid);
    if (!b)
        set_may_grow(false); /* other calls do not wait until the flusher is there again */
    errno = kept;
    return b;
}

uint32_t osc_blocks_free(void)
{
    /* relaxed: a number for itself. */
    return __atomic_load_n(&pool.n_free, __ATOMIC_RELAXED);
}

bool osc_blocks_are_few(void)
{
    /* relaxed: a number for itself. */
    return osc_blocks_free() < __atomic_load_n(&pool.n_blocks, __ATOMIC_RELAXED) / 4;
}

void osc_blocks_fill(struct osc_block *b, uint32_t used_slots)
{
    if (!is_ours(b))
        return;
    b->used_slots = used_slots;
    /* release: a reader that sees it FULL sees used_slots. */
    __atomic_store_n(&b->state, OSC_BLOCK_FULL, __ATOMIC_RELEASE);
    push(&pool.full, b);

    /* relaxed: it only affects a sleep with a time limit. */
    if (__atomic_add_fetch(&pool.n_full, 1, __ATOMIC_RELAXED) == n_worth_it())
        osc_blocks_wake();
}

struct osc_block *osc_blocks_drain(void)
{
    /* relaxed: the exchange below checks it. */
    stack_word old = __atomic_load_n(&pool.full, __ATOMIC_RELAXED);
    struct osc_block *first = NULL;

    /* Restart the count each time: a thread that was stopped after push() never counted its
     * block. relaxed: see osc_blocks_fill() */
    __atomic_store_n(&pool.n_full, 0, __ATOMIC_RELAXED);
    /* acquire: pairs with the release in push() */
    while ((uint32_t)old != 0 &&
           !__atomic_compare_exchange_n(&pool.full, &old, ((old >> 32) + 1) << 32, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        continue;
    /* The last one pushed is on top: reverse the order. */
    for (uint32_t i = (uint32_t)old, next; i != 0; i = next) {
        struct osc_block *b = osc_blocks_at(i - 1);

        next = get_next(b);
        set_next(b, first ? osc_blocks_index(first) + 1 : 0);
        first = b;
    }
    return first;
}

struct osc_block *osc_blocks_next(const struct osc_block *b)
{
    const uint32_t next = get_next(b);

    return next == 0 ? NULL : osc_blocks_at(next - 1);
}

void osc_blocks_give_back(struct osc_block *b)
{
    /* release: a reader that sees cleared slots sees it FREE. */
    __atomic_store_n(&b->state, OSC_BLOCK_FREE, __ATOMIC_RELEASE);
    /* A tag is reused after 65,535 blocks: no slot may still carry it then. */
    memset(b->slots, 0, sizeof b->slots);
    push(&pool.free, b);
    /* relaxed: see osc_blocks_take() */
    __atomic_add_fetch(&pool.n_free, 1, __ATOMIC_RELAXED);
}

/* Add N blocks, or as many as there may be. */
static bool add(uint32_t n)
{
    const uint32_t n_left = pool.n_blocks_max - pool.n_blocks;

    if (n_left == 0)
        return false;
    pool.has_failed = !add_piece(n < n_left ? n : n_left);
    if (pool.has_failed)
        set_may_grow(false);
    /* release: a thread that sees it finds the blocks. */
    __atomic_add_fetch(&pool.n_pieces, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &pool.n_pieces, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    return !pool.has_failed;
}

bool osc_blocks_add(void)
{
    return add(PIECE_BLOCKS);
}

bool osc_blocks_grow_early(void)
{
    return pool.n_blocks < PIECE_BLOCKS && !pool.has_failed && add(EARLY_BLOCKS);
}

void osc_blocks_invite(void)
{
    set_may_grow(!pool.has_failed && pool.n_blocks < pool.n_blocks_max);
}

void osc_blocks_grow(void)
{
    /* Threads that waited take a piece at once; then another one is needed. */
    while (osc_blocks_are_few() && osc_blocks_add())
        continue;
}

void osc_blocks_grow_to(uint64_t n_blocks)
{
    if (pool.n_blocks < n_blocks)
        (void)osc_blocks_add();
}

void osc_blocks_wait(int64_t timeout_ns)
{
    const struct timespec timeout = {.tv_sec = timeout_ns / 1000000000,
                                     .tv_nsec = timeout_ns % 1000000000};
    /* relaxed: as in osc_blocks_fill() */
    const bool many_wait = __atomic_load_n(&pool.n_full, __ATOMIC_RELAXED) >= n_worth_it();

    is_flusher = true;
    osc_blocks_invite(); /* it would add blocks at once */
    /* Returns at once if osc_blocks_wake() was called since the last sleep. */
    if (!many_wait)
        (void)syscall(SYS_futex, &pool.wakes, FUTEX_WAIT_PRIVATE, pool.wakes_seen, &timeout,
                      NULL, 0);
    /* acquire: pairs with the release in osc_blocks_wake() */
    pool.wakes_seen = __atomic_load_n(&pool.wakes, __ATOMIC_ACQUIRE);
}

void osc_blocks_wake_at(uint32_t part)
{
    /* relaxed: see n_worth_it() */
    __atomic_store_n(&pool.wake_part, part, __ATOMIC_RELAXED);
}

void osc_blocks_wake(void)
{
    const int kept = errno;

    /* release: the flusher sees the request once it is awake. */
    __atomic_add_fetch(&pool.wakes, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &pool.wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = kept;
}

void osc_blocks_close(void)
{
    const size_t len = OSC_LIVE_BLOCKS_AT + (size_t)pool.n_blocks_max * OSC_BLOCK_BYTES;

    empty_pool();
    osc_fd_close(&pool.file);
    if (pool.n_blocks_max == 0)
        return;
    osc_growing_map_vacate(pool.base, len);
    closed[n_closed % KEPT].base = pool.base;
    closed[n_closed++ % KEPT].len = len;
    pool.n_blocks_max = 0;
}

void osc_blocks_forget(void)
{
    osc_fd_close(&pool.file);
    memset(&pool, 0, sizeof pool);
}
