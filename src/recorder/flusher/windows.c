/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/windows.h"

#include <string.h>

#include "recording/schedule.h"
#include "wire/live.h"

enum {
    CUTS = 64,        /* that the flusher may lag behind; a power of two */
    MEDIAN_OF = 63,   /* steps */
    MEDIAN_NEEDS = 8, /* steps before any counts as slow */
};

static struct {
    struct osc_windows_start start;
    struct osc_schedule schedule;
    bool is_stepping; /* a thread is in osc_windows_step_*() */
    unsigned action;  /* of the current step; written by the thread that steps */
    unsigned first;   /* of step 0 */

    uint32_t n_cuts, n_taken; /* ever */
    struct osc_cut cuts[CUTS];
    struct osc_cut taken; /* the last one; its deeds may not be done yet */

    uint32_t n_slow, n_dumped; /* slow steps, ever */
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    uint64_t slow_end;    /* of the last one, also if the queue was full */
    uint64_t slow_after;  /* ticks after its begin when the current step is slow; 0: never */
    uint64_t step_ticks;  /* when the current step began; 0: there is none */
    uint32_t n_durations; /* ever */
    uint64_t durations[MEDIAN_OF]; /* of the last steps, in order */

    uint64_t n_steps;    /* that began, ever */
    uint64_t first_step; /* number of the first step, which is step 0 of the schedule */
    int64_t step;
} windows;

/* Of the last steps. Not cleared at a start, so that pages that no step needs stay untouched.
 */
static uint64_t begins[OSC_WINDOWS_STEPS];

/* relaxed, here and below: a single number for readers of the live directory */
static void store_begin(uint64_t ticks)
{
    if (windows.start.begin)
        __atomic_store_n(windows.start.begin, ticks, __ATOMIC_RELAXED);
}

/* Store that a window begins at TICKS, unless an earlier one is still to be written. */
static void begin_window(uint64_t ticks)
{
    uint64_t *const begin = windows.start.begin;
    uint64_t none = OSC_LIVE_NO_WINDOW;

    if (begin)
        (void)__atomic_compare_exchange_n(begin, &none, ticks, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
}

/* Whether steps with ACTION record nothing. */
static bool is_held(enum osc_action action)
{
    return action == OSC_ACTION_NONE ||
           (action == OSC_ACTION_WARMUP && windows.start.is_flight);
}

static void (*tell_begin)(void); /* or NULL */

void osc_windows_tell(void (*begun)(void))
{
    tell_begin = begun;
}

void osc_windows_open(const struct osc_windows_start *start)
{
    memset(&windows, 0, sizeof windows);
    windows.start = *start;
    windows.step = -1;
    windows.action = OSC_ACTION_RECORD;
    if (start->schedule) {
        windows.schedule = *start->schedule;
        windows.action = osc_schedule_action(&windows.schedule, 0);
    }
    windows.first = windows.action;
    store_begin(osc_windows_begins_open() ? 0 : OSC_LIVE_NO_WINDOW);
    start->hold(is_held(windows.action));
}

void osc_windows_close(void)
{
    windows.start = (struct osc_windows_start){0};
}

/* True for the one thread that may proceed; it must call leave(). */
static bool enter(void)
{
    /* acquire: pairs with the release in leave() */
    return !__atomic_test_and_set(&windows.is_stepping, __ATOMIC_ACQUIRE);
}

static void leave(void)
{
    /* release: pairs with the acquire in enter() */
    __atomic_clear(&windows.is_stepping, __ATOMIC_RELEASE);
}

static uint64_t median(void)
{
    const uint32_t n = windows.n_durations < MEDIAN_OF ? windows.n_durations : MEDIAN_OF;
    uint64_t sorted[MEDIAN_OF];

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t v = windows.durations[i];
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > v; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = v;
    }
    return sorted[n / 2];
}

/* The ticks beyond which a step is slow; 0: no step can be. */
static uint64_t slow_limit(void)
{
    const double limit = windows.start.slow_step * (double)median();

    return limit < (double)INT64_MAX ? (uint64_t)limit : 0;
}

