/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/api/api_devices.h"
#include "recorder/live/blocks.h"
#include "recorder/session.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"

enum { DOUBTS = 16 /* calls for one look of the kernel */ };

#define MARK UINT32_C(0x6f73636d)

/* Its epoch is never that of the process, so nobody ever writes to it. */
static struct osc_writer nobody;

_Thread_local struct osc_writer *osc_writer_self = &nobody;
uint64_t osc_epoch = OSC_EPOCH_NONE, osc_epoch_counter = OSC_EPOCH_NONE;

struct osc_writer *osc_writer_nobody(void)
{
    return &nobody;
}

static void count(struct osc_writer *w, enum osc_loss cause, uint64_t n)
{
    if (!w->entry) {
        osc_threads_count(cause, n);
        return;
    }
    osc_local_add(&w->entry->lost[cause], n);
    osc_local_add(&w->pending[cause], n);
}

/* A handler recorded while this thread was in the slow path. */
static void drop_nested(struct osc_writer *w, enum osc_role role)
{
    /* relaxed, here and where its thread looks at them: it is the same thread. */
    if (role == OSC_ROLE_BEGIN) {
        __atomic_add_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED);
    } else if (role == OSC_ROLE_END) {
        if (__atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) == 0) {
            __atomic_add_fetch(&w->n_nested_ends, 1, __ATOMIC_RELAXED);
            return; /* it is only late */
        }
        __atomic_sub_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED);
    }
    count(w, OSC_LOSS_NESTED, 1);
}

/* A scope begins inside of one that is missing, or is missing itself. */
static void push_level(struct osc_writer *w, bool is_missing, bool is_counted)
{
    struct osc_writer_run *top = w->n_runs > 0 ? &w->runs[w->n_runs - 1] : NULL;

    if (w->n_over == 0 && top && top->is_missing == is_missing &&
        top->is_counted == is_counted) {
        top->n++;
    } else if (w->n_over == 0 && w->n_runs < OSC_WRITER_RUNS) {
        w->runs[w->n_runs++] = (struct osc_writer_run){1, is_missing, is_counted};
    } else {
        w->n_over++;
        w->n_over_counted += is_counted;
    }
}

/* Whether the begin of the innermost scope is not there. */
static bool is_inside_missing(const struct osc_writer *w)
{
    return w->n_over > 0 || (w->n_runs > 0 && w->runs[w->n_runs - 1].is_missing);
}

/* The innermost scope ends: whether it was missing, and with it its end. */
static bool pop_level(struct osc_writer *w)
{
    bool is_missing = true;
    bool is_counted;

    if (w->n_over > 0) {
        w->n_over--;
        is_counted = w->n_over_counted > 0;
        w->n_over_counted -= is_counted;
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

static uint32_t used_slots(const struct osc_writer *w)
{
    const uintptr_t first = (uintptr_t)w->block->slots;

    return (uint32_t)((w->pos - first) / OSC_RECORD_SLOT_BYTES);
}

static void set_pos(struct osc_writer *w, uintptr_t pos)
{
    /* release: pairs with the acquire in osc_threads_settle() */
    __atomic_store_n(&w->pos, pos, __ATOMIC_RELEASE);
}

/* N slots, of another block if this one has no room; NULL: there is none. */
static struct osc_record_slot *take_slots(struct osc_writer *w, uint32_t n)
{
    if (!w->block || used_slots(w) + n > OSC_BLOCK_SLOTS) {
        struct osc_block *next = osc_blocks_take(w->ordinal, w->tid);
        struct osc_block *full = w->block;
        const uint32_t n_used = full ? used_slots(w) : 0;

        if (!next)
            return NULL;
        w->block = next;
        set_pos(w, (uintptr_t)next->slots);
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* who is torn off hands none over twice */
        if (full)
            osc_blocks_fill(full, n_used);
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): see osc_writer_try() */
    struct osc_record_slot *s = (struct osc_record_slot *)w->pos;

    set_pos(w, w->pos + n * (uintptr_t)OSC_RECORD_SLOT_BYTES);
    return s;
}

/* Write the ends that found no room when it was time for them. */
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
    w->n_owed -= done;
    for (uint32_t i = 0; i < w->n_owed && i + done < OSC_WRITER_LEVELS; i++)
        w->owed_ticks[i] = w->owed_ticks[i + done];
    return w->n_owed == 0;
}

/* Say what is missing before the next record. */
static bool write_losses(struct osc_writer *w, uint64_t ticks)
{
    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++) {
        /* relaxed: see drop_nested() */
        if (__atomic_load_n(&w->pending[cause], __ATOMIC_RELAXED) == 0)
            continue;
        struct osc_record_slot *s = take_slots(w, 2);

        if (!s)
            return false;
        s[0].value = ticks;
        s[1].value = __atomic_exchange_n(&w->pending[cause], 0, __ATOMIC_RELAXED);
        /* relaxed: as osc_put_slot() */
        __atomic_store_n(&s[1].word, cause, __ATOMIC_RELAXED);
        osc_writer_finish(s, 0, OSC_RECORD_LOST, 2);
    }
    return true;
}

