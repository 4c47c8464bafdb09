/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector for CUDA: calls by CUPTI's callbacks, work of devices by its records.
 *
 * The driver calls InitializeInjection() of the library that CUDA_INJECTION64_PATH names, when
 * a program first uses it; opscope.torch starts the source as collect.h says. Times of records
 * are ticks of osc_now(), which CUPTI asks for. Where it does not ask, its own clock is
 * compared with ours. If somebody else has subscribed to CUPTI, nothing is enabled.
 */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "opscope/source.h"
#include "sources/collect.h"
#include "sources/cuda/cupti_buffers.h"
#include "sources/cuda/cupti_calls.h"
#include "sources/cuda/cupti_devices.h"
#include "sources/cuda/cupti_state.h"
#include "sources/source_state.h"
#include "sources/source_thread.h"

#define FLUSH_SECONDS  1
#define REPORT_WAIT_NS 20000000
#define EXIT_SECONDS   2 /* how long the end of a process waits for a flush that is under way */

static struct osc_source source = {.name = "cuda"};

/* What happens one after the other: start, stop, and flushes. Nothing that CUPTI calls takes
 * it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static bool is_started, has_thread, has_exit;
static bool is_injected; /* started by the driver: for as long as the process lives */
static bool is_child;    /* of a process that started */
static void *subscriber;
static pid_t owner; /* the process that started */
static char why[192];

static const int kinds[] = {
    /* In this order: what others refer to comes first. */
    OSC_CUPTI_DEVICE, OSC_CUPTI_CONTEXT,  OSC_CUPTI_KERNEL,
    OSC_CUPTI_MEMCPY, OSC_CUPTI_MEMCPY2,  OSC_CUPTI_MEMSET,
    OSC_CUPTI_SYNC,   OSC_CUPTI_OVERHEAD, OSC_CUPTI_MEMORY2};

/* --- the clock ---------------------------------------------------------------------------- */

static uint64_t read_clock(void)
{
    return osc_now();
}

/* Compare the clock of CUPTI with ours, for the device NUMBER. */
static void compare_clock(uint32_t number)
{
    uint64_t ns = 0;
    const uint64_t before = osc_now();

    if (osc_cupti.get_timestamp && osc_cupti.get_timestamp(&ns) == OSC_CUPTI_OK)
        osc_device_clock(number, before, ns, osc_now());
}

static void compare_clocks(void)
{
    if (atomic_load_explicit(&osc_cupti_has_own_clock, memory_order_relaxed))
        osc_cupti_each_device(compare_clock);
}

/* --- flushes ------------------------------------------------------------------------------ */

static void count_dropped(void)
{
    size_t n = 0;

    if (osc_cupti.get_dropped && osc_cupti.get_dropped(NULL, 0, &n) == OSC_CUPTI_OK && n > 0)
        osc_cupti_count(OSC_CUPTI_COUNT_DROPPED, n);
}

/* Let CUPTI complete its buffers. The caller has the lock. */
static void flush(uint32_t flags)
{
    compare_clocks();
    const int error = osc_cupti.flush_all(flags);
    if (error != OSC_CUPTI_OK && error != OSC_CUPTI_NOT_INITIALIZED)
        osc_cupti_count(OSC_CUPTI_COUNT_FLUSHES, 1); /* what CUPTI has is lost, or late */
    compare_clocks(); /* also for devices that these records told of */
    count_dropped();
}

static struct timespec time_in(time_t seconds)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += seconds;
    return t;
}

/* A window or the recording ends: what has finished belongs to it. Another flush that is under
 * way is waited for if it is no long one. */
static void report_finished(void)
{
    struct timespec until = time_in(0);

    until.tv_nsec += REPORT_WAIT_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (getpid() != owner || pthread_mutex_timedlock(&lock, &until) != 0)
        return;
    if (is_started)
        flush(0);
    pthread_mutex_unlock(&lock);
}

