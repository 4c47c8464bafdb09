/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/slow_path.h"

#include <errno.h>
#include <pthread.h>

#include "recorder/host/quiet.h"
#include "recorder/live/blocks.h"
#include "recorder/session.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/sampling.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"

/* Make the next call of W's thread take the slow path, which W is in. */
static void make_unusual(struct osc_writer *w)
{
    w->epoch = 0;
    w->is_in_sampled = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* handlers see it, too */
}

static void absorb_and_leave(struct osc_writer *w)
{
    osc_writer_absorb(w);
    w->epoch = osc_writer_is_everyday(w) && !osc_session_awaits_flusher() ? w->generation : 0;
    osc_writer_set_idle(w);
}

/* Leave the slow path; the next call takes the fast one if nothing is unusual. */
static void leave(struct osc_writer *w)
{
    absorb_and_leave(w);
    /* A handler that ran after osc_writer_absorb() still found W busy. It may have dropped a
     * scope, which must be accounted for before the next record. */
    while ((osc_writer_has_nested(w) || (w->epoch != 0 && osc_writer_has_pending(w))) &&
           osc_writer_set_busy(w)) {
        w->epoch = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in reserve_slowly() */
        absorb_and_leave(w);
    }
}

static struct osc_record_slot *reserve_slowly(uint32_t n_slots, enum osc_role role,
                                              uint64_t ticks)
{
    if (!osc_session_is_on()) {
        osc_losses_add(OSC_LOSS_LATE, 1);
        return NULL;
    }
    if (!osc_session_is_ours()) {
        osc_losses_add(OSC_LOSS_NESTED, 1);
        return NULL;
    }
    struct osc_writer *w = osc_threads_writer();

    if (!w) {
        osc_losses_add(OSC_LOSS_FULL, 1);
        return NULL;
    }
    if (!osc_writer_set_busy(w)) {
        osc_writer_drop_nested(w, role);
        return NULL;
    }
    make_unusual(w);

    enum osc_loss why;
    const uint64_t generation = osc_session_enter(&why);
    struct osc_record_slot *s = NULL;

    if (generation != 0) {
        if (w->generation != generation) {
            osc_writer_clear(w);
            osc_threads_enter(w, generation);
        }
        w->may_wait = n_slots > 0;
        s = osc_writer_place(w, n_slots, role, ticks, osc_session_is_paused());
        w->may_wait = false;
    } else {
        osc_losses_add(why, 1);
    }
    leave(w);
    osc_session_announce();
    return s;
}

/* The short way of most records of a pause, which may last for most of a program: it waits for
 * the next window of a schedule. False: nothing was done. */
static bool skip_paused(enum osc_role role)
{
    struct osc_writer *const w = osc_writer_self;

    /* relaxed: as in the fast path */
    if (w->generation != __atomic_load_n(&osc_epoch_paused, __ATOMIC_RELAXED) ||
        osc_session_awaits_flusher() || !osc_writer_set_busy(w))
        return false;
    make_unusual(w); /* what is open now is accounted for by the slow path */
    const bool is_skipped = osc_writer_skip(w, role);
    for (;;) { /* as in leave() */
        if (osc_writer_has_nested(w))
            osc_writer_absorb(w);
        osc_writer_set_idle(w);
        if (!osc_writer_has_nested(w) || !osc_writer_set_busy(w))
            return is_skipped;
    }
}

/* The same for arguments of scopes that are left out because names are sampled. */
static bool skip_unsampled(enum osc_role role)
{
    const struct osc_writer *const w = osc_writer_self;

    /* relaxed: as in the fast path */
    return role == OSC_ROLE_ARG && osc_sampling_is_on() &&
           w->generation == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED) && !w->busy &&
           osc_writer_skips_arg(w);
}

struct osc_record_slot *osc_slow_reserve(uint32_t n_slots, enum osc_role role, uint64_t ticks)
{
    if (skip_paused(role) || skip_unsampled(role))
        return NULL;
    const int kept = errno;
    int cancel = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    osc_quiet_begin();
    struct osc_record_slot *s = reserve_slowly(n_slots, role, ticks);

    osc_quiet_end();
    (void)pthread_setcancelstate(cancel, NULL);
    errno = kept;
    return s;
}