/* A step from BEGIN to END was slow. */
static void store_slow(uint64_t begin, uint64_t end)
{
    const uint32_t n = windows.n_slow;

    /* relaxed: if it is not stored itself, the last one that is is extended to it. */
    __atomic_store_n(&windows.slow_end, end, __ATOMIC_RELAXED);
    /* acquire: pairs with the release in osc_windows_dumped() */
    if (n - __atomic_load_n(&windows.n_dumped, __ATOMIC_ACQUIRE) < OSC_WINDOWS_SLOW) {
        windows.slow[n % OSC_WINDOWS_SLOW] = (struct osc_windows_slow){begin, end};
        /* release: pairs with the acquire in osc_windows_slow() */
        __atomic_store_n(&windows.n_slow, n + 1, __ATOMIC_RELEASE);
    }
    windows.start.wake();
}

void osc_windows_step_end(uint64_t ticks)
{
    if (!enter())
        return;
    if (windows.step_ticks && windows.start.slow_step > 0) {
        const uint64_t took = ticks - windows.step_ticks;

        if (windows.slow_after && took > windows.slow_after)
            store_slow(windows.step_ticks, ticks);
        windows.durations[windows.n_durations++ % MEDIAN_OF] = took;
        if (windows.n_durations >= MEDIAN_NEEDS)
            /* relaxed, here and below: the flusher reads each number for itself. */
            __atomic_store_n(&windows.slow_after, slow_limit(), __ATOMIC_RELAXED);
    }
    __atomic_store_n(&windows.step_ticks, 0, __ATOMIC_RELAXED);
    leave();
}

/* Change from the previous step's action to NEXT, unless the flusher lags too far behind. */
static void change_action(unsigned next, uint64_t ticks)
{
    const unsigned deeds = osc_schedule_deeds(windows.action, next);
    const uint32_t n = windows.n_cuts;

    /* acquire: pairs with the release in osc_windows_take() */
    if (deeds && n - __atomic_load_n(&windows.n_taken, __ATOMIC_ACQUIRE) == CUTS)
        return;
    if (deeds) {
        windows.cuts[n % CUTS] = (struct osc_cut){ticks, deeds};
        /* release: pairs with the acquire in osc_windows_take() */
        __atomic_store_n(&windows.n_cuts, n + 1, __ATOMIC_RELEASE);
    }
    if (deeds & OSC_DEED_START) {
        if (tell_begin)
            tell_begin();
        begin_window(ticks);
    }
    if (is_held(windows.action) != is_held(next))
        windows.start.hold(is_held(next));
    __atomic_store_n(&windows.action, next, __ATOMIC_RELAXED); /* for osc_windows_deeds_of() */
    if (deeds)
        windows.start.wake();
}

void osc_windows_step_begin(uint64_t step, uint64_t ticks)
{
    if (!enter())
        return;
    const uint64_t n = windows.n_steps;

    if (n == 0)
        windows.first_step = step; /* its action has applied since the start */
    /* relaxed: published by n_steps below */
    __atomic_store_n(&begins[n % OSC_WINDOWS_STEPS], ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&windows.step, (int64_t)step, __ATOMIC_RELAXED);
    /* release: pairs with the acquire in begins_known() */
    __atomic_store_n(&windows.n_steps, n + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&windows.step_ticks, ticks, __ATOMIC_RELAXED);
    if (n > 0 && windows.start.schedule)
        change_action(osc_schedule_action(&windows.schedule, step - windows.first_step), ticks);
    leave();
}

unsigned osc_windows_deeds_of(uint64_t step)
{
    /* acquire: pairs with the release in osc_windows_step_begin() */
    const uint64_t n = __atomic_load_n(&windows.n_steps, __ATOMIC_ACQUIRE);

    if (!windows.start.schedule || n == 0)
        return 0;
    /* relaxed: that of a step of another thread is as good. */
    return osc_schedule_deeds(
        __atomic_load_n(&windows.action, __ATOMIC_RELAXED),
        osc_schedule_action(&windows.schedule, step - windows.first_step));
}

/* The deeds of the last cut are done: the window that it ended is written. */
static void finish_cut(void)
{
    if (windows.taken.deeds & OSC_DEED_START)
        store_begin(windows.taken.ticks);
    else if (windows.taken.deeds & OSC_DEED_STOP)
        store_begin(OSC_LIVE_NO_WINDOW);
    windows.taken.deeds = 0;
}

