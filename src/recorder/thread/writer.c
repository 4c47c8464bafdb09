/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/writer.h"

#include <string.h>

#include "recorder/live/blocks.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/ticks.h"

/* The empty writer. Its epoch is never that of the process, so no record is ever written to
 * it, and its level is never that of a scope. */
static struct osc_writer nobody = {.level = UINT32_MAX};

_Thread_local struct osc_writer *osc_writer_self = &nobody;
uint64_t osc_epoch = OSC_EPOCH_NONE, osc_epoch_counter = OSC_EPOCH_NONE,
         osc_epoch_sampled = OSC_EPOCH_NONE, osc_epoch_paused = OSC_EPOCH_NONE;

struct osc_writer *osc_writer_nobody(void)
{
    return &nobody;
}

static void count(struct osc_writer *w, enum osc_loss cause, uint64_t n)
{
    if (!w->entry) {
        osc_losses_add(cause, n);
        return;
    }
    osc_local_add(&w->entry->lost[cause], n);
    __atomic_fetch_or(&w->untold, 1u << cause, __ATOMIC_RELAXED); /* see below */
}

void osc_writer_drop_nested(struct osc_writer *w, enum osc_role role)
{
    /* relaxed, here and where its thread reads them: it is the same thread. */
    if (role == OSC_ROLE_BEGIN) {
        __atomic_add_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED);
    } else if (role == OSC_ROLE_END) {
        if (__atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) == 0) {
            __atomic_add_fetch(&w->n_nested_ends, 1, __ATOMIC_RELAXED);
            return; /* the end is not lost, only late */
        }
        __atomic_sub_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED);
    }
    count(w, OSC_LOSS_NESTED, 1);
}

/* Whether level A is not before level B of the same writer. */
static bool is_from(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << (32 - OSC_LEVEL_BITS)) >= 0;
}

/* Open a scope whose begin is missing, or that lies inside such a scope. */
static void push_level(struct osc_writer *w, bool is_missing, bool is_counted)
{
    struct osc_writer_run *top = w->n_runs > 0 ? &w->runs[w->n_runs - 1] : NULL;

    if (w->n_over == 0 && top && top->is_missing == is_missing &&
        top->is_counted == is_counted) {
        top->n++;
    } else if (w->n_over == 0 && w->n_runs < OSC_WRITER_RUNS) {
        w->runs[w->n_runs++] =
            (struct osc_writer_run){1, osc_level_next(w->level), is_missing, is_counted};
    } else {
        if (w->n_over == 0)
            w->over_first = osc_level_next(w->level);
        w->n_over++;
        w->n_over_counted += is_counted;
    }
}

bool osc_writer_is_inside_missing(const struct osc_writer *w)
{
    return w->n_over > 0 || (w->n_runs > 0 && w->runs[w->n_runs - 1].is_missing);
}

/* End one of the scopes inside those of the runs. Returns whether it was counted as lost. */
static bool pop_over(struct osc_writer *w)
{
    const bool is_counted = w->n_over_counted > 0;

    w->n_over--;
    w->n_over_counted -= is_counted;
    return is_counted;
}

bool osc_writer_pop_level(struct osc_writer *w)
{
    bool is_missing = true;
    bool is_counted;

    if (w->n_over > 0) {
        is_counted = pop_over(w);
    } else if (w->n_runs > 0) {
        struct osc_writer_run *top = &w->runs[w->n_runs - 1];

        is_missing = top->is_missing;
        is_counted = top->is_counted;
        w->n_runs -= --top->n == 0;
    } else {
        return false;
    }
    if (is_counted)
        count(w, OSC_LOSS_FULL, 1);
    return is_missing;
}

/* Remove run K of W, which is empty, and what needs no run without it: recorded scopes that are
 * in no missing one. */
