/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/opencl/cl_work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sources/source_counter.h"
#include "sources/source_memory.h"
#include "sources/source_thread.h"

/* How long the end of a process may wait for commands, and for one of them to start. */
#define DRAIN_NS  UINT64_C(2000000000)
#define START_NS  UINT64_C(50000000)
#define EXITS_MAX 8u   /* handlers of exit() */
#define LOOK_AT   256u /* commands whose state is asked */
#define NS        UINT64_C(1000000000)

enum state { UNUSED, ENQUEUED };

/* A command that has been enqueued, until it is recorded. */
struct command {
    struct command *made_before; /* in the list of all */
    struct command *next;        /* in the list of unused or finished ones */
    _Atomic uint32_t state;      /* enum state */
    _Atomic(cl_event) event;
    cl_int status; /* when it has finished */
    struct osc_cl_device *device;
    uint32_t queue;
    uint64_t launch, before, after; /* before and after the call, in ticks */
    _Atomic uint32_t is_cold;       /* a kernel that may be being compiled */
    bool has_readings;
    struct osc_cl_work work;
    struct osc_cl_readings readings;
};

/* What goes wrong, counted as counters "opencl: TEXT" of the recording. */
#define COUNT_LIST(X)                                                                       \
    X(FAILED, "opencl: commands that failed")                                               \
    X(UNTIMED, "opencl: commands without times")                                            \
    X(UNRELATED, "opencl: commands of devices whose clock cannot be related to the host's") \
    X(UNKNOWN, "opencl: commands of queues that are not known")                             \
    X(MEMORY, "opencl: blocks of memory that are not recorded")                             \
    X(UNFINISHED, "opencl: commands that had not finished at the end")

enum count {
#define COUNT_ENUM(name, text) COUNT_##name,
    COUNT_LIST(COUNT_ENUM)
#undef COUNT_ENUM
};

/*
 * Queues share a few lists, so that threads with queues of their own rarely meet.
 *
 * A thread of the driver only hands over what has finished: it is what programs wait for. The
 * next call of the program on such a queue records it, or the thread itself if nothing else is
 * under way, as no such call may follow.
 */
static struct list {
    pthread_mutex_t lock;               /* of `unused`, and of adding to `made` */
    struct command *unused;             /* by `next` */
    _Atomic(struct command *) made;     /* all, by `made_before` */
    _Atomic(struct command *) finished; /* by `next`; not recorded yet */
    _Atomic uint32_t n_enqueued;        /* of which the driver has not told */
} lists[] = {
#define LIST                                           \
    {                                                  \
        PTHREAD_MUTEX_INITIALIZER, NULL, NULL, NULL, 0 \
    }
    LIST, LIST, LIST, LIST, LIST,
    LIST, LIST, LIST
#undef LIST
};

#define N_LISTS ((uint32_t)(sizeof lists / sizeof *lists))

static _Atomic uint32_t is_draining; /* events are kept: the process ends */
static _Atomic uint32_t is_over;     /* the layer is no longer used */
static _Atomic uint32_t is_child;    /* of a fork, and no command has finished in it yet */
static pid_t owner;                  /* the process that began, or such a child */

/* The calls of this thread that are under way. */
static _Thread_local uint32_t depth __attribute__((tls_model("initial-exec")));

static void count(enum count what, uint64_t more)
{
    static struct osc_source_counter counters[] = OSC_SOURCE_COUNTERS(COUNT_LIST);

    osc_source_counter_add(&counters[what], more);
}

void osc_cl_count_memory(void)
{
    count(COUNT_MEMORY, 1);
}

/* --- calls ---------------------------------------------------------------------------- */

bool osc_cl_begin_plain(osc_name name)
{
    if (!osc_is_on() || osc_runtime_is_inside())
        return false;
    if (depth > 0) {
        osc_source_count(OSC_SOURCE_COUNT_NESTED);
        return false;
    }
    depth = 1;
    osc_source_heed();
    osc_begin(OSC_SCOPE_RUNTIME, name);
    return true;
}