bool osc_slow_drop(enum osc_role role)
{
    struct osc_writer *w = osc_writer_self;

    if (skip_paused(role))
        return true;
    if (!w->is_dry || !osc_writer_set_busy(w))
        return false;
    /* relaxed: as in the fast path */
    const bool is_sure =
        w->is_dry && w->generation == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED) &&
        osc_blocks_are_out() && (role != OSC_ROLE_END || osc_writer_is_inside_missing(w));

    if (is_sure) {
        if (role == OSC_ROLE_END)
            (void)osc_writer_pop_level(w);
        else
            osc_writer_drop(w, role, 0);
        w->skips_args = role != OSC_ROLE_END;
        osc_writer_absorb(w);
    }
    osc_writer_set_idle(w);
    return is_sure;
}

/* Leave W, which was only in the way of a sampled scope; handlers may have dropped scopes. */
static void leave_sampled(struct osc_writer *w)
{
    osc_writer_set_idle(w);
    if (__builtin_expect(osc_writer_has_nested(w), 0) && osc_writer_set_busy(w)) {
        make_unusual(w);
        leave(w);
    }
}

/* Leave out what begins, or is complete, by ROLE. W is busy. */
static void skip_busy(struct osc_writer *w, enum osc_role role)
{
    const bool is_everyday = w->epoch == w->generation;

    make_unusual(w);
    (void)osc_writer_skip(w, role);
    w->is_in_sampled = is_everyday && role == OSC_ROLE_BEGIN;
}

/* Whether W belongs to the recording, which is not paused. */
static bool is_recording(const struct osc_writer *w)
{
    /* relaxed: as in the fast path */
    return w->index_1 != 0 && w->generation == __atomic_load_n(&osc_epoch, __ATOMIC_RELAXED);
}

bool osc_slow_samples(uint32_t name, enum osc_role role, uint32_t *n_calls)
{
    struct osc_writer *w = osc_writer_self;

    *n_calls = 1;
    if (!is_recording(w) || !osc_writer_set_busy(w))
        return true;
    const bool is_taken =
        osc_sampling_take(w->index_1 - 1, w->generation << 32 ^ w->ordinal, name, n_calls);

    if (!is_taken)
        skip_busy(w, role);
    leave_sampled(w);
    return is_taken;
}

void osc_slow_skip(void)
{
    if (skip_paused(OSC_ROLE_BEGIN))
        return;
    struct osc_writer *w = osc_writer_self;

    /* relaxed: only this thread and its handlers write it. */
    if (!is_recording(w) && !__atomic_load_n(&w->busy, __ATOMIC_RELAXED)) {
        osc_slow_write_owed(); /* there is a writer of this recording then */
        w = osc_writer_self;
        if (!is_recording(w))
            return;
    }
    if (!osc_writer_set_busy(w)) {
        osc_writer_drop_nested(w, OSC_ROLE_BEGIN);
        return;
    }
    skip_busy(w, OSC_ROLE_BEGIN);
    leave_sampled(w);
}

bool osc_slow_end_skipped(void)
{
    struct osc_writer *w = osc_writer_self;

    if (w->epoch != 0 || !is_recording(w) || !osc_writer_set_busy(w))
        return false;
    /* All else is as usual. */
    const bool is_alone = w->is_in_sampled && !osc_writer_has_pending(w);
    const bool is_skipped = !osc_writer_has_nested(w) && osc_writer_skip_end(w);

    w->is_in_sampled = is_alone && !is_skipped;
    if (is_skipped && is_alone) {
        w->epoch = w->generation;
        leave_sampled(w);
    } else {
        leave(w);
    }
    return is_skipped;
}

void osc_slow_forget(uint32_t level)
{
    struct osc_writer *w = osc_writer_self;

    if (w->index_1 != (level >> OSC_LEVEL_BITS) + 1 || !osc_writer_set_busy(w)) {
        osc_threads_post_gone(level);
        return;
    }
    make_unusual(w);
    osc_writer_forget_level(w, level);
    leave(w);
}

void osc_slow_write_owed(void)
{
    /* A record without slots: it is not counted as lost if there is no room. */
    if (osc_session_is_on())
        (void)osc_slow_reserve(0, OSC_ROLE_FACT, osc_ticks());
}
