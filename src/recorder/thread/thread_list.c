/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/thread_list.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/host/quiet.h"
#include "recorder/live/blocks.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/ticks.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

enum { TRIES_MAX = 1000, KEYS_AT_HAND = 32, REAPS_HZ = 10, WAIT_STEP_NS = 50000 };

/* Wiped in the child of a fork. */
struct memory {
    _Alignas(64) uint32_t life; /* 0: wiped; LIFE_BEGINS; LIFE_HERE */
    bool has_libc;              /* see osc_threads_has_libc() */
    pid_t pid;
    _Alignas(64) struct osc_writer writers[OSC_LIVE_THREADS];
};

enum { LIFE_WIPED, LIFE_BEGINS, LIFE_HERE };

static struct memory *memory;

/* Its destructor runs when a thread ends. Keys beyond the first 32 of a process need memory
 * from malloc() in each thread, which a recording call must not use; such a key is not used. */
static pthread_key_t key;
static bool has_key;

/* Writers that may be reused: a stack as in blocks.c, with its links in a separate array. */
static uint64_t free_writers;
static uint32_t links[OSC_LIVE_THREADS];
static uint32_t n_writers; /* ever used */

static uint64_t last_ordinal;
static uint64_t generation; /* of the current recording; 0: none */
static uint64_t last_reap;  /* time of the last osc_threads_reap(), in ticks */