static void remove_run(struct osc_writer *w, uint32_t k)
{
    struct osc_writer_run *const runs = w->runs;
    uint32_t n = 1;

    if (k > 0 && k + 1 < w->n_runs && runs[k - 1].is_missing == runs[k + 1].is_missing &&
        runs[k - 1].is_counted == runs[k + 1].is_counted) {
        runs[k - 1].n += runs[k + 1].n;
        n = 2;
    } else if (k == 0 && w->n_runs > 1 && !runs[1].is_missing) {
        n = 2;
    }
    memmove(&runs[k], &runs[k + n], (w->n_runs - k - n) * sizeof *runs);
    w->n_runs -= n;
}

void osc_writer_forget_level(struct osc_writer *w, uint32_t level)
{
    uint32_t k = w->n_runs;
    bool is_counted;

    w->skips_args = false;
    if (w->n_over > 0 && is_from(level, w->over_first)) {
        is_counted = pop_over(w);
    } else {
        while (k > 0 && !is_from(level, w->runs[k - 1].first))
            k--;
        if (k == 0)
            return; /* it began before those that are missing */
        is_counted = w->runs[k - 1].is_counted;
        if (--w->runs[k - 1].n == 0)
            remove_run(w, k - 1);
    }
    if (is_counted)
        count(w, OSC_LOSS_FULL, 1);
}

void osc_writer_post_gone(struct osc_writer *w, uint32_t level)
{
    /* relaxed: a place is a number alone. */
    if (__atomic_add_fetch(&w->n_gone, 1, __ATOMIC_RELAXED) > OSC_WRITER_GONE) {
        __atomic_store_n(&w->is_gone_over, 1, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&w->n_gone, 1, __ATOMIC_RELAXED);
        return;
    }
    for (uint32_t i = 0, none = 0; /* one is free */
         !__atomic_compare_exchange_n(&w->gone[i], &none, level, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
         i = (i + 1) % OSC_WRITER_GONE)
        none = 0;
}

/* Account for the scopes of W that ended elsewhere. One that is still on its way to its place
 * stays counted. */
static void absorb_gone(struct osc_writer *w)
{
    /* relaxed: as above */
    uint32_t n_taken = 0;

    if (__atomic_load_n(&w->n_gone, __ATOMIC_RELAXED) == 0 &&
        __atomic_load_n(&w->is_gone_over, __ATOMIC_RELAXED) == 0)
        return;
    for (uint32_t i = 0; i < OSC_WRITER_GONE; i++) {
        const uint32_t level = __atomic_exchange_n(&w->gone[i], 0, __ATOMIC_RELAXED);

        n_taken += level != 0;
        if (level != 0)
            osc_writer_forget_level(w, level);
    }
    if (__atomic_exchange_n(&w->is_gone_over, 0, __ATOMIC_RELAXED))
        w->n_runs = w->n_over = w->n_over_counted = 0;
    __atomic_sub_fetch(&w->n_gone, n_taken, __ATOMIC_RELAXED);
}

/* relaxed: the thread that ends the recording reads it, even if this one jumped out of the slow
 * path. */
static void set_owed(struct osc_writer *w, uint32_t n)
{
    __atomic_store_n(&w->n_owed, n, __ATOMIC_RELAXED);
}

static uint32_t used_slots(const struct osc_writer *w)
{
    const uintptr_t first = (uintptr_t)w->block->slots;

    return (uint32_t)((w->pos - first) / OSC_RECORD_SLOT_BYTES);
}

static void set_pos(struct osc_writer *w, uintptr_t pos)
{
    /* release: pairs with the acquire in osc_threads_stop() */
    __atomic_store_n(&w->pos, pos, __ATOMIC_RELEASE);
}

/* Take N slots, of a new block if this one has no room; NULL: there is none. */
static struct osc_record_slot *take_slots(struct osc_writer *w, uint32_t n)
{
    if (!w->block || used_slots(w) + n > OSC_BLOCK_SLOTS) {
        struct osc_block *next = osc_blocks_take(w->ordinal, w->tid);
        struct osc_block *full = w->block;
        const uint32_t n_used = full ? used_slots(w) : 0;

        if (!next && w->may_wait)
            next = osc_blocks_await(w->ordinal, w->tid);
        if (!next)
            return NULL;
        w->block = next;
        set_pos(w, (uintptr_t)next->slots);
        if (full)
            osc_blocks_fill(full, n_used);
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): see osc_writer_try() */
    struct osc_record_slot *s = (struct osc_record_slot *)w->pos;

    set_pos(w, w->pos + n * (uintptr_t)OSC_RECORD_SLOT_BYTES);
    return s;
}

/* Write the ends that found no room before. True if none is left. */
static bool write_owed(struct osc_writer *w, uint64_t ticks)
{
    uint32_t done = 0;

    for (; done < w->n_owed; done++) {
        struct osc_record_slot *s = take_slots(w, 1);

        if (!s)
            break;
        s->value = done < OSC_WRITER_LEVELS ? w->owed_ticks[done] : ticks;
        osc_writer_finish(s, 0, OSC_RECORD_END, 1);
    }
    set_owed(w, w->n_owed - done);
    for (uint32_t i = 0; i < w->n_owed && i + done < OSC_WRITER_LEVELS; i++)
        w->owed_ticks[i] = w->owed_ticks[i + done];
    return w->n_owed == 0;
}

/* Record where losses were, before the next record. False: there is no room. */
static bool write_losses(struct osc_writer *w, uint64_t ticks)
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        /* relaxed: see osc_writer_drop_nested() */
        if ((__atomic_load_n(&w->untold, __ATOMIC_RELAXED) & 1u << cause) == 0)
            continue;
        struct osc_record_slot *s = take_slots(w, 1);

        if (!s)
            return false;
        s->value = ticks;
        __atomic_fetch_and(&w->untold, ~(1u << cause), __ATOMIC_RELAXED);
        osc_writer_finish(s, cause, OSC_RECORD_LOST, 1);
    }
    return true;
}

