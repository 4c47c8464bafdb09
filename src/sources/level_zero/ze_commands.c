/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/level_zero/ze_commands.h"

#include <time.h>

#include "sources/source_memory.h"

#define DRAIN_NS    UINT64_C(100000000) /* the end of a process may wait so long */
#define WAITING_MAX (1u << 18) /* commands that have not finished; more are not recorded */
#define READ_EVERY  64u        /* appends */
#define EARLY_PARTS 100u       /* of a second: by how much clocks may seem to disagree */
#define NOT_YET     32u        /* commands that have not finished end a reading */

struct osc_ze_command {
    struct osc_ze_command *next;         /* of those that wait, or are unused */
    struct osc_ze_command *next_in_list; /* of a regular list */
    struct osc_ze_list *list;
    struct osc_ze_device *device;
    struct osc_ze_own_event *own;
    ze_event_handle_t event;        /* the one that it signals; NULL: no times */
    struct osc_ze_event *theirs;    /* what is known of that, if it is the program's */
    ze_event_handle_t signal_after; /* the program's, which a barrier signals instead */
    bool is_regular;
    uint32_t n_runs;  /* of a regular list */
    bool is_stale;    /* its event may be signalled at any time */
    uint32_t n_waits; /* when it became so */
    struct osc_ze_work work;
    uint32_t queue;
    uint64_t launch, append_ns, submit_ns;
};

/* Commands that were submitted and have not been read, the oldest first. */
static struct {
    pthread_mutex_t lock;
    struct osc_ze_command *first, *last;
    struct osc_ze_command *unused;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uint32_t n_waiting;
static _Atomic uint32_t n_waits; /* grows when the program has waited for something */

/*
 * Of the thread that reads. It asks drivers for the state of events meanwhile, against the rule
 * that locks are leaves: a program that is about to reset an event, or to execute a list again,
 * must wait until another thread has read it, and with the lock it waits for exactly that. The
 * questions do not block (they take no timeout), and what the loader reports of them is
 * ignored.
 */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

/* --- commands ---------------------------------------------------------------------------- */

/* An empty command, without an event of ours; NULL: no memory. */
static struct osc_ze_command *take(void)
{
    pthread_mutex_lock(&waiting.lock);
    struct osc_ze_command *const c = waiting.unused;
    if (c)
        waiting.unused = c->next;
    pthread_mutex_unlock(&waiting.lock);
    if (!c)
        return osc_source_memory(sizeof *c);
    *c = (struct osc_ze_command){0};
    return c;
}

/* The same with one, in CONTEXT, which keeps its command; NULL: there is none. */
static struct osc_ze_command *take_with_event(ze_context_handle_t context)
{
    struct osc_ze_own_event *const own = osc_ze_take_event(context);
    struct osc_ze_command *const c = !own        ? NULL
                                     : own->kept ? own->kept
                                                 : osc_source_memory(sizeof *c);