static void push_index(uint32_t i)
{
    /* relaxed: the exchange below checks it. */
    uint64_t old = __atomic_load_n(&free_writers, __ATOMIC_RELAXED);

    do {
        /* relaxed: as osc_block.next in blocks.c */
        __atomic_store_n(&links[i], (uint32_t)old, __ATOMIC_RELAXED);
        /* release: pairs with the acquire in pop_index(), which finds the writer zeroed. */
    } while (!__atomic_compare_exchange_n(&free_writers, &old,
                                          ((old >> 32) + 1) << 32 | (i + 1), true,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* Take a free writer and return its index + 1; 0: there is none. */
static uint32_t pop_index(void)
{
    /* acquire: pairs with the release in push_index() */
    uint64_t old = __atomic_load_n(&free_writers, __ATOMIC_ACQUIRE);

    for (int tries = 0; tries < TRIES_MAX && (uint32_t)old != 0; tries++) {
        /* relaxed: the exchange fails if it is outdated. */
        const uint32_t below = __atomic_load_n(&links[(uint32_t)old - 1], __ATOMIC_RELAXED);

        /* acquire: as above */
        if (__atomic_compare_exchange_n(&free_writers, &old, ((old >> 32) + 1) << 32 | below,
                                        false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return (uint32_t)old;
    }
    /* relaxed: unused writers are zero for every thread; seq_cst: see wait_idle(). */
    uint32_t n = __atomic_load_n(&n_writers, __ATOMIC_RELAXED);

    while (n < OSC_LIVE_THREADS)
        if (__atomic_compare_exchange_n(&n_writers, &n, n + 1, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
            return n + 1;
    return 0;
}

/* Detach W from its thread. osc_writer_clear() clears the rest. */
static void clear(struct osc_writer *w)
{
    w->epoch = w->generation = 0;
    w->index_1 = 0;
    w->is_dry = w->may_wait = false;
    w->entry = NULL;
    w->block = NULL;
    /* relaxed: wait_idle() and is_gone() may read it, without harm. */
    __atomic_store_n(&w->tid, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&w->pos, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELAXED);
}

/* Keep all others out of W, whose thread ends. Returns whether it jumped out of a slow path. */
static bool seize(struct osc_writer *w)
{
    /* seq_cst: see wait_idle() */
    return __atomic_exchange_n(&w->busy, 1, __ATOMIC_SEQ_CST) != 0;
}

/* Write what writer I, W, still owes the recording, and give it back. Its thread has ended, and
 * W is seized. If the thread jumped out of the slow path, W may be half changed, so its block
 * stays open until the flusher finds it (osc_backlog_adopt()) or the recording ends. */
static void hand_over(struct osc_writer *w, uint32_t i, bool has_jumped)
{
    struct osc_live_thread *entry = w->entry;
    /* seq_cst: see wait_idle() */
    const bool is_on =
        w->generation != 0 && w->generation == __atomic_load_n(&generation, __ATOMIC_SEQ_CST);

    if (is_on && !has_jumped)
        osc_writer_end(w, osc_ticks());
    if (is_on)
        osc_writer_count_unwritten(w, entry);
    clear(w);
    /* release: pairs with the acquire of the flusher, which gives it back. */
    if (is_on)
        __atomic_store_n(&entry->state, OSC_THREAD_EXITED, __ATOMIC_RELEASE);
    else
        push_index(i);
}

/* Destructor of a thread, whose writer is ARG. If the thread records after this, it gets
 * another writer. */
static void end_thread(void *arg)
{
    const int kept = errno;
    struct osc_writer *w = arg;

    osc_quiet_begin();
    if (osc_threads_life() == OSC_LIFE_HERE && w == osc_writer_self && w->index_1 != 0) {
        const uint32_t i = w->index_1 - 1;
        const bool has_jumped = seize(w);

        w->epoch = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in the slow path */
        osc_writer_self = osc_writer_nobody();
        hand_over(w, i, has_jumped);
    }
    osc_quiet_end();
    errno = kept;
}

/* Whether the thread of W no longer exists although its destructor did not run. */
static bool is_gone(const struct osc_writer *w)
{
    /* relaxed: end_for() reads it again. */
    const uint32_t tid = __atomic_load_n(&w->tid, __ATOMIC_RELAXED);

    return tid != 0 && syscall(SYS_tgkill, memory->pid, tid, 0) != 0 && errno == ESRCH;
}

/* End writer I, whose thread no longer exists. */
static void end_for(uint32_t i)
{
    struct osc_writer *w = &memory->writers[i];
    uint32_t tid = __atomic_load_n(&w->tid, __ATOMIC_RELAXED);

    /* acquire: one of the threads that find it ends it; relaxed: the others leave it. */
    if (tid == 0 || !__atomic_compare_exchange_n(&w->tid, &tid, 0, false, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED))
        return;
    hand_over(w, i, seize(w));
}

void osc_threads_post_gone(uint32_t level)
{
    /* acquire: pairs with the release in osc_threads_init() */
    struct memory *m = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);

    osc_writer_post_gone(&m->writers[level >> OSC_LEVEL_BITS], level);
}

uint32_t osc_threads_reap(void)
{
    const int kept = errno;
    /* relaxed: the threads of writers added meanwhile exist. */
    const uint32_t n = __atomic_load_n(&n_writers, __ATOMIC_RELAXED);
    uint32_t n_gone = 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_gone(&memory->writers[i])) {
            end_for(i);
            n_gone++;
        }
    errno = kept;
    return n_gone;
}

/* All writers are taken: end those of threads that no longer exist, at most ten times a second.
 */
static void reap_at_times(void)
{
    const uint64_t now = osc_ticks();
    /* relaxed: only limits the rate. */
    uint64_t last = __atomic_load_n(&last_reap, __ATOMIC_RELAXED);

    if (now - last >= osc_ticks_hz() / REAPS_HZ &&
        __atomic_compare_exchange_n(&last_reap, &last, now, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        (void)osc_threads_reap();
}

void osc_threads_load(void)
{
    static bool is_done;

    if (is_done)
        return;
    is_done = true;
    has_key = pthread_key_create(&key, end_thread) == 0 && key < KEYS_AT_HAND;
}

osc_status osc_threads_init(void)
{
    const int kept = errno;
    struct memory *m, *none = NULL;

    /* acquire: pairs with the release below */
    if (__atomic_load_n(&memory, __ATOMIC_ACQUIRE))
        return OSC_OK;
    osc_threads_load();
    m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) {
        errno = kept;
        return OSC_ENOMEM;
    }
    /* If the kernel cannot, osc_threads_forked() wipes it. */
    (void)madvise(m, sizeof *m, MADV_WIPEONFORK);
    m->life = LIFE_HERE;
    m->has_libc = true;
    m->pid = getpid();
    /* release: pairs with the acquire in osc_threads_life(); relaxed: another thread, or a
     * handler, was faster. */
    if (!__atomic_compare_exchange_n(&memory, &none, m, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        (void)munmap(m, sizeof *m);
    errno = kept;
    return OSC_OK;
}

enum osc_life osc_threads_life(void)
{
    /* acquire: pairs with the release in osc_threads_init() and osc_threads_live() */
    const struct memory *m = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);

    if (!m)
        return OSC_LIFE_NONE;
    return __atomic_load_n(&m->life, __ATOMIC_ACQUIRE) == LIFE_HERE ? OSC_LIFE_HERE
                                                                    : OSC_LIFE_CHILD;
}

bool osc_threads_begin_life(void)
{
    uint32_t wiped = LIFE_WIPED;

    /* relaxed: there is only one thread, with its handlers. */
    if (!__atomic_compare_exchange_n(&memory->life, &wiped, LIFE_BEGINS, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    free_writers = 0;
    n_writers = 0;
    generation = 0;
    last_reap = 0;
    osc_losses_reset();
    return true;
}

void osc_threads_live(void)
{
    memory->pid = getpid();
    /* release: pairs with the acquire in osc_threads_life() */
    __atomic_store_n(&memory->life, LIFE_HERE, __ATOMIC_RELEASE);
}

pid_t osc_threads_pid(void)
{
    return memory->pid;
}

bool osc_threads_has_libc(void)
{
    return memory->has_libc;
}

void osc_threads_forked(void)
{
    if (!memory)
        return;
    /* Old kernels cannot wipe the memory, and emulators only claim to. */
    if (memory->life != LIFE_WIPED && madvise(memory, sizeof *memory, MADV_DONTNEED) != 0)
        memset(memory, 0, sizeof *memory);
    memory->has_libc = true;
}

struct osc_writer *osc_threads_writer(void)
{
    struct osc_writer *had = osc_writer_self;

    if (had->index_1 != 0)
        return had;
    const uint32_t i = pop_index();

    if (i == 0) {
        reap_at_times(); /* for later calls */
        return NULL;
    }
    struct osc_writer *w = &memory->writers[i - 1];

    w->index_1 = i;
    /* What the last thread of this writer opened may still end. */
    w->level = w->level == 0 ? (i - 1) << OSC_LEVEL_BITS | 1 : w->level;
    /* relaxed: is_gone() sees it now or later. */
    __atomic_store_n(&w->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
    uintptr_t seen = (uintptr_t)had;

    if (osc_local_swap((uintptr_t *)&osc_writer_self, &seen, (uintptr_t)w)) {
        if (has_key)
            (void)pthread_setspecific(key, w);
    } else { /* a handler of this thread was faster */
        clear(w);
        push_index(i - 1);
    }
    return osc_writer_self;
}

void osc_threads_publish_busy(void)
{
    /* seq_cst: see wait_idle() */
    (void)__atomic_exchange_n(&osc_writer_self->busy, 1, __ATOMIC_SEQ_CST);
}

void osc_threads_enter(struct osc_writer *w, uint64_t number)
{
    struct osc_live_header *h = osc_blocks_header();
    struct osc_live_thread *e = &osc_blocks_threads()[w->index_1 - 1];
    /* relaxed: ordinals need only differ. */
    uint32_t n = __atomic_load_n(&h->n_threads, __ATOMIC_RELAXED);

    w->ordinal = __atomic_add_fetch(&last_ordinal, 1, __ATOMIC_RELAXED);
    w->entry = e;
    e->tid = w->tid;
    e->ordinal = w->ordinal;
    /* release: pairs with the acquire of the flusher and in osc_losses_sum(). */
    __atomic_store_n(&e->state, OSC_THREAD_RUNS, __ATOMIC_RELEASE);
    while (n < w->index_1 && !__atomic_compare_exchange_n(&h->n_threads, &n, w->index_1, true,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        /* release: as above; relaxed: the loop tries again. */
        continue;
    w->generation = number;
}

/* How many entries of the table this recording has used. */
static uint32_t entries_used(void)
{
    const struct osc_live_header *h = osc_blocks_header();

    /* acquire: pairs with the release in osc_threads_enter() */
    return h ? __atomic_load_n(&h->n_threads, __ATOMIC_ACQUIRE) : 0;
}

void osc_threads_give_back(uint32_t i)
{
    struct osc_live_thread *e = &osc_blocks_threads()[i];

    osc_losses_keep(e);
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        __atomic_store_n(&e->lost[cause], 0, __ATOMIC_RELAXED); /* its thread has ended */
    /* release: a reader of the file that sees UNUSED reads nothing else of the entry. */
    __atomic_store_n(&e->state, OSC_THREAD_UNUSED, __ATOMIC_RELEASE);
    push_index(i);
}

/* Whether every slot that W has reserved carries its block's tag. Only an estimate, because W's
 * thread may be recording. */
static bool is_tagged(const struct osc_writer *w)
{
    /* acquire: pairs with the release where the thread changes its block */
    const uintptr_t pos = __atomic_load_n(&w->pos, __ATOMIC_ACQUIRE);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): see osc_writer_try() */
    const struct osc_block *b = osc_writer_block_of((const void *)(pos - 1));

    if (pos == 0)
        return true;
    for (const struct osc_record_slot *s = b->slots; (uintptr_t)s < pos;) {
        /* acquire: pairs with the release in osc_writer_finish() */
        const uint64_t word = __atomic_load_n(&s->word, __ATOMIC_ACQUIRE);

        if (osc_record_tag(word) != b->tag || osc_record_n_slots(word) == 0)
            return false;
        s += osc_record_n_slots(word);
    }
    return true;
}

/* Whether the thread of writer I is in no recording call. Only an estimate, as seen from
 * outside. */
static bool is_through(uint32_t i)
{
    /* seq_cst: see wait_idle() */
    if (__atomic_load_n(&memory->writers[i].busy, __ATOMIC_SEQ_CST))
        return false;
    /* acquire: pairs with the release in osc_threads_enter() */
    return __atomic_load_n(&osc_blocks_threads()[i].state, __ATOMIC_ACQUIRE) !=
               OSC_THREAD_RUNS ||
           is_tagged(&memory->writers[i]);
}

/* Wait at most TIMEOUT_NS until the calls that were under way are done. */
static void wait_idle(int64_t timeout_ns)
{
    const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
    /* seq_cst: a thread takes its writer, publishes that it is busy, and checks whether
     * recording is on, which was turned off before this load. So at least one of the two sees
     * the other. */
    const uint32_t n = __atomic_load_n(&n_writers, __ATOMIC_SEQ_CST);

    for (uint32_t i = 0; i < n; i++)
        while (&memory->writers[i] != osc_writer_self && timeout_ns > 0 && !is_through(i)) {
            (void)nanosleep(&step, NULL);
            timeout_ns -= WAIT_STEP_NS;
        }
}

void osc_threads_open(uint64_t number)
{
    /* relaxed: no thread records. */
    __atomic_store_n(&last_ordinal, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&generation, number, __ATOMIC_RELAXED);
}

void osc_threads_stop(int64_t timeout_ns)
{
    /* seq_cst: see wait_idle() */
    __atomic_store_n(&generation, 0, __ATOMIC_SEQ_CST);
    wait_idle(timeout_ns);
    for (uint32_t i = 0, n = entries_used(); i < n; i++) {
        struct osc_live_thread *e = &osc_blocks_threads()[i];

        /* acquire: pairs with the release in osc_threads_enter() */
        if (__atomic_load_n(&e->state, __ATOMIC_ACQUIRE) == OSC_THREAD_RUNS)
            osc_writer_count_unwritten(&memory->writers[i], e);
    }
}

void osc_threads_close(void)
{
    for (uint32_t i = 0, n = entries_used(); i < n; i++) {
        const struct osc_live_thread *e = &osc_blocks_threads()[i];

        /* The entries stay as they are: if the file could not be written, they are read. */
        osc_losses_keep(e);
        /* acquire: pairs with the release in hand_over() */
        if (__atomic_load_n(&e->state, __ATOMIC_ACQUIRE) == OSC_THREAD_EXITED)
            push_index(i);
    }
}