void osc_cl_end_plain(bool is_recorded)
{
    if (!is_recorded)
        return;
    osc_end();
    depth = 0;
}

cl_event *osc_cl_begin(struct osc_cl_call *c, cl_command_queue queue, osc_name name,
                       cl_event *event)
{
    struct osc_cl_queue *const q = osc_cl_queue_of(queue);

    c->queue = NULL;
    c->is_lost = !q && queue && osc_is_on() && !osc_runtime_is_inside();
    if (!q || !osc_cl_begin_plain(name))
        return event;
    c->queue = q;
    c->own = NULL;
    c->event = event ? event : &c->own;
    c->launch = osc_launch();
    /* Relaxed: every thread finds the same clock. */
    c->has_readings =
        q->is_timed &&
        atomic_load_explicit(&q->device->clock, memory_order_relaxed) == OSC_CL_CLOCK_UNKNOWN;
    if (c->has_readings)
        osc_cl_read_clocks(c->readings.before_ns);
    c->before = osc_now();
    return c->event;
}

/* --- commands ------------------------------------------------------------------------- */

static uint64_t get_time(cl_event event, cl_profiling_info what)
{
    cl_ulong ns = 0;

    if (!osc_cl.clGetEventProfilingInfo ||
        osc_cl.clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL) != CL_SUCCESS)
        return 0;
    return ns;
}

/* Add the sizes of a kernel as arguments of the work: as the tables of kernels want them, in
 * groups and work items of a group. */
static void add_sizes(const struct osc_cl_work *w)
{
    int64_t groups[3], items[3];

    if (w->n_dims == 0)
        return;
    if (w->local[0] == 0) {
        for (uint32_t i = 0; i < w->n_dims; i++)
            items[i] = (int64_t)w->global[i];
        osc_arg_i64s(OSC_SOURCE_NAME("global"), items, w->n_dims);
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const size_t local = i < w->n_dims && w->local[i] > 0 ? w->local[i] : 1;

        items[i] = (int64_t)local;
        groups[i] = i < w->n_dims ? (int64_t)((w->global[i] + local - 1) / local) : 1;
    }
    osc_arg_i64s(OSC_SOURCE_NAME("grid"), groups, 3);
    osc_arg_i64s(OSC_SOURCE_NAME("block"), items, 3);
}

/* Record C, which has finished. Times that are later than the start are wrong. */
static void record(const struct command *c, cl_event event)
{
    const uint64_t queued = get_time(event, CL_PROFILING_COMMAND_QUEUED);
    const uint64_t submitted = get_time(event, CL_PROFILING_COMMAND_SUBMIT);
    const uint64_t started = get_time(event, CL_PROFILING_COMMAND_START);
    const struct osc_work_info info = {
        .kind = c->work.kind,
        .name = c->work.name,
        .append_ticks = queued <= started ? queued : 0,
        .submit_ticks = submitted <= started ? submitted : 0,
        .start_ticks = started,
        .end_ticks = get_time(event, CL_PROFILING_COMMAND_END),
        .correlation = c->launch,
        .bytes = c->work.bytes,
    };

    if (started == 0 || info.end_ticks < started) {
        count(COUNT_UNTIMED, 1);
        return;
    }
    if (!osc_cl_clock_pair(c->device, c->before, info.append_ticks, c->after,
                           c->has_readings ? &c->readings : NULL)) {
        count(COUNT_UNRELATED, 1);
        return;
    }
    osc_work(c->queue, &info);
    add_sizes(&c->work);
}

static struct list *list_of(uint32_t queue)
{
    return &lists[queue % N_LISTS];
}

/* A command for QUEUE, which give_back() takes; NULL: no memory. */
static struct command *take(uint32_t queue)
{
    struct list *const l = list_of(queue);

    pthread_mutex_lock(&l->lock);
    struct command *c = l->unused;
    if (c) {
        l->unused = c->next;
    } else if ((c = osc_source_memory(sizeof *c))) {
        c->made_before = atomic_load_explicit(&l->made, memory_order_relaxed);
        /* Release pairs with the acquire in find_rest(). */
        atomic_store_explicit(&l->made, c, memory_order_release);
    }
    pthread_mutex_unlock(&l->lock);
    return c;
}