    if (!c)
        return NULL; /* the event is lost: there is no memory */
    *c = (struct osc_ze_command){.own = own, .event = own->handle};
    own->kept = c;
    return c;
}

/* Forget C. IS_SIGNALLED: its event may be used again. */
static void give_back(struct osc_ze_command *c, bool is_signalled)
{
    if (c->own && is_signalled) {
        osc_ze_give_back_event(c->own); /* with the command */
        return;
    }
    pthread_mutex_lock(&waiting.lock);
    c->next = waiting.unused;
    waiting.unused = c;
    pthread_mutex_unlock(&waiting.lock);
}

/* Let C wait until its event is signalled. Returns how many waited before. */
static uint32_t wait_for(struct osc_ze_command *c)
{
    /* Relaxed: programs order a command and what they do with it later. */
    if (c->theirs)
        atomic_fetch_add_explicit(&c->theirs->n_waiting, 1, memory_order_relaxed);
    const uint32_t n = atomic_fetch_add_explicit(&n_waiting, 1, memory_order_relaxed);
    pthread_mutex_lock(&waiting.lock);
    c->next = NULL;
    if (waiting.last)
        waiting.last->next = c;
    else
        waiting.first = c;
    waiting.last = c;
    pthread_mutex_unlock(&waiting.lock);
    return n;
}

/* Record C, whose event showed TIMES. */
static void record(const struct osc_ze_command *c, const ze_kernel_timestamp_result_t *times)
{
    uint64_t start = times->global.kernelStart, end = times->global.kernelEnd;

    /* Relaxed: set before the tracer was made, or by the profiler of torch. */
    if (c->work.kind == OSC_WORK_SYNC &&
        atomic_load_explicit(&osc_ze_is_beside_torch, memory_order_relaxed))
        return;
    if (start == 0 && end == 0) {
        osc_ze_count(OSC_ZE_COUNT_UNTIMED, 1);
        return;
    }
    if (!osc_ze_extend(c->device, c->submit_ns, &start, &end)) {
        osc_ze_count(OSC_ZE_COUNT_UNRELATED, 1);
        return;
    }
    if (end - start > c->device->kernel_mask / 2) { /* it ended before it began */
        osc_ze_count(OSC_ZE_COUNT_UNTIMED, 1);
        return;
    }
    const uint64_t submitted = osc_ze_ticks_at(c->device, c->submit_ns);
    if (start + c->device->hz / EARLY_PARTS < submitted) { /* of an execution before */
        osc_ze_count(OSC_ZE_COUNT_UNTIMED, 1);
        return;
    }
    osc_work(c->queue, &(struct osc_work_info){
                           .kind = c->work.kind,
                           .name = c->work.name,
                           .append_ticks = c->append_ns == c->submit_ns
                                               ? submitted
                                               : osc_ze_ticks_at(c->device, c->append_ns),
                           .submit_ticks = submitted,
                           .start_ticks = start,
                           .end_ticks = end,
                           .correlation = c->launch,
                           .bytes = c->work.bytes});
    if (c->work.grid[0] > 0) {
        const int64_t grid[3] = {c->work.grid[0], c->work.grid[1], c->work.grid[2]};
        const int64_t block[3] = {c->work.block[0], c->work.block[1], c->work.block[2]};

        osc_arg_i64s(OSC_SOURCE_NAME("grid"), grid, 3);
        if (block[0] > 0)
            osc_arg_i64s(OSC_SOURCE_NAME("block"), block, 3);
    }
}

/* --- reading ----------------------------------------------------------------------------- */

/* Whether C has finished; then it is recorded. */
static bool try_to_read(const struct osc_ze_command *c)
{
    ze_kernel_timestamp_result_t times = {0};

    if (osc_ze.EventQueryStatus(c->event) != ZE_RESULT_SUCCESS)
        return false;
    if (!osc_is_on())
        return true; /* of a recording that has ended */
    if (osc_ze.EventQueryKernelTimestamp(c->event, &times) == ZE_RESULT_SUCCESS)
        record(c, &times);
    else
        osc_ze_count(OSC_ZE_COUNT_UNTIMED, 1);
    return true;
}

/* C does not wait any more. */
static void finish(struct osc_ze_command *c, bool is_signalled)
{
    if (c->theirs)
        /* Release pairs with the acquires before the event is reset or used again. */
        atomic_fetch_sub_explicit(&c->theirs->n_waiting, 1, memory_order_release);
    c->is_stale = !is_signalled;
    c->n_waits = atomic_load_explicit(&n_waits, memory_order_relaxed);
    if (!c->is_regular)
        give_back(c, is_signalled);
    else if (c->own && is_signalled) /* for the next execution */
        (void)osc_ze.EventHostReset(c->event);
    /* Release pairs with the acquire in read_now(): who finds none need not look. */
    atomic_fetch_sub_explicit(&n_waiting, 1, memory_order_release);
}

/* Which commands to read, and what becomes of those among them that have not finished. */
struct choice {
    const struct osc_ze_list *list; /* those of one list */
    ze_event_handle_t event;        /* those that signal one event */
    ze_context_handle_t context;    /* those of one context; none of these: all */
    bool is_last;                   /* the rest is dropped, ... */
    enum osc_ze_count cause;        /* ... and counted so */
    bool is_quiet;                  /* or not counted */
};

static bool is_chosen(const struct osc_ze_command *c, const struct choice *w)
{
    if (w->list)
        return c->list == w->list;
    if (w->event)
        return c->event == w->event;
    return !w->context || c->list->context == w->context;
}

/* Put the chain FIRST to LAST before those that wait. */
static void put_back(struct osc_ze_command *first, struct osc_ze_command *last)
{
    if (!first || !last)
        return;
    pthread_mutex_lock(&waiting.lock);
    last->next = waiting.first;
    if (!waiting.first)
        waiting.last = last;
    waiting.first = first;
    pthread_mutex_unlock(&waiting.lock);
}

/* Read those that are chosen by W; of all, the oldest, until some have not finished, which are
 * the last to be looked at again. The caller has the right to read. */
static void read_chosen(const struct choice *w)
{
    const bool is_all = !w->list && !w->event && !w->context && !w->is_last;
    struct osc_ze_command *rest = NULL, **at = &rest, *kept = NULL;
    uint32_t n_not_yet = 0;

    pthread_mutex_lock(&waiting.lock);
    struct osc_ze_command *c = waiting.first, *const last = waiting.last;
    waiting.first = waiting.last = NULL;
    pthread_mutex_unlock(&waiting.lock);
    osc_ze_enter();
    for (struct osc_ze_command *next; c && !(is_all && n_not_yet == NOT_YET); c = next) {
        const bool is_looked_at = is_chosen(c, w);
        const bool is_done = is_looked_at && try_to_read(c);

        next = c->next;
        if (is_done || (is_looked_at && w->is_last)) {
            if (!is_done && !w->is_quiet)
                osc_ze_count(w->cause, 1);
            finish(c, is_done);
            continue;
        }
        n_not_yet += is_looked_at;
        *at = kept = c;
        at = &c->next;
    }
    osc_ze_leave();
    *at = NULL;
    put_back(rest, kept);
    put_back(c, last); /* those that were not looked at */
}

static void read_now(const struct choice *w)
{
    if (atomic_load_explicit(&n_waiting, memory_order_acquire) == 0)
        return;
    pthread_mutex_lock(&reading);
    read_chosen(w);
    pthread_mutex_unlock(&reading);
}

void osc_ze_read_finished(void)
{
    if (!osc_ze_is_alive())
        return;
    osc_ze_read_all_clocks(
        false); /* first: what was submitted is converted by the last reading */
    /* Another thread that reads does it. */
    if (atomic_load_explicit(&n_waiting, memory_order_relaxed) > 0 &&
        pthread_mutex_trylock(&reading) == 0) {
        read_chosen(&(struct choice){0});
        pthread_mutex_unlock(&reading);
    }
}

void osc_ze_waited(void)
{
    atomic_fetch_add_explicit(&n_waits, 1, memory_order_relaxed);
    osc_ze_read_finished();
}

void osc_ze_read_event(ze_event_handle_t event)
{
    read_now(&(struct choice){.event = event, .is_last = true, .cause = OSC_ZE_COUNT_UNTIMED});
}

void osc_ze_drain(void)
{
    const uint64_t until = osc_ze_now_ns() + DRAIN_NS;

    while (atomic_load_explicit(&n_waiting, memory_order_relaxed) > 0 &&
           osc_ze_now_ns() < until) {
        osc_ze_read_finished();
        if (atomic_load_explicit(&n_waiting, memory_order_relaxed) > 0)
            (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    /* A thread that hangs in a driver must not keep the process from ending. */
    if (pthread_mutex_trylock(&reading) != 0)
        return;
    read_chosen(&(struct choice){.is_last = true, .cause = OSC_ZE_COUNT_UNFINISHED});
    pthread_mutex_unlock(&reading);
    osc_ze_read_all_clocks(true);
}

/* --- append calls ------------------------------------------------------------------------ */

/* A command of L, which signals what the program asked for by EVENT, or one of ours instead. */
static struct osc_ze_command *choose_event(struct osc_ze_list *l, ze_event_handle_t *event)
{
    struct osc_ze_event *const theirs = osc_ze_event_of(*event);
    /* Of an event that was not made here nothing is known: the program may read its times. */
    const uint32_t times = theirs ? atomic_load_explicit(&theirs->times, memory_order_relaxed)
                                  : (uint32_t)OSC_ZE_TIMES_THEIRS;
    const bool has_times = times == OSC_ZE_TIMES_READ;
    /* In a regular list, the barrier after ours would find our event signalled by the execution
     * before, and signal theirs too early. */
    const bool is_ours = !*event || (times == OSC_ZE_TIMES_NONE && l->is_immediate);
    struct osc_ze_command *c = is_ours ? take_with_event(l->context) : NULL;

    if (c) {
        c->signal_after = *event;
        *event = c->event;
        return c;
    }
    c = take();
    if (!c || !has_times)
        return c;
    /* Acquire pairs with the release in finish(): another thread has read the event. */
    if (l->is_immediate && atomic_load_explicit(&theirs->n_waiting, memory_order_acquire) > 0)
        osc_ze_read_event(*event); /* it is used again */
    c->theirs = theirs;
    c->event = *event;
    return c;
}

struct osc_ze_command *osc_ze_append_begin(ze_command_list_handle_t list,
                                           ze_event_handle_t *event, osc_name name)
{
    struct osc_ze_list *l = osc_ze_list_of(list);

    if (!osc_ze_begin(name) || osc_ze_is_captured(list))
        return NULL;
    if (!l || !l->device)
        l = osc_ze_list_adopt(list);
    if (!l || atomic_load_explicit(&n_waiting, memory_order_relaxed) >= WAITING_MAX)
        return NULL;
    struct osc_ze_command *const c = choose_event(l, event);
    if (!c)
        return NULL;
    c->list = l;
    c->device = l->device;
    c->queue = l->queue;
    c->is_regular = !l->is_immediate;
    c->launch = osc_launch();
    c->append_ns = c->submit_ns = osc_ze_now_ns();
    return c;
}

/* Count a command that was appended to LIST and is not recorded, each time that it is executed,
 * unless it is a part of what another runtime reports. */
static void leave_out(ze_command_list_handle_t list)
{
    struct osc_ze_list *const l = osc_ze_list_of(list);

    if (!osc_ze_is_of_program() || osc_ze_is_captured(list))
        return;
    if (l && l->device && !l->is_immediate)
        l->n_left_out++; /* also while nothing is recorded */
    else if (osc_ze_is_on())
        osc_ze_count(l && l->device ? OSC_ZE_COUNT_UNTIMED : OSC_ZE_COUNT_UNKNOWN, 1);
}

/* Put C, which was appended, where it is read. Returns how many wait there. */
static uint32_t keep(struct osc_ze_command *c, ze_command_list_handle_t list)
{
    struct osc_ze_list *const l = c->list;

    if (!c->event) {
        leave_out(list);
        give_back(c, true);
    } else if (c->is_regular) {
        if (l->last)
            l->last->next_in_list = c;
        else
            l->first = c;
        l->last = c;
    } else {
        return wait_for(c);
    }
    return 0;
}

/* Let the program's event be signalled after ours. If that fails, the device is lost or there
 * is no memory: whoever waits for the event must not wait for ever. */
static void signal_theirs(ze_command_list_handle_t list, struct osc_ze_command *c)
{
    if (osc_ze.CommandListAppendBarrier(list, c->signal_after, 1, &c->event) !=
            ZE_RESULT_SUCCESS &&
        osc_ze.CommandListAppendSignalEvent(list, c->signal_after) != ZE_RESULT_SUCCESS)
        (void)osc_ze.EventHostSignal(c->signal_after);
}

void osc_ze_append_end(struct osc_ze_command *c, ze_command_list_handle_t list,
                       ze_result_t result, const struct osc_ze_work *work)
{
    if (c && result != ZE_RESULT_SUCCESS) {
        give_back(c, true);
    } else if (c) {
        c->work = *work;
        if (c->signal_after)
            signal_theirs(list, c);
        if (keep(c, list) % READ_EVERY == READ_EVERY - 1)
            osc_ze_read_finished();
    } else if (result == ZE_RESULT_SUCCESS) {
        leave_out(list);
    }
    osc_ze_end();
}

/* --- what becomes of a regular list ------------------------------------------------------ */

/* An execution of C was not followed to its end. Whether that is over, so that the event of C
 * tells of the next one: the program has waited since, and the event is signalled. */
static bool is_fresh(struct osc_ze_command *c)
{
    if (c->n_waits == atomic_load_explicit(&n_waits, memory_order_relaxed) ||
        osc_ze.EventQueryStatus(c->event) != ZE_RESULT_SUCCESS)
        return false;
    if (c->own)
        (void)osc_ze.EventHostReset(c->event);
    c->is_stale = false;
    return true;
}

void osc_ze_list_skip(struct osc_ze_list *l)
{
    for (struct osc_ze_command *c = l->first; c; c = c->next_in_list) {
        c->is_stale = true;
        c->n_waits = atomic_load_explicit(&n_waits, memory_order_relaxed);
    }
}

void osc_ze_list_submit(struct osc_ze_list *l, uint32_t queue)
{
    const uint64_t now = osc_ze_now_ns();
    uint64_t launch = 0;

    /* What has not finished is executed again: its event shows only the last time. */
    if (l->first)
        read_now(&(struct choice){.list = l, .is_last = true, .cause = OSC_ZE_COUNT_UNTIMED});
    if (l->n_left_out > 0)
        osc_ze_count(OSC_ZE_COUNT_UNTIMED, l->n_left_out);
    for (struct osc_ze_command *c = l->first; c; c = c->next_in_list) {
        if ((c->theirs && atomic_load_explicit(&c->theirs->times, memory_order_relaxed) !=
                              OSC_ZE_TIMES_READ) || /* the program destroyed the event */
            (c->is_stale && !is_fresh(c))) {
            osc_ze_count(OSC_ZE_COUNT_UNTIMED, 1);
            continue;
        }
        /* By this call, not by the one that appended it, for an earlier time. */
        if (c->n_runs > 0 || osc_launch_is_earlier(c->launch)) {
            launch = launch ? launch : osc_launch();
            c->launch = launch;
        }
        c->n_runs++;
        c->queue = queue;
        c->submit_ns = now;
        (void)wait_for(c);
    }
}

void osc_ze_list_fail(struct osc_ze_list *l)
{
    read_now(&(struct choice){.list = l, .is_last = true, .is_quiet = true});
    for (struct osc_ze_command *c = l->first; c; c = c->next_in_list) {
        c->n_runs -= c->n_runs > 0;
        c->is_stale = false; /* nothing was executed */
    }
}

void osc_ze_list_clear(struct osc_ze_list *l)
{
    read_now(&(struct choice){.list = l, .is_last = true, .cause = OSC_ZE_COUNT_UNFINISHED});
    for (struct osc_ze_command *c = l->first, *next; c; c = next) {
        next = c->next_in_list;
        give_back(c, !c->is_stale);
    }
    l->first = l->last = NULL;
    l->n_left_out = 0;
}

void osc_ze_context_clear(ze_context_handle_t context)
{
    read_now(&(struct choice){
        .context = context, .is_last = true, .cause = OSC_ZE_COUNT_UNFINISHED});
    osc_ze_drop_events(context);
}