bool osc_windows_take(struct osc_cut *cut)
{
    const uint32_t i = windows.n_taken;

    finish_cut();
    /* acquire: pairs with the release in change_action() */
    if (i == __atomic_load_n(&windows.n_cuts, __ATOMIC_ACQUIRE))
        return false;
    *cut = windows.cuts[i % CUTS];
    /* release: pairs with the acquire in change_action() */
    __atomic_store_n(&windows.n_taken, i + 1, __ATOMIC_RELEASE);
    windows.taken = *cut;
    if (cut->deeds & OSC_DEED_START)
        begin_window(cut->ticks);
    return true;
}

unsigned osc_windows_exit(void)
{
    return osc_schedule_deeds(windows.action, OSC_ACTION_EXIT);
}

bool osc_windows_begins_open(void)
{
    return windows.first == OSC_ACTION_RECORD || windows.first == OSC_ACTION_SAVE;
}

uint32_t osc_windows_slow(struct osc_windows_slow slow[OSC_WINDOWS_SLOW])
{
    /* acquire: pairs with the release in store_slow() */
    const uint32_t n = __atomic_load_n(&windows.n_slow, __ATOMIC_ACQUIRE) - windows.n_dumped;
    /* relaxed: see store_slow() */
    const uint64_t last_end = __atomic_load_n(&windows.slow_end, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < n; i++)
        slow[i] = windows.slow[(windows.n_dumped + i) % OSC_WINDOWS_SLOW];
    if (n == OSC_WINDOWS_SLOW && last_end > slow[n - 1].end)
        slow[n - 1].end = last_end;
    return n;
}

bool osc_windows_is_slow(uint64_t ticks)
{
    /* relaxed: see osc_windows_step_end() */
    const uint64_t begin = __atomic_load_n(&windows.step_ticks, __ATOMIC_RELAXED);
    const uint64_t after = __atomic_load_n(&windows.slow_after, __ATOMIC_RELAXED);

    return begin && after && ticks > begin && ticks - begin > after;
}

void osc_windows_dumped(uint64_t from, uint64_t until)
{
    struct osc_windows_slow slow[OSC_WINDOWS_SLOW];
    const uint32_t n = osc_windows_slow(slow), n_before = windows.n_dumped;
    uint32_t n_done = 0;

    while (n_done < n && slow[n_done].begin >= from && slow[n_done].end <= until)
        n_done++;
    /* release: pairs with the acquire in store_slow() */
    __atomic_store_n(&windows.n_dumped, n_before + n_done, __ATOMIC_RELEASE);
}

int64_t osc_windows_step(void)
{
    /* relaxed: a single number */
    return __atomic_load_n(&windows.step, __ATOMIC_RELAXED);
}

/* The range of steps whose begins are stored; a stepping thread may be overwriting the one
 * before *FIRST. */
static void begins_known(uint64_t *first, uint64_t *end)
{
    /* acquire: pairs with the release in osc_windows_step_begin() */
    *end = __atomic_load_n(&windows.n_steps, __ATOMIC_ACQUIRE);
    *first = *end < OSC_WINDOWS_STEPS ? 0 : *end - OSC_WINDOWS_STEPS + 1;
}

static uint64_t begin_of(uint64_t i)
{
    /* relaxed: see begins_known() */
    return __atomic_load_n(&begins[i % OSC_WINDOWS_STEPS], __ATOMIC_RELAXED);
}

/* The first step from FIRST to before END that began at TICKS or later; END: none did. */
static uint64_t find_begin(uint64_t first, uint64_t end, uint64_t ticks)
{
    while (first < end) {
        const uint64_t mid = first + (end - first) / 2;

        if (begin_of(mid) < ticks)
            first = mid + 1;
        else
            end = mid;
    }
    return first;
}

uint64_t osc_windows_whole(uint64_t ticks, uint64_t n_steps)
{
    uint64_t first, end, i;

    begins_known(&first, &end);
    i = find_begin(first, end, ticks + 1);
    if (i == first)
        return first > 0 ? begin_of(first) : ticks;
    i--;
    return begin_of(i - first > n_steps ? i - n_steps : first);
}

uint64_t osc_windows_next_whole(uint64_t ticks)
{
    uint64_t first, end, i;

    begins_known(&first, &end);
    i = find_begin(first, end, ticks);
    return i < end ? begin_of(i) : ticks;
}

uint64_t osc_windows_count(uint64_t from, uint64_t until)
{
    uint64_t first, end;

    begins_known(&first, &end);
    first = find_begin(first, end, from);
    return find_begin(first, end, until) - first;
}