void osc_writer_drop(struct osc_writer *w, enum osc_role role, uint64_t ticks)
{
    if (role == OSC_ROLE_END) {
        if (w->n_owed < OSC_WRITER_LEVELS)
            w->owed_ticks[w->n_owed] = ticks;
        set_owed(w, w->n_owed + 1);
        return;
    }
    if (role == OSC_ROLE_BEGIN)
        push_level(w, true, true);
    w->skips_args = true;
    w->skips_quietly = false;
    count(w, OSC_LOSS_FULL, 1);
}

/* Whether an argument would belong to a scope or record that was not recorded. */
static bool is_orphan(const struct osc_writer *w)
{
    return w->skips_args || osc_writer_is_inside_missing(w);
}

/* Whether the orphan of W is none because of a loss. */
static bool is_quiet_orphan(const struct osc_writer *w)
{
    if (w->skips_args)
        return w->skips_quietly;
    return w->n_over > 0 ? w->n_over_counted == 0 : !w->runs[w->n_runs - 1].is_counted;
}

bool osc_writer_skips_arg(const struct osc_writer *w)
{
    return is_orphan(w) && is_quiet_orphan(w);
}

/* Account for a record of this ROLE that is not recorded because recording is paused or names
 * are sampled. False: it is none of these. */
static bool skip(struct osc_writer *w, enum osc_role role)
{
    if (role == OSC_ROLE_ARG)
        return is_orphan(w);
    if (role != OSC_ROLE_BEGIN && role != OSC_ROLE_EVENT)
        return false;
    if (role == OSC_ROLE_BEGIN)
        push_level(w, true, false);
    w->skips_args = w->skips_quietly = true;
    return true;
}

bool osc_writer_skip(struct osc_writer *w, enum osc_role role)
{
    if (role != OSC_ROLE_END)
        return skip(w, role);
    if (!osc_writer_is_inside_missing(w))
        return false;
    (void)osc_writer_pop_level(w);
    w->skips_args = false;
    return true;
}

