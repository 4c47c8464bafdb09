/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* The header that malloc keeps before each block, in addition to its usable bytes. */
#define BLOCK_HEAD_BYTES sizeof(size_t)

/* How many more allocations may succeed; negative: all. */
static _Atomic long fail_after = -1;

/* The account of the process; all others are parts of it. */
static struct osc_mem_account whole;

/* The account that pays for allocations of this thread, in addition to the process. */
static _Thread_local struct osc_mem_account *current;

/* Count one allocation down; true if it must fail. */
static bool must_fail(void)
{
    /* relaxed, here and below: independent numbers that order nothing else */
    long n = atomic_load_explicit(&fail_after, memory_order_relaxed);

    while (n > 0 && !atomic_compare_exchange_weak_explicit(
                        &fail_after, &n, n - 1, memory_order_relaxed, memory_order_relaxed))
        continue;
    return n == 0;
}

/* The thread's account; its parents and then the process follow, then NULL. */
static struct osc_mem_account *first_account(void)
{
    return current ? current : &whole;
}

static struct osc_mem_account *next_account(const struct osc_mem_account *a)
{
    if (a == &whole)
        return NULL;
    return a->parent ? a->parent : &whole;
}

static int64_t most_of(const struct osc_mem_account *a)
{
    const size_t limit = atomic_load_explicit(&a->limit, memory_order_relaxed);

    return limit == 0 || limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

static int64_t held_by(const struct osc_mem_account *a)
{
    return atomic_load_explicit(&a->held, memory_order_relaxed);
}

/* Charge A with SIZE bytes. False: that would exceed its limit. */
static bool charge(struct osc_mem_account *a, int64_t size)
{
    const int64_t most = most_of(a);
    int64_t held = held_by(a);
    int64_t peak = atomic_load_explicit(&a->peak, memory_order_relaxed);

    do {
        if (held > most - size) {
            atomic_store_explicit(&a->is_refused, true, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &a->held, &held, held + size, memory_order_relaxed, memory_order_relaxed));
    while (held + size > peak &&
           !atomic_compare_exchange_weak_explicit(&a->peak, &peak, held + size,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
    return true;
}

static void credit(struct osc_mem_account *a, int64_t size)
{
    atomic_fetch_sub_explicit(&a->held, size, memory_order_relaxed);
}

bool osc_mem_take(size_t size)
{
    if (size > PTRDIFF_MAX || osc_mem_is_cancelled())
        return false;
    for (struct osc_mem_account *a = first_account(); a; a = next_account(a)) {
        if (charge(a, (int64_t)size))
            continue;
        for (struct osc_mem_account *b = first_account(); b && b != a; b = next_account(b))
            credit(b, (int64_t)size);
        return false;
    }
    return true;
}

void osc_mem_give(size_t size)
{
    /* SIZE is unsigned, modulo SIZE_MAX + 1: this also credits a negative size. */
    for (struct osc_mem_account *a = first_account(); a; a = next_account(a))
        credit(a, (int64_t)size);
}

struct osc_mem_account *osc_mem_enter(struct osc_mem_account *a)
{
    struct osc_mem_account *const before = current;

    current = a;
    return before;
}

struct osc_mem_account *osc_mem_account_here(void)
{
    return current;
}

void osc_mem_account_end(struct osc_mem_account *a)
{
    const int64_t left = atomic_exchange_explicit(&a->held, 0, memory_order_relaxed);

    for (struct osc_mem_account *up = a->parent; up; up = up->parent)
        credit(up, left);
}

void osc_mem_cancel(struct osc_mem_account *a)
{
    /* relaxed: a thread that sees it late only works a little longer */
    atomic_store_explicit(&a->is_cancelled, true, memory_order_relaxed);
}

bool osc_mem_account_is_cancelled(const struct osc_mem_account *a)
{
    for (; a; a = a->parent) {
        if (atomic_load_explicit(&a->is_cancelled, memory_order_relaxed))
            return true;
    }
    return false;
}

bool osc_mem_is_cancelled(void)
{
    return osc_mem_account_is_cancelled(current);
}

/* The bytes that block P is counted with; 0 for NULL. */
static size_t block_bytes(void *p)
{
    return p ? malloc_usable_size(p) + BLOCK_HEAD_BYTES : 0;
}

/*
 * SIZE bytes were charged for P, a block that counted BEFORE bytes until now. Correct the
 * charge to what P really takes; malloc rounds up by little, so no limit is checked for that.
 */
static void *recount(void *p, size_t size, size_t before)
{
    osc_mem_give(size - (p ? block_bytes(p) - before : 0));
    return p;
}

void *osc_malloc(size_t size)
{
    if (must_fail() || !osc_mem_take(size))
        return NULL;
    /* Never 0 bytes, so that NULL always means failure. */
    return recount(malloc(size ? size : 1), size, 0);
}

void *osc_calloc(size_t n, size_t size)
{
    size_t all;

    if (must_fail() || __builtin_mul_overflow(n, size, &all) || !osc_mem_take(all))
        return NULL;
    return recount(all == 0 ? calloc(1, 1) : calloc(n, size), all, 0);
}

void *osc_realloc(void *p, size_t size)
{
    const size_t before = block_bytes(p);
    const size_t more = size > before ? size - before : 0;

    if (must_fail() || !osc_mem_take(more))
        return NULL;
    return recount(realloc(p, size ? size : 1), more, before);
}

void osc_free(void *p)
{
    osc_mem_give(block_bytes(p));
    free(p);
}

osc_status osc_grow(void *p_array, size_t *cap, size_t need, size_t size)
{
    const size_t most = PTRDIFF_MAX / size;
    size_t n = *cap < 8 ? 16 : *cap;
    void *p = NULL, *grown;

    if (need <= *cap)
        return OSC_OK;
    if (need > most)
        return OSC_ENOMEM;
    while (n < need)
        n = n > most / 2 ? most : n * 2;
    if (n > most)
        n = need;

    /* The caller's pointer has another type, so copy its bytes. */
    memcpy(&p, p_array, sizeof p);
    grown = osc_realloc(p, n * size);
    if (!grown && n - need > need / 8) { /* if memory is short, grow by less */
        n = need + need / 8;
        grown = osc_realloc(p, n * size);
    }
    if (!grown)
        return OSC_ENOMEM;
    memcpy(p_array, &grown, sizeof grown);
    *cap = n;
    return OSC_OK;
}

/* SIZE rounded up to whole pages; 0 when that overflows. */
static size_t round_to_pages(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (size > PTRDIFF_MAX - HUGE_PAGE_BYTES - page)
        return 0;
    return size == 0 ? page : (size + page - 1) / page * page;
}

static bool is_one_page(size_t size)
{
    return size == (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Single pages that were given back, for the next ones that are needed: a program that reads
 * thousands of small recordings would spend much of its time in mapping them. Nobody waits for
 * the lock: in the child of a fork it may be held for ever by a thread of the parent.
 */
static struct {
    pthread_mutex_t lock;
    unsigned n;
    void *pages[32];
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A zeroed page of SIZE bytes; NULL on failure. */
static void *take_page(size_t size)
{
    void *p = NULL;

    if (pthread_mutex_trylock(&spare.lock) == 0) {
        if (spare.n > 0)
            p = spare.pages[--spare.n];
        pthread_mutex_unlock(&spare.lock);
    }
    if (p)
        return memset(p, 0, size);
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void give_page(void *p, size_t size)
{
    bool is_kept = false;

    if (pthread_mutex_trylock(&spare.lock) == 0) {
        is_kept = spare.n < sizeof spare.pages / sizeof *spare.pages;
        if (is_kept)
            spare.pages[spare.n++] = p;
        pthread_mutex_unlock(&spare.lock);
    }
    if (!is_kept)
        (void)munmap(p, size);
}

/* Map SIZE bytes at a multiple of the huge page size; NULL on failure. */
static void *map_aligned(size_t size)
{
    char *const p = mmap(NULL, size + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    const size_t head = (HUGE_PAGE_BYTES - (uintptr_t)p % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
    if (head > 0)
        (void)munmap(p, head);
    (void)munmap(p + head + size, HUGE_PAGE_BYTES - head);
    /* A hint; without huge pages, small ones work as well. */
    (void)madvise(p + head, size, MADV_HUGEPAGE);
    return p + head;
}

void *osc_pages_alloc(size_t size)
{
    const size_t rounded = round_to_pages(size);
    void *p;

    if (must_fail() || rounded == 0 || !osc_mem_take(rounded))
        return NULL;
    if (is_one_page(rounded)) {
        p = take_page(rounded);
    } else if (rounded >= HUGE_PAGE_BYTES) {
        p = map_aligned(rounded);
    } else {
        p = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        p = p == MAP_FAILED ? NULL : p;
    }
    if (!p)
        osc_mem_give(rounded);
    return p;
}

void osc_pages_free(void *p, size_t size)
{
    const size_t rounded = round_to_pages(size);

    if (!p)
        return;
    if (is_one_page(rounded))
        give_page(p, rounded);
    else
        (void)munmap(p, rounded);
    osc_mem_give(rounded);
}

size_t osc_pages_trim(void *p, size_t size, size_t kept)
{
    const size_t before = round_to_pages(size), after = round_to_pages(kept);

    if (after >= before || munmap((char *)p + after, before - after) != 0)
        return size;
    osc_mem_give(before - after);
    return after;
}

size_t osc_mem_held(void)
{
    const int64_t held = held_by(&whole);

    return held > 0 ? (size_t)held : 0;
}

void osc_mem_set_limit(size_t bytes)
{
    atomic_store_explicit(&whole.limit, bytes, memory_order_relaxed);
    atomic_store_explicit(&whole.is_refused, false, memory_order_relaxed);
}

void osc_mem_reserve(size_t size)
{
    for (struct osc_mem_account *a = first_account(); a; a = next_account(a))
        atomic_fetch_add_explicit(&a->reserved, (int64_t)size, memory_order_relaxed);
}

void osc_mem_unreserve(size_t size)
{
    for (struct osc_mem_account *a = first_account(); a; a = next_account(a))
        atomic_fetch_sub_explicit(&a->reserved, (int64_t)size, memory_order_relaxed);
}

size_t osc_mem_room(void)
{
    size_t least = SIZE_MAX;

    for (const struct osc_mem_account *a = first_account(); a; a = next_account(a)) {
        const size_t limit = atomic_load_explicit(&a->limit, memory_order_relaxed);
        const int64_t kept =
            held_by(a) + atomic_load_explicit(&a->reserved, memory_order_relaxed);
        const size_t most = limit > 0 ? limit : SIZE_MAX;
        const size_t used = kept > 0 ? (size_t)kept : 0;
        const size_t room = used < most ? most - used : 0;

        least = room < least ? room : least;
    }
    return least;
}

osc_status osc_mem_reason(osc_status st)
{
    if (st != OSC_ENOMEM)
        return st;
    if (osc_mem_is_cancelled())
        return OSC_ECANCELED;
    for (const struct osc_mem_account *a = first_account(); a; a = next_account(a)) {
        if (atomic_load_explicit(&a->is_refused, memory_order_relaxed))
            return OSC_ELIMIT;
    }
    return st;
}

void osc_mem_forget_refusals(void)
{
    for (struct osc_mem_account *a = first_account(); a; a = next_account(a))
        atomic_store_explicit(&a->is_refused, false, memory_order_relaxed);
}

void osc_mem_fail_after(long n)
{
    atomic_store_explicit(&fail_after, n, memory_order_relaxed);
}