static void drop(struct osc_writer *w, enum osc_role role, uint64_t ticks)
{
    if (role == OSC_ROLE_END) {
        if (w->n_owed < OSC_WRITER_LEVELS)
            w->owed_ticks[w->n_owed] = ticks;
        w->n_owed++;
        return;
    }
    if (role == OSC_ROLE_BEGIN)
        push_level(w, true, true);
    w->skips_args = true;
    count(w, OSC_LOSS_FULL, 1);
}

/* Whether an argument would go to a scope or record that is not there. */
static bool is_orphan(const struct osc_writer *w)
{
    return w->skips_args || is_inside_missing(w);
}

/* What to do with a record while W is busy: its slots, or NULL. */
static struct osc_record_slot *place(struct osc_writer *w, uint32_t n_slots, enum osc_role role,
                                     uint64_t ticks)
{
    if (role == OSC_ROLE_END && pop_level(w)) {
        w->skips_args = false; /* those that follow are of the scope around */
        return NULL;
    }
    if (role == OSC_ROLE_ARG && is_orphan(w)) {
        if (!osc_session_is_paused())
            count(w, OSC_LOSS_FULL, 1);
        return NULL;
    }
    if (osc_session_is_paused() && (role == OSC_ROLE_BEGIN || role == OSC_ROLE_EVENT)) {
        if (role == OSC_ROLE_BEGIN)
            push_level(w, true, false);
        w->skips_args = true;
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
        drop(w, role, ticks);
    } else if (role != OSC_ROLE_ARG) {
        w->skips_args = false;
        /* Only where some around it are missing need this one be known as there. */
        if (role == OSC_ROLE_BEGIN && w->n_runs > 0)
            push_level(w, false, false);
    }
    return s;
}

/* Keep handlers out of W, with a mark in the frame of this call; false if this is one that came
 * while W was busy. */
static bool set_busy(struct osc_writer *w, uint32_t *mark)
{
    *(volatile uint32_t *)mark = MARK;
    /* relaxed: only this thread and its handlers write it. */
    if (__atomic_load_n(&w->busy, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&w->busy, (uintptr_t)mark, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* handlers see it before anything else */
    return true;
}

/* Whether something else than a mark stands at AT, or nothing can: the kernel looks, since the
 * stack that it lay on may be gone. */
static bool is_overwritten(uintptr_t at)
{
    static const struct timespec at_once;

    return syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, MARK, &at_once, NULL, 0) != 0 &&
           (errno == EAGAIN || errno == EFAULT);
}

/* Whether the slow path that W is busy with will never go on: its frame is no more. This one
 * has a mark, too, which is not where one is that is still needed. */
static bool was_left(struct osc_writer *w, const uint32_t *mark)
{
    /* relaxed: see set_busy() */
    const uintptr_t at = __atomic_load_n(&w->busy, __ATOMIC_RELAXED) & ~OSC_BUSY_ALONE;

    if (at == 0)
        return false;
    return at == (uintptr_t)mark || (w->n_doubts++ % DOUBTS == 0 && is_overwritten(at));
}

static void set_idle(struct osc_writer *w)
{
    /* release: pairs with the acquire in osc_threads_settle(); handlers see all of it. */
    __atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
}

/* Account for what handlers tried to record meanwhile. */
static void absorb(struct osc_writer *w)
{
    /* relaxed: see drop_nested() */
    for (; __atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) > 0;
         __atomic_sub_fetch(&w->n_nested_begins, 1, __ATOMIC_RELAXED))
        push_level(w, true, true);
    for (; __atomic_load_n(&w->n_nested_ends, __ATOMIC_RELAXED) > 0;
         __atomic_sub_fetch(&w->n_nested_ends, 1, __ATOMIC_RELAXED))
        if (!pop_level(w))
            drop(w, OSC_ROLE_END, osc_ticks());
}

/* Whether a loss is still to be told. */
static bool has_pending(const struct osc_writer *w)
{
    uint64_t lost = 0;

    for (uint32_t cause = 0; cause < OSC_LOSS_COUNT; cause++)
        lost |= __atomic_load_n(&w->pending[cause], __ATOMIC_RELAXED); /* see drop_nested() */
    return lost != 0;
}

static bool is_everyday(const struct osc_writer *w)
{
    return w->block && !has_pending(w) && w->n_runs == 0 && w->n_over == 0 && w->n_owed == 0 &&
           !w->skips_args;
}

static void settle_and_leave(struct osc_writer *w)
{
    absorb(w);
    w->epoch = is_everyday(w) && !osc_session_awaits_flusher() ? w->generation : 0;
    set_idle(w);
}

static bool has_nested(const struct osc_writer *w)
{
    /* relaxed: see drop_nested() */
    return __atomic_load_n(&w->n_nested_begins, __ATOMIC_RELAXED) > 0 ||
           __atomic_load_n(&w->n_nested_ends, __ATOMIC_RELAXED) > 0;
}

