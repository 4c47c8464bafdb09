/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/names.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "recorder/host/quiet.h"
#include "recording/growing_map.h"
#include "wire/chunk.h"
#include "wire/live.h"

#define LOG_BYTES_MAX ((size_t)256 << 20)
#define LOG_BYTES_MIN ((size_t)1 << 20)
#define LOG_STEP      ((size_t)128 << 10)
#define IDLE_BYTES    ((size_t)16 << 20) /* of the log while nothing records */

enum {
    LEVELS = 5,
    LEVEL_0_BITS = 10,   /* the first level has 2 to this power slots */
    LEVEL_BITS = 3,      /* each next level has 8 times as many */
    PROBES = 16,         /* slots that are tried for a string in a level */
    YIELDS = 1000,       /* times to yield before sleeping, */
    WAITS = YIELDS + 200 /* and to wait at all before giving up: 0.1 s or little more */
};

/* Hash in the high half, name in the low one; 0: free. */
typedef uint64_t name_slot;

static struct {
    unsigned char *base; /* the log, with an osc_live_strings at its start */
    size_t max_bytes;    /* of addresses */
    struct osc_fd file;
    bool is_file;
    name_slot *levels[LEVELS];
    uint32_t is_growing; /* a lock, held during a few system calls */
    uint32_t is_closed;  /* the log is being moved: stay out */
    uint32_t is_wanted;  /* names are recorded */
    uint32_t n_inside;   /* threads that may be writing to it */
} names;

static struct osc_live_strings *header(void)
{
    return (struct osc_live_strings *)(void *)names.base;
}

static uint32_t hash_of(const char *s, size_t len)
{
    return (uint32_t)osc_wire_hash(s, len);
}

static size_t entry_bytes(size_t len)
{
    return (8 + len + 7) & ~(size_t)7;
}

static bool try_lock(uint32_t *lock)
{
    /* acquire: pairs with the release in unlock() */
    return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0;
}

static void unlock(uint32_t *lock)
{
    /* release: pairs with the acquire in try_lock() and enter() */
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Create the log in private memory. The caller holds the lock. */
static bool create_log(void)
{
    unsigned char *base = NULL;
    size_t max = LOG_BYTES_MAX;

    for (; !base && max >= LOG_BYTES_MIN; max /= 4)
        base = osc_growing_map_addresses(max, LOG_STEP);
    if (!base)
        return false;
    max *= 4;
    if (mprotect(base, LOG_STEP, PROT_READ | PROT_WRITE) != 0) {
        (void)munmap(base, max);
        return false;
    }

    struct osc_live_strings *h = (struct osc_live_strings *)(void *)base;

    h->used_bytes = OSC_STRINGS_AT;
    h->reserved_bytes = LOG_STEP;
    h->magic = OSC_LIVE_MAGIC;
    names.max_bytes = max;
    /* release: pairs with the acquire in log_is_there() */
    __atomic_store_n(&names.base, base, __ATOMIC_RELEASE);
    return true;
}

/* Let the thread go on that this one waits for, which may have lost its processor to another
 * program. DONE: how often this one waited already. */
static void wait_a_little(int done)
{
    static const struct timespec half_ms = {.tv_nsec = 500000};
    int was = PTHREAD_CANCEL_ENABLE;

    if (done < YIELDS) {
        (void)sched_yield();
        return;
    }
    /* To add a name is no point where a program expects that its thread is cancelled. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    (void)nanosleep(&half_ms, NULL);
    (void)pthread_setcancelstate(was, NULL);
}

static bool log_is_there(void)
{
    /* acquire: pairs with the release in create_log() */
    return __atomic_load_n(&names.base, __ATOMIC_ACQUIRE) != NULL;
}

/* Whether the log may grow to END bytes. A program that makes names without end and never
 * records must not lose its memory to them. */
static bool may_reach(size_t end)
{
    /* relaxed: a thread that sees a change too late gets the limit of before. */
    return end <= names.max_bytes &&
           (end <= IDLE_BYTES || __atomic_load_n(&names.is_wanted, __ATOMIC_RELAXED));
}

/* Reserve room up to END bytes. The caller holds the lock. */
static bool extend_log(size_t end)
{
    const size_t from = header()->reserved_bytes;
    const size_t to = (end + LOG_STEP - 1) / LOG_STEP * LOG_STEP;

    if (names.is_file ? osc_growing_map_reserve(&names.file, from, to, names.base) != OSC_OK
                      : mprotect(names.base + from, to - from, PROT_READ | PROT_WRITE) != 0)
        return false;
    /* release: pairs with the acquire in reserve_room(); the memory exists before it is
     * used. */
    __atomic_store_n(&header()->reserved_bytes, to, __ATOMIC_RELEASE);
    return true;
}

static bool has_room(size_t end)
{
    return log_is_there() &&
           /* acquire: as in reserve_room() */
           __atomic_load_n(&header()->reserved_bytes, __ATOMIC_ACQUIRE) >= end;
}

/* Block all signals except faults, which cannot wait: a handler that interrupts the holder of
 * the lock could neither add a name nor open a recording. */
static void hold_signals(sigset_t *was)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t held;

    (void)sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)sigdelset(&held, faults[i]);
    (void)pthread_sigmask(SIG_BLOCK, &held, was);
}

