/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - how a thread records: reserve slots, write them, tag them.
 *
 *     reserve   one compare and exchange of POS, which only this thread sees; a
 *               handler comes before or after it, and gets the slots behind;
 *               if it came just before, the slow path
 *     write     the value, the words behind slot 0
 *     tag       the word of slot 0, last: from then on the record is there
 *
 * Every unusual case takes the slow path (recorder/slow_path.h): no block yet, the block is
 * full, records were lost, begins are missing, recording is off or paused, this is the child of
 * a fork. The usual case is recognised by two equal numbers: the epoch of the process, which
 * changes whenever recording is switched, and that of the writer, which is 0 while anything is
 * unusual.
 *
 *   - Writers are in memory that the kernel wipes in the child of a fork, so the child finds
 *     epoch 0, however it was forked.
 *   - The low bits of POS are 0 if no slot is left: a block begins with its header, and its end
 *     is a multiple of its size. In wiped memory they are 0, too.
 *   - Only its thread and that thread's handlers touch a writer, except GONE. While it is
 *     BUSY, the thread is in the slow path, and records of handlers are dropped and counted.
 *   - A handler may jump out of the slow path (siglongjmp(), an exception). The writer then
 *     stays BUSY, so all later records of its thread are dropped and counted.
 *   - If a begin was not recorded, neither is its end. RUNS tells whether the begins of the
 *     open scopes were recorded, with one entry for nested scopes of the same kind. The time of
 *     an end that finds no room is kept, and the end is written as soon as there is room.
 *   - osc_scope_close() may end a scope that is not the innermost, which leaves RUNS at once.
 *     If the scope is of another thread, that one finds its level in GONE with its next record.
 *
 * Threading: from any thread and from signal handlers, each with its own writer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "recorder/thread/local.h"
#include "wire/live.h"

#define OSC_WRITER_LEVELS 64u /* ends whose times are kept */
#define OSC_WRITER_RUNS   64u
#define OSC_WRITER_GONE   16u
#define OSC_HIDDEN        __attribute__((visibility("hidden")))

/* What a record means for the scopes of its thread. */
enum osc_role {
    OSC_ROLE_BEGIN, /* opens a scope */
    OSC_ROLE_END,   /* closes the innermost one */
    OSC_ROLE_ARG,   /* belongs to the innermost scope or the previous record */
    OSC_ROLE_EVENT, /* neither */
    OSC_ROLE_FACT   /* neither, and is recorded in a pause, too: an end, a name, a device */
};

/* Nested scopes of the same kind. */
struct osc_writer_run {
    uint32_t n;
    uint32_t first;  /* no scope of osc_scope_open() in it has a level before this */
    bool is_missing; /* their begins are not recorded */
    bool is_counted; /* and were counted as lost, so their ends are, too */
};

struct osc_writer {
    uint64_t epoch;
    uintptr_t pos;  /* of the next slot */
    uint32_t level; /* of the last osc_scope_open(), less 1 with each osc_scope_close() of the
                     * innermost: no scope that is open has a later one; OSC_LEVEL_BITS of it,
                     * with the index of this writer above them */
    /* The rest is for the slow path only. */
    uint64_t generation;     /* of the recording of BLOCK and ENTRY; 0: none */
    uint64_t ordinal;        /* of this thread in the recording */
    struct osc_block *block; /* borrowed; NULL: none yet */
    struct osc_live_thread *entry;
    uint32_t index_1; /* of this writer + 1 */
    uint32_t tid;
    uint32_t busy; /* whether the thread is in the slow path */
    uint32_t n_runs;
    uint32_t n_over; /* more scopes inside those of RUNS: not recorded either */
    uint32_t n_over_counted;
    uint32_t over_first;                         /* of these, as in struct osc_writer_run */
    struct osc_writer_run runs[OSC_WRITER_RUNS]; /* the last one is the innermost */
    bool may_wait;                               /* for a block, if memory can grow */
    bool is_dry;                                 /* the last record found no room */
    bool skips_args;                             /* the previous record was not recorded, */
    bool skips_quietly;                          /* and is not counted as lost */
    bool is_in_sampled; /* a scope that sampling left out is open, and nothing else is unusual:
                         * its end makes EPOCH that of the recording again */
    uint32_t n_owed;    /* ends that found no room; those beyond the array have no time */
    uint64_t owed_ticks[OSC_WRITER_LEVELS];
    uint32_t untold; /* causes, as bits, of losses since the last LOST record */
    uint32_t n_nested_begins, n_nested_ends; /* of handlers, not accounted for yet */
    uint32_t n_gone;                         /* in GONE, or on their way; any thread */
    uint32_t is_gone_over;                   /* some found no place there */
    uint32_t gone[OSC_WRITER_GONE]; /* levels in RUNS whose scopes other threads ended; 0: none
                                     */
};