bool osc_writer_skip_end(struct osc_writer *w)
{
    const bool is_counted = w->n_over > 0   ? w->n_over_counted > 0
                            : w->n_runs > 0 ? w->runs[w->n_runs - 1].is_counted
                                            : false;

    return !is_counted && osc_writer_skip(w, OSC_ROLE_END);
}

struct osc_record_slot *osc_writer_place(struct osc_writer *w, uint32_t n_slots,
                                         enum osc_role role, uint64_t ticks, bool is_paused)
{
    if (role == OSC_ROLE_END && osc_writer_pop_level(w)) {
        w->skips_args = false; /* following arguments belong to the enclosing scope */
        return NULL;
    }
    if (is_paused && skip(w, role))
        return NULL;
    if (role == OSC_ROLE_ARG && is_orphan(w)) {
        if (!is_quiet_orphan(w))
            count(w, OSC_LOSS_FULL, 1);
        return NULL;
    }
    struct osc_record_slot *s = NULL;

    if (w->n_over == 0 || role != OSC_ROLE_BEGIN)
        if (write_owed(w, ticks) && write_losses(w, ticks))
            s = take_slots(w, n_slots);
    if (n_slots == 0)
        return s;
    w->is_dry = !s;
    if (!s) {
        osc_writer_drop(w, role, ticks);
    } else if (role != OSC_ROLE_ARG) {
        w->skips_args = false;
        /* A recorded begin only needs an entry if scopes around it are missing. */
        if (role == OSC_ROLE_BEGIN && w->n_runs > 0)
            push_level(w, false, false);
    }
    return s;
}

void osc_writer_absorb(struct osc_writer *w)
{
    /* relaxed: see osc_writer_drop_nested() */
    for (; __atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) > 0;
         __atomic_sub_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED))
        push_level(w, true, true);
    for (; __atomic_load_n(&w->n_nested_ends, __ATOMIC_RELAXED) > 0;
         __atomic_sub_fetch(&w->n_nested_ends, 1, __ATOMIC_RELAXED))
        if (!osc_writer_pop_level(w))
            osc_writer_drop(w, OSC_ROLE_END, osc_ticks());
    absorb_gone(w);
}

bool osc_writer_has_pending(const struct osc_writer *w)
{
    return __atomic_load_n(&w->untold, __ATOMIC_RELAXED) !=
           0; /* see osc_writer_drop_nested() */
}

bool osc_writer_is_everyday(const struct osc_writer *w)
{
    return w->block && !osc_writer_has_pending(w) && w->n_runs == 0 && w->n_over == 0 &&
           w->n_owed == 0 && !w->skips_args;
}

void osc_writer_clear(struct osc_writer *w)
{
    w->block = NULL;
    set_pos(w, 0);
    w->n_runs = w->n_over = w->n_over_counted = 0;
    set_owed(w, 0);
    w->skips_args = w->is_dry = w->is_in_sampled = false;
    w->n_nested_begins = w->n_nested_ends = 0;
    w->untold = 0;
}

void osc_writer_end(struct osc_writer *w, uint64_t ticks)
{
    if (write_owed(w, ticks))
        (void)write_losses(w, ticks);

    struct osc_block *last = w->block;

    if (!last)
        return;
    const uint32_t n_used = used_slots(w);

    w->block = NULL;
    set_pos(w, 0);
    osc_blocks_fill(last, n_used);
}

void osc_writer_count_unwritten(struct osc_writer *w, struct osc_live_thread *entry)
{
    /* relaxed: independent numbers. W's thread and the one that ends the recording may do this
     * at the same time. */
    const uint32_t n_owed = __atomic_exchange_n(&w->n_owed, 0, __ATOMIC_RELAXED);
    const uint32_t n_nested = __atomic_exchange_n(&w->n_nested_ends, 0, __ATOMIC_RELAXED);

    __atomic_add_fetch(&entry->lost[OSC_LOSS_FULL], n_owed, __ATOMIC_RELAXED);
    __atomic_add_fetch(&entry->lost[OSC_LOSS_NESTED], n_nested, __ATOMIC_RELAXED);
}
