/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer.h - where a thread records to: reserve slots, write them, tag them.
 *
 *     reserve   one compare and exchange of POS, which only this thread sees; a
 *               handler comes before or after it, and gets the slots behind;
 *               if it came just before, the slow path
 *     write     the value, the words behind slot 0
 *     tag       the word of slot 0, last: from then on the record is there
 *
 * What is not the everyday case goes through the slow path (recorder/slow_path.h): no block
 * yet, the block is full, records were lost, begins are missing, nothing or not all is to be
 * recorded, this is the child of a fork. The everyday case is where two numbers are the
 * same: the epoch of the process, which changes with every change of what is recorded,
 * and that of the writer, which is 0 while anything is unusual.
 *
 *   - Writers lie in memory that the kernel wipes in the child of a fork, so it finds
 *     epoch 0 there, however it was forked.
 *   - The low bits of POS are 0 where no slot is left: a block's first two slots' room is
 *     its header, and its end is a multiple of its size. Wiped memory reads the same.
 *   - Only its thread and that thread's handlers touch a writer. While it is BUSY, the slow
 *     path of the thread is at work, and what a handler records is dropped and counted.
 *   - A handler may jump out of the slow path (siglongjmp(), an exception). The writer stays
 *     BUSY then, so all that its thread still records is dropped and counted.
 *   - A begin that was not recorded swallows its end: RUNS says so of the innermost scopes,
 *     those of one kind that stand inside each other in one entry. An end that finds no
 *     room keeps its time, and is written as soon as there is some.
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

#define OSC_WRITER_LEVELS 64u /* ends that keep their times */
#define OSC_WRITER_RUNS   64u
#define OSC_HIDDEN        __attribute__((visibility("hidden")))

/* What a record means for the scopes of its thread. */
enum osc_role {
    OSC_ROLE_BEGIN, /* opens a scope */
    OSC_ROLE_END,   /* closes the innermost one */
    OSC_ROLE_ARG,   /* belongs to the innermost scope or the record before */
    OSC_ROLE_EVENT, /* neither */
    OSC_ROLE_FACT   /* neither, and is recorded in a pause too: an end, a name, a device */
};

/* Scopes inside each other of which the same is true. */
struct osc_writer_run {
    uint32_t n;
    bool is_missing; /* their begins are not recorded */
    bool is_counted; /* and that was a loss: their ends are one, too */
};

struct osc_writer {
    uint64_t epoch;
    uintptr_t pos; /* of the next slot */
    /* From here on for the slow path only. */
    uint64_t generation;     /* of the recording that BLOCK and ENTRY belong to; 0: none */
    uint64_t ordinal;        /* of this thread in it */
    struct osc_block *block; /* borrowed; NULL: none yet */
    struct osc_live_thread *entry;
    uint32_t index_1; /* of this writer + 1 */
    uint32_t tid;
    uint32_t busy; /* whether the slow path is at work */
    uint32_t n_runs;
    uint32_t n_over; /* more scopes inside of those: not recorded either */
    uint32_t n_over_counted;
    struct osc_writer_run runs[OSC_WRITER_RUNS]; /* the last one is the innermost */
    bool is_dry;                                 /* the last record found no room */
    bool skips_args;                             /* the record before was not recorded */
    uint32_t n_owed; /* ends that found no room; beyond the array without a time */
    uint64_t owed_ticks[OSC_WRITER_LEVELS];
    uint64_t pending[OSC_LOSS_COUNT];        /* lost since the last LOST record */
    uint32_t n_nested_begins, n_nested_ends; /* of handlers, not yet accounted for */
};

/* Of this thread; one without anything until the thread records. */
extern OSC_HIDDEN _Thread_local struct osc_writer *osc_writer_self
    __attribute__((tls_model("initial-exec")));

struct osc_writer *osc_writer_nobody(void);

/* The recording's number while it records all; OSC_EPOCH_NONE, which no writer has,
 * otherwise. */
#define OSC_EPOCH_NONE 1u
extern OSC_HIDDEN uint64_t osc_epoch;

/* The same while the clock is the processor's counter; OSC_EPOCH_NONE otherwise. */
extern OSC_HIDDEN uint64_t osc_epoch_counter;

/* --- for the slow path, while W is busy ------------------------------------------------ */