/* Levels of scopes count on from 2 behind the last, so that none is 0 and none has all bits
 * set.
 */
#define OSC_LEVEL_BITS 17u
#define OSC_LEVEL_MASK ((1u << OSC_LEVEL_BITS) - 1)

_Static_assert((uint64_t)OSC_LIVE_THREADS << OSC_LEVEL_BITS <= 1ull << 31,
               "a level leaves one bit, for api_record.c");

/* The level of what is opened next while the last one is LEVEL. */
static inline uint32_t osc_level_next(uint32_t level)
{
    const uint32_t next = level + 1;

    if (__builtin_expect((next & OSC_LEVEL_MASK) == OSC_LEVEL_MASK, 0))
        return (next & ~OSC_LEVEL_MASK) + 2;
    return next;
}

/* The writer of this thread; an empty one until the thread records. */
extern OSC_HIDDEN _Thread_local struct osc_writer *osc_writer_self
    __attribute__((tls_model("initial-exec")));

struct osc_writer *osc_writer_nobody(void);

/* The number of the recording while it is on and not paused; otherwise OSC_EPOCH_NONE, which no
 * writer has. */
#define OSC_EPOCH_NONE 1u
extern OSC_HIDDEN uint64_t osc_epoch;

/* osc_epoch if the clock is the processor's counter and no names are sampled; otherwise
 * OSC_EPOCH_NONE. */
extern OSC_HIDDEN uint64_t osc_epoch_counter;

/* osc_epoch if names are sampled and the clock is the processor's counter; otherwise
 * OSC_EPOCH_NONE. */
extern OSC_HIDDEN uint64_t osc_epoch_sampled;

/* The number of the recording while it is on and paused; otherwise OSC_EPOCH_NONE. */
extern OSC_HIDDEN uint64_t osc_epoch_paused;

/* --- for the slow path, while W is busy ------------------------------------------------ */

/* Keep handlers out of W; false if W is busy already, and this is a handler. */
static inline bool osc_writer_set_busy(struct osc_writer *w)
{
    /* relaxed: only this thread and its handlers write it. */
    if (__atomic_load_n(&w->busy, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&w->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* handlers see it before anything else */
    return true;
}

static inline void osc_writer_set_idle(struct osc_writer *w)
{
    /* release: pairs with the acquire in osc_threads_stop(); handlers see all changes. */
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
}

/* Drop and count a record that a handler made while W is busy. */
void osc_writer_drop_nested(struct osc_writer *w, enum osc_role role);

/* Drop a record of this ROLE that found no room at TICKS. */
void osc_writer_drop(struct osc_writer *w, enum osc_role role, uint64_t ticks);

/* Account for the scopes that handlers dropped meanwhile. */
void osc_writer_absorb(struct osc_writer *w);

static inline bool osc_writer_has_nested(const struct osc_writer *w)
{
    /* relaxed: see osc_writer_drop_nested() */
    return __atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) > 0 ||
           __atomic_load_n(&w->n_nested_ends, __ATOMIC_RELAXED) > 0;
}

/* Clear W, which is new or belonged to another recording. */
void osc_writer_clear(struct osc_writer *w);

/* Reserve N_SLOTS slots for a record of this ROLE made at TICKS; NULL: it is not recorded, but
 * accounted for. Recording may be paused. */
struct osc_record_slot *osc_writer_place(struct osc_writer *w, uint32_t n_slots,
                                         enum osc_role role, uint64_t ticks, bool is_paused);

/* Account for a record of this ROLE that is not made because recording is paused or names are
 * sampled. False: it must be recorded, as the end of a scope that was. */
bool osc_writer_skip(struct osc_writer *w, enum osc_role role);

/* End the innermost scope if it is not recorded on purpose; false: it is not. */
bool osc_writer_skip_end(struct osc_writer *w);

/* Whether an argument that comes now belongs to what was not recorded on purpose. */
bool osc_writer_skips_arg(const struct osc_writer *w);

/* Whether nothing about W needs the slow path; whether losses are still to be recorded. */
bool osc_writer_is_everyday(const struct osc_writer *w);
bool osc_writer_has_pending(const struct osc_writer *w);

/* Whether the begin of the innermost scope was not recorded. The second function also ends that
 * scope. */
bool osc_writer_is_inside_missing(const struct osc_writer *w);
bool osc_writer_pop_level(struct osc_writer *w);

/* The scope of osc_scope_open() at LEVEL has ended, and may not be the innermost. */
void osc_writer_forget_level(struct osc_writer *w, uint32_t level);

/* The same of W that may be of another thread, or be busy: W's thread does it later. More than
 * OSC_WRITER_GONE at a time make it forget all that is missing. Any thread. */
void osc_writer_post_gone(struct osc_writer *w, uint32_t level);

/* Whether the begin of an open scope was not recorded. */
static inline bool osc_writer_has_runs(const struct osc_writer *w)
{
    return w->n_runs > 0 || w->n_over > 0;
}

/* W's thread ends at TICKS: write the ends and losses that it owes, and hand over its block. */
void osc_writer_end(struct osc_writer *w, uint64_t ticks);

/* Count the ends that W never wrote as losses in ENTRY, which was W's: its thread or the
 * recording is over. Any thread. */
void osc_writer_count_unwritten(struct osc_writer *w, struct osc_live_thread *entry);

/* --- for calls ------------------------------------------------------------------------ */

static inline struct osc_block *osc_writer_block_of(const void *slot)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a place in it is all that is known */
    return (struct osc_block *)((uintptr_t)slot & ~(uintptr_t)(OSC_BLOCK_BYTES - 1));
}