/* Let the commands from FIRST to LAST, by `next`, be used again. */
static void give_back(struct list *l, struct command *first, struct command *last)
{
    pthread_mutex_lock(&l->lock);
    last->next = l->unused;
    l->unused = first;
    pthread_mutex_unlock(&l->lock);
}

/* Whether VARIANT of K has finished once. If there were many, it may be forgotten. */
static bool has_run(const struct osc_cl_kernel *k, uint64_t variant)
{
    /* Relaxed, here and below: a missed one only keeps the end from waiting. */
    for (uint32_t i = 0; i < OSC_CL_VARIANTS; i++) {
        if (atomic_load_explicit(&k->ran[i], memory_order_relaxed) == variant)
            return true;
    }
    return false;
}

static void note_run(struct osc_cl_kernel *k, uint64_t variant)
{
    if (has_run(k, variant))
        return;
    const uint32_t n = atomic_fetch_add_explicit(&k->n_ran, 1, memory_order_relaxed);
    atomic_store_explicit(&k->ran[n % OSC_CL_VARIANTS], variant, memory_order_relaxed);
    osc_cl_work_expect_exit();
}

/* Let C be unused, and release its EVENT. Sequentially consistent, here and in drain(): whoever
 * saw C there may use the event, and has set that it must not be released. */
static void let_go(struct command *c, cl_event event)
{
    atomic_store_explicit(&c->state, UNUSED, memory_order_seq_cst);
    if (!atomic_load_explicit(&is_draining, memory_order_seq_cst))
        (void)osc_cl.clReleaseEvent(event);
}

/* Record C, which has finished or failed, and let go of its event. */
static void settle(struct command *c)
{
    const cl_event event = atomic_load_explicit(&c->event, memory_order_relaxed);

    if (c->status < 0)
        count(COUNT_FAILED, 1);
    else if (osc_is_on())
        record(c, event);
    let_go(c, event);
}

/* Record what has finished of L. */
static void collect(struct list *l)
{
    /* Relaxed: a look, for what follows costs more. */
    if (!atomic_load_explicit(&l->finished, memory_order_relaxed))
        return;
    /* Acquire pairs with the release in finished(). */
    struct command *const first =
        atomic_exchange_explicit(&l->finished, NULL, memory_order_acquire);
    struct command *last = NULL;
    for (struct command *c = first; c; c = c->next) {
        settle(c);
        last = c;
    }
    if (last)
        give_back(l, first, last);
}

/* The command of DATA has finished, or failed with STATUS < 0. May be called by a thread of the
 * driver, or within clSetEventCallback(). */
static void CL_CALLBACK finished(cl_event event, cl_int status, void *data)
{
    struct command *const c = data;
    struct list *const l = list_of(c->queue);
    const uint32_t outer = depth;

    (void)event;
    /* Acquire pairs with the release in make_command(), whatever the driver does. */
    (void)atomic_load_explicit(&c->state, memory_order_acquire);
    /* Relaxed: the loader has ended the layer on purpose. */
    if (atomic_load_explicit(&is_over, memory_order_relaxed))
        return;
    depth = 1;
    if (atomic_load_explicit(&is_child, memory_order_relaxed))
        atomic_store_explicit(&is_child, 0, memory_order_relaxed); /* the driver works in it */
    if (status >= 0 && c->work.kernel)
        note_run(c->work.kernel, c->work.variant);
    c->status = status;
    c->next = atomic_load_explicit(&l->finished, memory_order_relaxed);
    /* Release pairs with the acquire in collect(). */
    while (!atomic_compare_exchange_weak_explicit(&l->finished, &c->next, c,
                                                  memory_order_release, memory_order_relaxed)) {
    }
    /* Acquire and release: the last one sees what the others have handed over. */
    if (atomic_fetch_sub_explicit(&l->n_enqueued, 1, memory_order_acq_rel) == 1)
        collect(l);
    depth = outer;
}