/* Report what has finished each second: whatever ends the process loses no more than that. */
static void *flush_often(void *none)
{
    (void)none;
    pthread_mutex_lock(&lock);
    while (is_started) {
        const struct timespec until = time_in(FLUSH_SECONDS);

        if (pthread_cond_timedwait(&ended, &lock, &until) == ETIMEDOUT && is_started &&
            osc_is_on())
            flush(0);
    }
    has_thread = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Begin to flush. The caller has the lock. Without the thread, only the end reports. */
static void begin_thread(void)
{
    pthread_t thread;
    sigset_t all, before;

    if (has_thread)
        return;
    sigfillset(&all); /* the program's handlers run on its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, flush_often, NULL) == 0) {
        has_thread = true;
        (void)pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At the end of the process, before the driver's: report what is there. The work that runs is
 * not waited for; the program did not. A child of a fork has no CUDA. */
static void leave(void)
{
    const struct timespec until = time_in(EXIT_SECONDS);

    if (getpid() != owner || pthread_mutex_timedlock(&lock, &until) != 0)
        return;
    if (is_started) {
        flush(OSC_CUPTI_FLUSH_FORCED);
        is_started = false; /* CUPTI stays as it is: it ends, too */
    }
    pthread_mutex_unlock(&lock);
}

/* --- start and stop -------------------------------------------------------------------------
 */

/* Who has subscribed to CUPTI, into NAME. */
static void find_other(char *name, size_t bytes)
{
    struct osc_cupti_subscriber s = {
        .bytes = sizeof s, .name = "opscope", .old_name = name, .old_name_bytes = bytes};
    void *mine = NULL;

    name[0] = '\0';
    if (osc_cupti.subscribe_by_name &&
        osc_cupti.subscribe_by_name(&mine, osc_cupti_on_call, NULL, &s) == OSC_CUPTI_OK && mine)
        (void)osc_cupti.unsubscribe(mine);
    name[bytes - 1] = '\0';
    if (name[0] == '\0')
        (void)snprintf(name, bytes, "unknown");
}

/* Say what ERROR of cuptiSubscribe() means. */
static void explain(int error)
{
    char name[OSC_CUPTI_NAME_BYTES];

    if (error == OSC_CUPTI_UNKNOWN) {
        (void)snprintf(why, sizeof why, "no usable CUDA driver");
    } else if (error == OSC_CUPTI_SUBSCRIBED || error == OSC_CUPTI_LIMIT) {
        find_other(name, sizeof name);
        (void)snprintf(why, sizeof why,
                       "another profiler (%s) already uses CUPTI in this process; GPU activity "
                       "is not recorded",
                       name);
    } else {
        (void)snprintf(why, sizeof why, "cuptiSubscribe() failed with error %d", error);
    }
}

/* Subscribe to the CUPTI of the process, or else to the newest one that this driver takes. */
static bool subscribe(void)
{
    uint32_t at = 0;
    char missing[sizeof why];

    why[0] = '\0';
    for (;;) {
        if (!osc_cupti_load(&osc_cupti, &at, missing, sizeof missing)) {
            if (why[0] == '\0')
                memcpy(why, missing, sizeof why);
            return false;
        }
        const int error = osc_cupti.subscribe(&subscriber, osc_cupti_on_call, NULL);

        if (error == OSC_CUPTI_OK)
            break;
        explain(error);
        if (error != OSC_CUPTI_UNKNOWN)
            return false;
    }
    why[0] = '\0';
    return true;
}

/* Enable what is recorded. Old versions lack some kinds; without kernels there is no point. */
static bool enable_kinds(void)
{
    const bool is_beside_torch =
        atomic_load_explicit(&osc_cupti_is_beside_torch, memory_order_relaxed) != 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (is_beside_torch && (kinds[i] == OSC_CUPTI_MEMORY2 || kinds[i] == OSC_CUPTI_SYNC))
            continue;
        const int error = osc_cupti.enable(kinds[i]);

        if (error != OSC_CUPTI_OK && kinds[i] == OSC_CUPTI_KERNEL) {
            (void)snprintf(why, sizeof why, "CUPTI records no kernels (error %d)", error);
            return false;
        }
    }
    return true;
}

static void disable_all(void)
{
    (void)osc_cupti.enable_domain(0, subscriber, OSC_CUPTI_RUNTIME);
    (void)osc_cupti.enable_domain(0, subscriber, OSC_CUPTI_DRIVER);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        (void)osc_cupti.disable(kinds[i]);
    (void)osc_cupti.unsubscribe(subscriber);
    subscriber = NULL;
}

/* Ask for the calls of programs, but those that tell nothing. */
static bool enable_calls(void)
{
    static const uint32_t runtime[] = {OSC_CUPTI_CUDA_GET_LAST_ERROR,
                                       OSC_CUPTI_CUDA_SET_DEVICE,
                                       OSC_CUPTI_CUDA_GET_DEVICE,
                                       OSC_CUPTI_CUDA_EVENT_CREATE,
                                       OSC_CUPTI_CUDA_EVENT_CREATE_WITH_FLAGS,
                                       OSC_CUPTI_CUDA_EVENT_DESTROY};
    static const uint32_t driver[] = {
        OSC_CUPTI_CU_DRIVER_GET_VERSION,  OSC_CUPTI_CU_DEVICE_GET,
        OSC_CUPTI_CU_CTX_GET_DEVICE,      OSC_CUPTI_CU_CTX_SET_CURRENT,
        OSC_CUPTI_CU_CTX_GET_CURRENT,     OSC_CUPTI_CU_POINTER_GET_ATTRIBUTE,
        OSC_CUPTI_CU_CTX_PUSH_CURRENT,    OSC_CUPTI_CU_CTX_POP_CURRENT,
        OSC_CUPTI_CU_GET_ERROR_STRING,    OSC_CUPTI_CU_DEVICE_PRIMARY_CTX_GET_STATE,
        OSC_CUPTI_CU_GET_PROC_ADDRESS,    OSC_CUPTI_CU_GET_PROC_ADDRESS_V2,
        OSC_CUPTI_CU_KERNEL_GET_ATTRIBUTE};
    const int error = osc_cupti.enable_domain(1, subscriber, OSC_CUPTI_RUNTIME);

    if (error != OSC_CUPTI_OK) {
        (void)snprintf(why, sizeof why, "CUPTI reports no calls (error %d)", error);
        return false;
    }
    (void)osc_cupti.enable_domain(1, subscriber, OSC_CUPTI_DRIVER);
    for (size_t i = 0; osc_cupti.enable_callback && i < sizeof runtime / sizeof *runtime; i++)
        (void)osc_cupti.enable_callback(0, subscriber, OSC_CUPTI_RUNTIME, runtime[i]);
    for (size_t i = 0; osc_cupti.enable_callback && i < sizeof driver / sizeof *driver; i++)
        (void)osc_cupti.enable_callback(0, subscriber, OSC_CUPTI_DRIVER, driver[i]);
    return true;
}

/* Prepare for records: before the first kind is enabled. */
static bool enable_records(void)
{
    /* Release: none is needed, for records come after. */
    atomic_store_explicit(&osc_cupti_has_own_clock,
                          !osc_cupti.register_clock ||
                              osc_cupti.register_clock(read_clock) != OSC_CUPTI_OK,
                          memory_order_relaxed);
    const int error =
        osc_cupti.register_callbacks(osc_cupti_request_buffer, osc_cupti_complete_buffer);
    if (error != OSC_CUPTI_OK) {
        (void)snprintf(why, sizeof why, "CUPTI takes no buffers (error %d)", error);
        return false;
    }
    return enable_kinds();
}

/* The child of a fork has no CUDA, and a copy of the lock that nobody opens. */
static void forked(void)
{
    const pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER;
    const pthread_cond_t nobody_waits = PTHREAD_COND_INITIALIZER;

    memcpy(&lock, &free_lock, sizeof lock);
    memcpy(&ended, &nobody_waits, sizeof ended);
    is_started = has_thread = false;
    is_child = true;
}

/* The caller has the lock. */
static bool begin(void)
{
    if (is_started)
        return true;
    if (is_child) {
        (void)snprintf(why, sizeof why, "CUDA cannot be used in the child of a fork");
        return false;
    }
    if (!subscribe())
        return false;
    owner = getpid();
    osc_cupti_buffers_begin();
    osc_cupti_calls_begin();
    if (!enable_records() || !enable_calls()) {
        disable_all();
        return false;
    }
    is_started = true;
    osc_before_end(report_finished);
    begin_thread();
    if (!has_exit)
        has_exit = atexit(leave) == 0 && pthread_atfork(NULL, NULL, forked) == 0;
    return true;
}

static void report(void)
{
    char text[160];

    if (!is_started) {
        osc_source_fail(&source, why);
        return;
    }
    (void)snprintf(text, sizeof text, "CUPTI %u in %s%s", osc_cupti.version, osc_cupti.library,
                   osc_cupti.version > OSC_CUPTI_VERSION_KNOWN
                       ? ", newer than this version knows; unknown fields are ignored"
                       : "");
    osc_source_report(&source, text);
}

static int start(void)
{
    pthread_mutex_lock(&lock);
    if (!is_started)
        atomic_store_explicit(&osc_cupti_is_beside_torch, 1, memory_order_relaxed);
    const bool has_begun = begin();
    pthread_mutex_unlock(&lock);
    return has_begun ? 0 : 1;
}

static const char *tell_why(void)
{
    return why;
}

static void stop(void)
{
    pthread_mutex_lock(&lock);
    if (is_started && getpid() == owner) {
        flush(OSC_CUPTI_FLUSH_FORCED);
        if (!is_injected) {
            disable_all();
            is_started = false;
            pthread_cond_signal(&ended);
        }
    }
    pthread_mutex_unlock(&lock);
}

const struct osc_collected osc_collected_cuda = {.start = start, .why = tell_why, .stop = stop};

/* What the driver looks up. NOLINTNEXTLINE(readability-identifier-naming) */
OSC_API int InitializeInjection(void);

/* NOLINTNEXTLINE(readability-identifier-naming) */
int InitializeInjection(void)
{
    if (!osc_source_is_wanted(&source))
        return 1;
    const uint32_t closed = osc_source_self.closed;
    /* Allocations while the recorder starts may call other sources. */
    osc_source_self.closed = OSC_SOURCE_INSIDE;
    osc_source_begin();
    pthread_mutex_lock(&lock);
    if (osc_source_is_beside_torch())
        atomic_store_explicit(&osc_cupti_is_beside_torch, 1, memory_order_relaxed);
    is_injected = begin();
    report();
    pthread_mutex_unlock(&lock);
    osc_source_self.closed = closed;
    return 1;
}