/* Reserve N_SLOTS slots of W's block; NULL if it has fewer left, or a handler reserved some
 * during the call. There is only one try, because the slow path keeps handlers out. */
static inline struct osc_record_slot *osc_writer_try(struct osc_writer *w, uint32_t n_slots)
{
    const uintptr_t bytes = n_slots * (uintptr_t)OSC_RECORD_SLOT_BYTES;
    const uintptr_t mask = OSC_BLOCK_BYTES - 1;
    uintptr_t pos = *(volatile uintptr_t *)&w->pos;

    /* With more than one slot: if the low bits are 0, subtracting 1 wraps to the greatest
     * number. */
    if (__builtin_expect(n_slots == 1 ? (pos & mask) == 0 : (pos & mask) - 1 > mask - bytes,
                         0) ||
        __builtin_expect(!osc_local_swap(&w->pos, &pos, pos + bytes), 0))
        return NULL;
    if (pos == 0) /* its low bits would be 0; with this hint the caller need not test again */
        __builtin_unreachable();
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): reserved by one swap of a number */
    return (struct osc_record_slot *)pos;
}

/* Whether a word may be written in halves, which saves two instructions. ThreadSanitizer only
 * pairs accesses of equal width. */
#if defined __SANITIZE_THREAD__
#define OSC_WRITES_HALVES 0
#elif defined __has_feature
#define OSC_WRITES_HALVES (__has_feature(thread_sanitizer) ? 0 : 1)
#elif defined __x86_64__
#define OSC_WRITES_HALVES 1
#else
#define OSC_WRITES_HALVES 0
#endif

/* Publish the record at S: everything except its word is already written. */
static inline void osc_writer_finish(struct osc_record_slot *s, uint32_t id, uint32_t kind,
                                     uint32_t n_slots)
{
    const uint32_t tag = osc_writer_block_of(s)->tag;

    /* release: pairs with the acquire of readers of the block. */
#if OSC_WRITES_HALVES
    typedef uint32_t __attribute__((may_alias)) half;
    half *word = (half *)&s->word;

    /* relaxed: readers wait for the other half, which has the tag. */
    __atomic_store_n(&word[0], id, __ATOMIC_RELAXED);
    __atomic_store_n(&word[1], tag | kind << 16 | n_slots << 24, __ATOMIC_RELEASE);
#else
    __atomic_store_n(&s->word, osc_record_word(id, tag, kind, n_slots), __ATOMIC_RELEASE);
#endif
}

/* Write a slot after slot 0. */
static inline void osc_writer_fill(struct osc_record_slot *s, uint64_t value, uint64_t word)
{
    s->value = value;
    /* relaxed: the flusher may read it before the record is published, and finds no tag
     * there. */
    __atomic_store_n(&s->word, word, __ATOMIC_RELAXED);
}
