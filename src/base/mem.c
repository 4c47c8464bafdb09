/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* How many allocations may still succeed; negative: any number. */
static _Atomic long fail_after = -1;
static _Atomic size_t pages_held, other_held;

/* Count one allocation down; true when it has to fail. */
static bool must_fail(void)
{
    /* relaxed, here and below: a lone counter, it orders nothing else */
    long n = atomic_load_explicit(&fail_after, memory_order_relaxed);

    while (n > 0 && !atomic_compare_exchange_weak_explicit(
                        &fail_after, &n, n - 1, memory_order_relaxed, memory_order_relaxed))
        continue;
    return n == 0;
}

void *osc_malloc(size_t size)
{
    /* Never 0 bytes, so that NULL always means failure. */
    return must_fail() ? NULL : malloc(size ? size : 1);
}

void *osc_calloc(size_t n, size_t size)
{
    if (must_fail())
        return NULL;
    return n == 0 || size == 0 ? calloc(1, 1) : calloc(n, size);
}

void *osc_realloc(void *p, size_t size)
{
    return must_fail() ? NULL : realloc(p, size ? size : 1);
}

void osc_free(void *p)
{
    free(p);
}

osc_status osc_grow(void *p_array, size_t *cap, size_t need, size_t size)
{
    const size_t most = PTRDIFF_MAX / size;
    size_t n = *cap < 8 ? 16 : *cap;
    void *p = NULL;

    if (need <= *cap)
        return OSC_OK;
    if (need > most)
        return OSC_ENOMEM;
    while (n < need)
        n = n > most / 2 ? most : n * 2;
    if (n > most)
        n = need;

    /* The caller's pointer has a type of its own, so its bytes are copied. */
    memcpy(&p, p_array, sizeof p);
    p = osc_realloc(p, n * size);
    if (!p)
        return OSC_ENOMEM;
    memcpy(p_array, &p, sizeof p);
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

/* Map SIZE bytes at a multiple of the huge page size, NULL on failure. */
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
    /* A wish; where the kernel has no huge pages, small ones work as well. */
    (void)madvise(p + head, size, MADV_HUGEPAGE);
    return p + head;
}

void *osc_pages_alloc(size_t size)
{
    const size_t rounded = round_to_pages(size);
    void *p;

    if (must_fail() || rounded == 0)
        return NULL;
    if (rounded >= HUGE_PAGE_BYTES) {
        p = map_aligned(rounded);
    } else {
        p = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        p = p == MAP_FAILED ? NULL : p;
    }
    if (p)
        atomic_fetch_add_explicit(&pages_held, rounded, memory_order_relaxed);
    return p;
}

void osc_pages_free(void *p, size_t size)
{
    const size_t rounded = round_to_pages(size);

    if (!p)
        return;
    (void)munmap(p, rounded);
    atomic_fetch_sub_explicit(&pages_held, rounded, memory_order_relaxed);
}

size_t osc_pages_held(void)
{
    return atomic_load_explicit(&pages_held, memory_order_relaxed);
}

void osc_mem_hold(size_t bytes)
{
    atomic_fetch_add_explicit(&other_held, bytes, memory_order_relaxed);
}

void osc_mem_release(size_t bytes)
{
    atomic_fetch_sub_explicit(&other_held, bytes, memory_order_relaxed);
}

size_t osc_mem_held(void)
{
    return osc_pages_held() + atomic_load_explicit(&other_held, memory_order_relaxed);
}

void osc_mem_fail_after(long n)
{
    atomic_store_explicit(&fail_after, n, memory_order_relaxed);
}