/* Keep handlers out of W; false if this is one that came while W was busy. */
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
    /* release: pairs with the acquire in osc_threads_stop(); handlers see all of it. */
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
}

/* A handler records while W is busy: drop that, and count it. */
void osc_writer_drop_nested(struct osc_writer *w, enum osc_role role);

/* Drop a record of this ROLE that found no room at TICKS. */
void osc_writer_drop(struct osc_writer *w, enum osc_role role, uint64_t ticks);

/* Account for what handlers dropped meanwhile; whether there is more of that by now. */
void osc_writer_absorb(struct osc_writer *w);

static inline bool osc_writer_has_nested(const struct osc_writer *w)
{
    /* relaxed: see osc_writer_drop_nested() */
    return __atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) > 0 ||
           __atomic_load_n(&w->n_nested_ends, __ATOMIC_RELAXED) > 0;
}

/* W, which is new or of another recording, has nothing of it any more. */
void osc_writer_clear(struct osc_writer *w);

/* N_SLOTS slots for a record of this ROLE made at TICKS; NULL: it is not recorded, but
 * accounted for. Recording may be paused. */
struct osc_record_slot *osc_writer_place(struct osc_writer *w, uint32_t n_slots,
                                         enum osc_role role, uint64_t ticks, bool is_paused);

/* Whether nothing of W needs the slow path; whether losses are still to be recorded. */
bool osc_writer_is_everyday(const struct osc_writer *w);
bool osc_writer_has_pending(const struct osc_writer *w);

/* Whether the innermost scope's begin was not recorded; end that scope. */
bool osc_writer_is_inside_missing(const struct osc_writer *w);
bool osc_writer_pop_level(struct osc_writer *w);

/* W's thread ends: write what is still missing at TICKS, and hand over the block. */
void osc_writer_end(struct osc_writer *w, uint64_t ticks);

/* Count in ENTRY, which was W's, the ends that W never wrote: its thread or the recording is
 * over. Any thread. */
void osc_writer_count_unwritten(struct osc_writer *w, struct osc_live_thread *entry);

/* --- for calls ------------------------------------------------------------------------ */

static inline struct osc_block *osc_writer_block_of(const void *slot)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a place in it is all that is known */
    return (struct osc_block *)((uintptr_t)slot & ~(uintptr_t)(OSC_BLOCK_BYTES - 1));
}

/* N_SLOTS slots of W's block; NULL if it has not that many, or a handler took some just
 * now: the slow path keeps handlers out, so that one try is enough. */
static inline struct osc_record_slot *osc_writer_try(struct osc_writer *w, uint32_t n_slots)
{
    const uintptr_t bytes = n_slots * (uintptr_t)OSC_RECORD_SLOT_BYTES;
    const uintptr_t mask = OSC_BLOCK_BYTES - 1;
    uintptr_t pos = *(volatile uintptr_t *)&w->pos;

    /* With more than one slot, 0 becomes the greatest number. */
    if (__builtin_expect(n_slots == 1 ? (pos & mask) == 0 : (pos & mask) - 1 > mask - bytes,
                         0) ||
        __builtin_expect(!osc_local_swap(&w->pos, &pos, pos + bytes), 0))
        return NULL;
    if (pos == 0) /* its low bits would be 0; told so, the caller need not test it again */
        __builtin_unreachable();
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): reserved by one swap of a number */
    return (struct osc_record_slot *)pos;
}

/* Whether a word may be written in halves: two instructions less than to put it together.
 * ThreadSanitizer pairs only what is equally wide. */
#if defined __SANITIZE_THREAD__
#define OSC_WRITES_HALVES 0
#elif defined __has_feature
#define OSC_WRITES_HALVES (__has_feature(thread_sanitizer) ? 0 : 1)
#elif defined __x86_64__
#define OSC_WRITES_HALVES 1
#else
#define OSC_WRITES_HALVES 0
#endif

/* The record in slot S is whole: all but its word was written before. */
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

/* Write a slot behind slot 0. */
static inline void osc_writer_fill(struct osc_record_slot *s, uint64_t value, uint64_t word)
{
    s->value = value;
    /* relaxed: the flusher may look before the record is whole, and finds no tag there. */
    __atomic_store_n(&s->word, word, __ATOMIC_RELAXED);
}