/* The command of CALL; NULL: no memory. */
static struct command *make_command(const struct osc_cl_call *call,
                                    const struct osc_cl_work *work)
{
    struct command *const c = take(call->queue->number);

    if (!c)
        return NULL;
    /* Relaxed: `state` tells of it. */
    atomic_store_explicit(&c->event, *call->event, memory_order_relaxed);
    c->device = call->queue->device;
    c->queue = call->queue->number;
    c->launch = call->launch;
    c->before = call->before;
    c->after = osc_now();
    c->work = *work;
    /* Relaxed: whoever looks at the end may see what C was before. */
    atomic_store_explicit(&c->is_cold, work->kernel && !has_run(work->kernel, work->variant),
                          memory_order_relaxed);
    c->has_readings = call->has_readings;
    if (c->has_readings) {
        c->readings = call->readings;
        osc_cl_read_clocks(c->readings.after_ns);
    }
    atomic_fetch_add_explicit(&list_of(c->queue)->n_enqueued, 1, memory_order_relaxed);
    /* Release pairs with the load in find_rest(). */
    atomic_store_explicit(&c->state, ENQUEUED, memory_order_release);
    return c;
}

/* Let C with EVENT, of which nobody will tell, be used again. */
static void forget(struct command *c, cl_event event)
{
    struct list *const l = list_of(c->queue);

    let_go(c, event);
    atomic_fetch_sub_explicit(&l->n_enqueued, 1, memory_order_relaxed);
    give_back(l, c, c);
}

/* Follow the command of CALL until it ends. */
static void follow(const struct osc_cl_call *call, const struct osc_cl_work *work)
{
    const cl_event event = *call->event;
    struct command *const c =
        call->queue->is_timed && osc_cl.clSetEventCallback ? make_command(call, work) : NULL;

    if (call->event != &call->own)
        (void)osc_cl.clRetainEvent(event);
    if (!c || osc_cl.clSetEventCallback(event, CL_COMPLETE, finished, c) != CL_SUCCESS) {
        count(COUNT_UNTIMED, 1);
        if (c)
            forget(c, event);
        else
            (void)osc_cl.clReleaseEvent(event);
    }
}

cl_int osc_cl_end(struct osc_cl_call *c, cl_int error, const struct osc_cl_work *work)
{
    if (c->is_lost && error == CL_SUCCESS)
        count(COUNT_UNKNOWN, 1);
    if (!c->queue)
        return error;
    if (error == CL_SUCCESS && *c->event)
        follow(c, work);
    else if (error == CL_SUCCESS)
        count(COUNT_UNTIMED, 1);
    osc_end();
    collect(list_of(c->queue->number));
    depth = 0;
    return error;
}

/* --- the end of the process ----------------------------------------------------------- */

/* The commands that have not finished. */
struct rest {
    int64_t n, n_started, n_failed; /* all; those that the device has; that have failed */
    bool has_cold;
};

/* Whether this process has enqueued commands that are followed. */
static bool has_made_any(void)
{
    bool any = false;

    for (uint32_t i = 0; i < N_LISTS; i++)
        any |= atomic_load_explicit(&lists[i].made, memory_order_relaxed) != NULL;
    return any;
}

/* What the driver says of EVENT. */
static cl_int status_of(cl_event event)
{
    cl_int status = CL_QUEUED;

    if (!osc_cl.clGetEventInfo ||
        osc_cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                              NULL) != CL_SUCCESS)
        return CL_QUEUED;
    return status;
}

/* Unless ASKS, the driver is not asked which of them have started. */
static struct rest find_rest(bool asks)
{
    struct {
        cl_event event;
        bool is_cold;
    } looked_at[LOOK_AT];
    uint32_t n = 0;
    struct rest r = {0};

