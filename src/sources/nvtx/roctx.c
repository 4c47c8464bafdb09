/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROCTx, AMD's twin of NVTX, where the collector is preloaded: its functions stand before those
 * of AMD's library, which are called, too, and record by the same functions as NVTX's.
 *
 * Tried with a stub of that library, on no hardware.
 */
#include <string.h>

#include "opscope/record.h"
#include "sources/next_symbol.h"
#include "sources/nvtx/nvtx.h"

/* Numbers in the table of NVTX's core functions. */
enum { MARK_A = 2, RANGE_START_A = 5, RANGE_END = 7, RANGE_PUSH_A = 9, RANGE_POP = 11 };

static osc_nvtx_function nvtx(unsigned number)
{
    const struct osc_nvtx_binding *b = osc_nvtx_core;

    while (b->number != 0 && b->number != number)
        b++;
    return b->function;
}

/* Whether NVTX is wanted; the recorder is started at the first call. */
static bool is_wanted(void)
{
    enum { UNKNOWN, WANTED, UNWANTED };
    static _Atomic uint32_t known;
    /* Relaxed: every thread finds the same. */
    uint32_t now = atomic_load_explicit(&known, memory_order_relaxed);

    if (now == UNKNOWN) {
        now = osc_source_is_wanted(&osc_source_nvtx) ? WANTED : UNWANTED;
        if (atomic_exchange_explicit(&known, now, memory_order_relaxed) == UNKNOWN &&
            now == WANTED) {
            osc_source_begin();
            osc_source_report(&osc_source_nvtx, "ROCTx");
        }
    }
    return now == WANTED;
}

#define LIBRARY "libroctx64.so.4"

/* FUNCTION = the same function of AMD's library, or NULL. */
#define NEXT(name, function)                                                          \
    do {                                                                              \
        static _Atomic(void *) known_;                                                \
        static _Atomic uint32_t is_known_; /* asked once: NULL is an answer */        \
        void *library_;                                                               \
        if (!atomic_load_explicit(&is_known_, memory_order_acquire)) {                \
            atomic_store_explicit(&known_, osc_next_symbol(name, LIBRARY, &library_), \
                                  memory_order_relaxed);                              \
            atomic_store_explicit(&is_known_, 1, memory_order_release);               \
        }                                                                             \
        void *symbol_ = atomic_load_explicit(&known_, memory_order_relaxed);          \
        memcpy(&(function), &symbol_, sizeof(function));                              \
    } while (0)

/* NOLINTBEGIN(readability-identifier-naming): names of ROCTx. */
OSC_API void roctxMarkA(const char *message);
OSC_API int roctxRangePushA(const char *message);
OSC_API int roctxRangePop(void);
OSC_API uint64_t roctxRangeStartA(const char *message);
OSC_API void roctxRangeStop(uint64_t id);

void roctxMarkA(const char *message)
{
    void (*next)(const char *);

    NEXT("roctxMarkA", next);
    if (is_wanted())
        ((void (*)(const char *))nvtx(MARK_A))(message);
    if (next)
        next(message);
}

int roctxRangePushA(const char *message)
{
    int (*next)(const char *);

    NEXT("roctxRangePushA", next);
    const int level = is_wanted() ? ((int (*)(const char *))nvtx(RANGE_PUSH_A))(message) : -1;
    return next ? next(message) : level;
}

int roctxRangePop(void)
{
    int (*next)(void);

    NEXT("roctxRangePop", next);
    const int level = is_wanted() ? ((int (*)(void))nvtx(RANGE_POP))() : -1;
    return next ? next() : level;
}

/* AMD's ids are theirs: ours are kept beside, the last ones. */
#define IDS 256u

static struct {
    _Atomic uint64_t theirs, ours;
} ids[IDS];

uint64_t roctxRangeStartA(const char *message)
{
    uint64_t (*next)(const char *);

    NEXT("roctxRangeStartA", next);
    const uint64_t ours =
        is_wanted() ? ((uint64_t(*)(const char *))nvtx(RANGE_START_A))(message) : 0;
    const uint64_t theirs = next ? next(message) : ours;
    if (ours != 0) {
        /* Relaxed: a program hands the id to another thread in its own way. */
        atomic_store_explicit(&ids[theirs % IDS].theirs, theirs, memory_order_relaxed);
        atomic_store_explicit(&ids[theirs % IDS].ours, ours, memory_order_relaxed);
    }
    return theirs;
}

void roctxRangeStop(uint64_t id)
{
    void (*next)(uint64_t);

    NEXT("roctxRangeStop", next);
    if (is_wanted() && atomic_load_explicit(&ids[id % IDS].theirs, memory_order_relaxed) == id)
        ((void (*)(uint64_t))nvtx(RANGE_END))(
            atomic_load_explicit(&ids[id % IDS].ours, memory_order_relaxed));
    if (next)
        next(id);
}
/* NOLINTEND(readability-identifier-naming) */