/* Out of the slow path: back to the fast one if nothing is unusual. */
static void leave(struct osc_writer *w, uint32_t *mark)
{
    settle_and_leave(w);
    /* A handler that came after absorb() still found W busy: what it dropped may be a scope,
     * and is to be told before what comes next. */
    while ((has_nested(w) || (w->epoch != 0 && has_pending(w))) && set_busy(w, mark)) {
        w->epoch = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in the slow path */
        settle_and_leave(w);
    }
}

/* W is of another recording, or new. */
static void renew(struct osc_writer *w, uint64_t generation)
{
    w->block = NULL;
    set_pos(w, 0);
    w->n_runs = w->n_over = w->n_over_counted = w->n_owed = 0;
    w->skips_args = w->is_dry = false;
    w->n_nested_begins = w->n_nested_ends = 0;
    memset(w->pending, 0, sizeof w->pending);
    osc_threads_enter(w, generation);
}

/* The slow path that W was busy with was torn off after any of its instructions: see that W
 * is one that can be gone on with. What is finished in its blocks stays. */
static void mend(struct osc_writer *w)
{
    /* The block was new, and the position not yet in it. */
    if (w->block && used_slots(w) > OSC_BLOCK_SLOTS)
        set_pos(w, (uintptr_t)w->block->slots);
    /* The innermost run was being begun or ended. */
    if (w->n_runs > 0 && w->runs[w->n_runs - 1].n == 0)
        w->n_runs--;
    /* Some of these may be written: better none than twice. */
    osc_local_add(&w->entry->lost[OSC_LOSS_FULL], w->n_owed);
    w->n_owed = 0;
    w->n_doubts = 0;
}

static struct osc_record_slot *record_slowly(uint32_t n_slots, enum osc_role role,
                                             uint64_t ticks)
{
    if (!osc_session_is_on()) {
        osc_threads_count(OSC_LOSS_LATE, 1);
        return NULL;
    }
    if (!osc_session_is_ours()) {
        osc_threads_count(OSC_LOSS_NESTED, 1);
        return NULL;
    }
    struct osc_writer *w = osc_threads_writer();

    if (!w) {
        osc_threads_count(OSC_LOSS_FULL, 1);
        return NULL;
    }
    uint32_t mark;
    const bool is_torn = !set_busy(w, &mark);

    if (is_torn && !was_left(w, &mark)) {
        drop_nested(w, role);
        return NULL;
    }
    w->epoch = 0;
    /* relaxed: see set_busy() */
    __atomic_store_n(&w->busy, (uintptr_t)&mark, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* handlers see that, too */

    enum osc_loss why;
    const uint64_t generation = osc_session_enter(&why);
    struct osc_record_slot *s = NULL;

    if (generation != 0) {
        if (w->generation != generation)
            renew(w, generation);
        else if (is_torn)
            mend(w);
        s = place(w, n_slots, role, ticks);
    } else {
        osc_threads_count(why, 1);
    }
    leave(w, &mark);
    if (osc_session_is_fresh())
        osc_devices_record();
    return s;
}

struct osc_record_slot *osc_writer_slow(uint32_t n_slots, enum osc_role role, uint64_t ticks)
{
    const int kept = errno;
    struct osc_record_slot *s = record_slowly(n_slots, role, ticks);

    errno = kept;
    return s;
}

void osc_writer_settle(void)
{
    /* A record of no slots, that is not lost if there is no room. */
    if (osc_session_is_on())
        (void)osc_writer_slow(0, OSC_ROLE_FACT, osc_ticks());
}

bool osc_writer_drop(enum osc_role role)
{
    struct osc_writer *w = osc_writer_self;
    uint32_t mark;

    if (!w->is_dry || !set_busy(w, &mark))
        return false;
    /* relaxed: as in the fast path */
    const bool is_sure = w->is_dry &&
                         w->generation == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED) &&
                         osc_blocks_are_out() && (role != OSC_ROLE_END || is_inside_missing(w));

    if (is_sure) {
        if (role == OSC_ROLE_END)
            (void)pop_level(w);
        else
            drop(w, role, 0);
        w->skips_args = role != OSC_ROLE_END;
        absorb(w);
    }
    set_idle(w);
    return is_sure;
}

void osc_writer_cut(void)
{
    /* It is there, if shorter: no gap to tell of. */
    osc_threads_count(OSC_LOSS_TOO_BIG, 1);
}

void osc_writer_end(struct osc_writer *w, uint64_t ticks, bool is_torn)
{
    if (is_torn)
        mend(w);
    if (write_owed(w, ticks))
        (void)write_losses(w, ticks);
    osc_local_add(&w->entry->lost[OSC_LOSS_FULL], w->n_owed); /* they never will be */

    struct osc_block *last = w->block;

    if (!last)
        return;
    const uint32_t n_used = used_slots(w);

    w->block = NULL;
    set_pos(w, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in take_slots() */
    osc_blocks_fill(last, n_used);
}