    for (uint32_t i = 0; i < N_LISTS; i++) {
        collect(&lists[i]);
        /* Acquire pairs with the release in take(). */
        for (struct command *c = atomic_load_explicit(&lists[i].made, memory_order_acquire); c;
             c = c->made_before) {
            if (atomic_load_explicit(&c->state, memory_order_seq_cst) == UNUSED)
                continue;
            const bool is_cold = atomic_load_explicit(&c->is_cold, memory_order_relaxed) != 0;
            r.n++;
            if (n == LOOK_AT || !asks) {
                r.has_cold |= is_cold;
                continue;
            }
            looked_at[n].is_cold = is_cold;
            looked_at[n++].event = atomic_load_explicit(&c->event, memory_order_relaxed);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const cl_int status = status_of(looked_at[i].event);

        r.n_started += status == CL_RUNNING || status == CL_SUBMITTED;
        r.n_failed += status < 0; /* of which some drivers do not tell */
        r.has_cold |= looked_at[i].is_cold && status > CL_COMPLETE; /* or it is to be told */
    }
    return r;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/*
 * Drivers crash if the process waits while they compile: there is no waiting for a kernel that
 * has never run for such a work group. Commands that wait for an event of the program, which is
 * ending, never start. In the child of a fork the driver may have lost its threads.
 * Returns whether a driver may be compiling.
 */
static bool drain(void)
{
    /* Once: handlers of exit() and our destructor ask. Relaxed: they run one after the other.
     */
    if (!osc_cl.clSetEventCallback || !osc_is_on() || getpid() != owner || !has_made_any() ||
        atomic_load_explicit(&is_over, memory_order_relaxed) ||
        atomic_exchange_explicit(&is_draining, 1, memory_order_seq_cst) != 0)
        return false;
    const bool waits = !atomic_load_explicit(&is_child, memory_order_relaxed);
    const uint64_t until = now_ns() + DRAIN_NS, until_started = now_ns() + START_NS;
    struct rest r = find_rest(waits);
    while (waits && r.n > r.n_failed && !r.has_cold &&
           now_ns() < (r.n_started > 0 ? until : until_started)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        r = find_rest(waits);
    }
    if (r.n_failed > 0)
        count(COUNT_FAILED, (uint64_t)r.n_failed);
    if (r.n > r.n_failed)
        count(COUNT_UNFINISHED, (uint64_t)(r.n - r.n_failed));
    osc_cl_each_device(osc_cl_clock_end);
    return r.has_cold;
}

/*
 * Called by exit() before the compiler of a driver ends, if it was registered after that began:
 * a recording that takes a moment to end must end now if a thread of the driver is compiling,
 * which crashes soon after its compiler has ended.
 */
static void leave(void)
{
    if (drain())
        (void)osc_stop();
}

void osc_cl_work_expect_exit(void)
{
    static _Atomic uint32_t n;

    /* Relaxed: once too often does no harm. */
    if (atomic_fetch_add_explicit(&n, 1, memory_order_relaxed) < EXITS_MAX)
        (void)atexit(leave);
}

void osc_cl_work_drain(void)
{
    (void)drain();
}

/* The child of a fork leaves the commands of its parent alone, which never end in it, and has a
 * copy of each lock that nobody may open. Relaxed: it has one thread. */
static void leave_to_parent(void)
{
    const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;

    for (uint32_t i = 0; i < N_LISTS; i++) {
        struct list *const l = &lists[i];

        memcpy(&l->lock, &free_lock, sizeof l->lock);
        l->unused = NULL;
        atomic_store_explicit(&l->made, NULL, memory_order_relaxed);
        atomic_store_explicit(&l->finished, NULL, memory_order_relaxed);
        atomic_store_explicit(&l->n_enqueued, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&is_draining, 0, memory_order_relaxed);
    atomic_store_explicit(&is_child, 1, memory_order_relaxed);
    osc_cl_queues_forked();
    owner = getpid();
}

void osc_cl_work_begin(void)
{
    if (owner == 0)
        (void)pthread_atfork(NULL, NULL, leave_to_parent);
    owner = getpid();
    atomic_store_explicit(&is_draining, 0, memory_order_relaxed);
    atomic_store_explicit(&is_over, 0, memory_order_relaxed);
}

void osc_cl_work_end(void)
{
    osc_cl_work_drain();
    atomic_store_explicit(&is_over, 1, memory_order_relaxed);
}