/* Make sure that the log exists and has room up to END bytes. OSC_ECANCELED: another call is
 * growing it, perhaps one that this handler interrupted. */
static osc_status grow(size_t end)
{
    const int kept = errno;
    osc_status st = OSC_ECANCELED;
    int was = PTHREAD_CANCEL_ENABLE;
    sigset_t signals;

    /* A cancelled thread would never release the lock, and lose the space reserved for the
     * file. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
    hold_signals(&signals);
    for (int i = 0; i < WAITS && st == OSC_ECANCELED; i++) {
        if (has_room(end)) {
            st = OSC_OK;
        } else if (try_lock(&names.is_growing)) {
            const bool is_good = (log_is_there() || create_log()) &&
                                 (header()->reserved_bytes >= end || extend_log(end));

            st = is_good ? OSC_OK : OSC_ENOMEM;
            unlock(&names.is_growing);
        } else {
            wait_a_little(i);
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    (void)pthread_setcancelstate(was, NULL);
    errno = kept;
    return st;
}

/* Reserve BYTES in the log and return their offset; 0: there is no room. */
static uint64_t reserve_room(size_t bytes)
{
    struct osc_live_strings *h = header();
    /* relaxed: the exchange below checks it. */
    uint64_t at = __atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED);

    do {
        /* acquire: pairs with the release in extend_log() */
        if (at + bytes > __atomic_load_n(&h->reserved_bytes, __ATOMIC_ACQUIRE) &&
            (!may_reach(at + bytes) || grow(at + bytes) != OSC_OK))
            return 0;
        /* relaxed: an entry is published by its length, which is written last. */
    } while (!__atomic_compare_exchange_n(&h->used_bytes, &at, at + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return at;
}

/* The bytes of an entry. */
struct content {
    const char *s;
    uint32_t len, hash;
    uint32_t flag; /* OSC_STRING_IN_CATEGORY or 0 */
};

static uint32_t append(const struct content *c)
{
    const uint64_t at = reserve_room(entry_bytes(c->len));

    if (at == 0)
        return 0;
    uint32_t *entry = (uint32_t *)(void *)(names.base + at);

    entry[1] = c->hash;
    memcpy(entry + 2, c->s, c->len);
    /* release: pairs with the acquire in head_of(), and for readers of the file. */
    __atomic_store_n(&entry[0], (c->len + 1) | c->flag, __ATOMIC_RELEASE);
    return (uint32_t)(at / 8);
}

static const uint32_t *entry_of(uint32_t name)
{
    return (const uint32_t *)(const void *)(names.base + (size_t)name * 8);
}

static uint32_t head_of(const uint32_t *entry)
{
    /* acquire: pairs with the release in append() */
    return __atomic_load_n(&entry[0], __ATOMIC_ACQUIRE);
}

static bool is_entry(uint32_t name, const struct content *c)
{
    const uint32_t *entry = entry_of(name);

    return head_of(entry) == ((c->len + 1) | c->flag) && memcmp(entry + 2, c->s, c->len) == 0;
}

static size_t level_slots(int level)
{
    return (size_t)1 << (LEVEL_0_BITS + LEVEL_BITS * level);
}

/* The slots of LEVEL, created if needed; NULL: no memory. */
static name_slot *level_at(int level)
{
    /* acquire: pairs with the release below */
    name_slot *there = __atomic_load_n(&names.levels[level], __ATOMIC_ACQUIRE);

    if (there)
        return there;
    const int kept = errno;
    const size_t bytes = level_slots(level) * sizeof *there;
    name_slot *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (fresh == MAP_FAILED) {
        fresh = NULL;
    } else if (!__atomic_compare_exchange_n(&names.levels[level], &there, fresh, false,
                                            __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        /* acquire, release: a thread that finds the level finds its slots, empty or filled.
         */
        (void)munmap(fresh, bytes);
        fresh = there;
    }
    errno = kept;
    return fresh;
}

/* The name in SLOT if it is that of C; a free slot is given to C. *MINE is the entry of C once
 * it has one. 0: the slot has another string, or there is no room. */
static uint32_t try_slot(name_slot *slot, const struct content *c, uint32_t *mine)
{
    /* acquire: pairs with the release below; head_of() has its own */
    name_slot found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

    if (found == 0) {
        if (*mine == 0)
            *mine = append(c);
        if (*mine == 0)
            return 0;
        if (__atomic_compare_exchange_n(slot, &found, (name_slot)c->hash << 32 | *mine, false,
                                        __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            /* release, acquire: as above */
            return *mine;
    }
    return found >> 32 == c->hash && is_entry((uint32_t)found, c) ? (uint32_t)found : 0;
}

/* Find or add LEN bytes at S with FLAG; 0: there is no room. */
static uint32_t find(const char *s, size_t len, uint32_t flag)
{
    const struct content c = {s, (uint32_t)len, hash_of(s, len), flag};
    uint32_t mine = 0;

    for (int level = 0; level < LEVELS; level++) {
        name_slot *slots = level_at(level);

        for (uint32_t i = 0; slots && i < PROBES; i++) {
            name_slot *slot = &slots[(c.hash + i) & (level_slots(level) - 1)];
            const uint32_t name = try_slot(slot, &c, &mine);

            if (name != 0)
                return name;
            /* relaxed: the slot was free and stayed free, because there was no room. */
            if (mine == 0 && __atomic_load_n(slot, __ATOMIC_RELAXED) == 0)
                return 0;
        }
    }
    return mine; /* every slot is taken: this entry is not found again, and the next call adds
                    another */
}

/* Whether the log may be written to; if so, leave() must follow. */
static bool enter(void)
{
    const int kept = errno;
    bool is_in = false;

    for (int i = 0; i < WAITS && !is_in; i++) {
        /* seq_cst: pairs with close_log(): at least one of the two sees the other. */
        __atomic_add_fetch(&names.n_inside, 1, __ATOMIC_SEQ_CST);
        is_in = !__atomic_load_n(&names.is_closed, __ATOMIC_SEQ_CST);
        if (!is_in) {
            /* relaxed: nothing was written. */
            __atomic_sub_fetch(&names.n_inside, 1, __ATOMIC_RELAXED);
            wait_a_little(i);
        }
    }
    errno = kept;
    return is_in;
}

static void leave(void)
{
    /* release: pairs with the acquire in close_log() */
    __atomic_sub_fetch(&names.n_inside, 1, __ATOMIC_RELEASE);
}

/* osc_names_add() of bytes that fit, with FLAG. */
static uint32_t add(const char *s, size_t len, uint32_t flag)
{
    uint32_t name = 0;

    osc_quiet_begin();
    if (enter()) {
        if (log_is_there() || grow(LOG_STEP) == OSC_OK)
            name = find(s, len, flag);
        leave();
    }
    osc_quiet_end();
    return name;
}

uint32_t osc_names_add(const char *s, size_t len, uint64_t *n_full, uint64_t *n_too_big)
{
    uint32_t name;

    if (!s || len == 0)
        return 0;
    if (len > OSC_NAME_BYTES_MAX) {
        len = OSC_NAME_BYTES_MAX;
        ++*n_too_big;
    }
    name = add(s, len, 0);
    *n_full += name == 0;
    return name;
}

uint32_t osc_names_add_in(uint32_t category, const char *s, size_t len, uint64_t *n_full)
{
    char bytes[sizeof category + OSC_NAME_IN_CATEGORY_MAX];
    uint32_t name;

    memcpy(bytes, &category, sizeof category);
    memcpy(bytes + sizeof category, s, len);
    name = add(bytes, sizeof category + len, OSC_STRING_IN_CATEGORY);
    *n_full += name == 0;
    return name;
}

const char *osc_names_text(uint32_t name, size_t *len)
{
    const uint64_t at = (uint64_t)name * 8;
    /* relaxed: entries of names that exist are below it for long. */
    const uint64_t used =
        log_is_there() ? __atomic_load_n(&header()->used_bytes, __ATOMIC_RELAXED) : 0;

    *len = 0;
    if (at < OSC_STRINGS_AT || at + 8 > used)
        return "";
    const uint32_t *const entry = entry_of(name);
    const uint32_t head = head_of(entry), end = osc_string_end(head);
    const size_t skipped = head & OSC_STRING_IN_CATEGORY ? sizeof(uint32_t) : 0;

    if (end <= skipped || end - 1 > used - at - 8)
        return "";
    *len = end - 1 - skipped;
    return (const char *)(entry + 2) + skipped;
}

void osc_names_want(bool want)
{
    /* relaxed: as in may_reach() */
    __atomic_store_n(&names.is_wanted, want, __ATOMIC_RELAXED);
}

/* Keep other threads out while the log moves. A handler of this thread that adds a name
 * meanwhile gives up; a thread that was stopped inside may lose what it writes. */
static void close_log(void)
{
    /* seq_cst: pairs with enter() */
    __atomic_store_n(&names.is_closed, 1, __ATOMIC_SEQ_CST);
    /* acquire: pairs with the release in leave() */
    for (int i = 0; i < WAITS && __atomic_load_n(&names.n_inside, __ATOMIC_ACQUIRE) > 0; i++)
        wait_a_little(i);
}

/* Close the log when no thread is growing it, because that would grow it at its old place.
 * False, and open again, if one takes too long. */
static bool close_whole_log(void)
{
    close_log();
    for (int i = 0; i < WAITS; i++) {
        if (try_lock(&names.is_growing))
            return true;
        wait_a_little(i);
    }
    unlock(&names.is_closed);
    return false;
}

static void open_whole_log(void)
{
    unlock(&names.is_growing);
    unlock(&names.is_closed);
}

static bool write_all(int fd, const unsigned char *p, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = pwrite(fd, p + done, len - done, (off_t)done);

        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Copy the log into FILE, and map that where the log is. */
static osc_status move_to_file(struct osc_fd *file, const uint64_t recording[2])
{
    const size_t reserved = header()->reserved_bytes;
    const int fd = osc_fd_get(file);
    struct osc_live_strings *h = header();

    h->recording[0] = recording[0];
    h->recording[1] = recording[1];
    if (fd < 0 || !write_all(fd, names.base, h->used_bytes))
        return OSC_EIO;
    return osc_growing_map_reserve_cold(file, 0, reserved, names.base);
}

/* Move the closed log to a new file in DIR_FD. */
static osc_status put_into_file(int dir_fd, const uint64_t recording[2])
{
    struct osc_fd file;
    osc_status st = osc_growing_map_create(&file, dir_fd, "strings");

    if (st != OSC_OK)
        return st;
    /* Set before the move, because a fork in between may leave the child with the file as its
     * log. */
    names.is_file = true;
    st = move_to_file(&file, recording);
    if (st == OSC_OK) {
        names.file = file;
    } else {
        names.is_file = false;
        osc_fd_close(&file);
    }
    return st;
}

osc_status osc_names_open(int dir_fd, const uint64_t recording[2])
{
    const int kept = errno;
    osc_status st = log_is_there() ? OSC_OK : grow(LOG_STEP);

    if (st == OSC_OK && !close_whole_log()) {
        st = OSC_ECANCELED;
    } else if (st == OSC_OK) {
        st = put_into_file(dir_fd, recording);
        open_whole_log();
    }
    errno = kept;
    return st;
}

void osc_names_detach(void)
{
    const int kept = errno;

    /* If the log cannot be closed, or there is no memory for a copy, the file remains the log,
     * even if it is removed. */
    if (!names.is_file || !close_whole_log())
        return;
    const size_t len = header()->reserved_bytes;
    unsigned char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (copy != MAP_FAILED) {
        memcpy(copy, names.base, header()->used_bytes);
        (void)mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, names.base);
        names.is_file = false;
    }
    osc_fd_close(&names.file);
    open_whole_log();
    errno = kept;
}

void osc_names_unlock(void)
{
    open_whole_log();
    /* relaxed: there is no other thread. */
    __atomic_store_n(&names.n_inside, 0, __ATOMIC_RELAXED);
}
