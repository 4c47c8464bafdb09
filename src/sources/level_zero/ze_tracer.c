/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the Level Zero collector.
 *
 * A tracer can be made only after zeInit() succeeded, and if ZE_ENABLE_TRACING_LAYER was 1
 * then. Newer loaders make one all the same, which nothing ever calls: so one call is made to
 * see whether it arrives.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/collect.h"
#include "sources/level_zero/ze_commands.h"
#include "sources/next_symbol.h"

#define LOADER "libze_loader.so.1"

static const struct osc_ze_hook *const hooks[] = {osc_ze_hooks_appends,
                                                  osc_ze_hooks_calls,
                                                  osc_ze_hooks_events,
                                                  osc_ze_hooks_kernels,
                                                  osc_ze_hooks_lists,
                                                  osc_ze_hooks_memory,
                                                  NULL};

/* Of the start. The loader is called with it, against the rule that locks are leaves: a second
 * thread that initialises Level Zero must not make lists before there is a tracer, so it waits.
 * No callback takes it, and loaders make no thread that calls us. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *outcome;       /* NULL: it was not tried */
static _Atomic uint32_t is_alive; /* the probe arrived */

/* --- functions of the loader ------------------------------------------------------------- */

typedef ze_result_t (*create)(const zel_tracer_desc_t *what, zel_tracer_handle_t *tracer);
typedef ze_result_t (*set_enabled)(zel_tracer_handle_t tracer, ze_bool_t is_on);
typedef ze_result_t (*enable_layer)(void);
typedef ze_result_t (*get_drivers)(uint32_t *n, ze_driver_handle_t *drivers);
typedef ze_result_t (*initialise)(ze_init_flags_t flags);
typedef bool (*is_ending)(void);
/* IS_AFTER: ZEL_REGISTER_PROLOGUE 0, ZEL_REGISTER_EPILOGUE 1. */
typedef ze_result_t (*add_callback)(zel_tracer_handle_t tracer, int is_after,
                                    osc_ze_callback callback);

/* FUNCTION = the symbol NAME of LIBRARY; a function pointer and an object pointer have the same
 * form. */
#define FIND(library, name, function)                    \
    do {                                                 \
        void *const symbol_ = dlsym((library), (name));  \
        memcpy(&(function), &symbol_, sizeof(function)); \
    } while (0)

static void add_hook(void *library, zel_tracer_handle_t tracer, const struct osc_ze_hook *h)
{
    char name[128];
    add_callback add;

    (void)snprintf(name, sizeof name, "zelTracer%sRegisterCallback", h->name);
    FIND(library, name, add);
    if (!add)
        return; /* the loader is older than the call */
    if (h->before)
        (void)add(tracer, 0, h->before);
    if (h->after)
        (void)add(tracer, 1, h->after);
}

static void probed(void *params, ze_result_t result, void *tracer, void **call)
{
    (void)params;
    (void)result;
    (void)tracer;
    (void)call;
    /* Relaxed: the thread that asks has called it. */
    atomic_store_explicit(&is_alive, 1, memory_order_relaxed);
}

static _Atomic uint32_t is_over; /* the loader may have ended */

/* Whether commands can be read, and are recorded. */
static bool is_usable(void)
{
    /* Relaxed: set by the thread that ends the process. */
    return atomic_load_explicit(&is_over, memory_order_relaxed) == 0 && osc_ze_is_alive() &&
           osc_is_on();
}

/* A window or the recording ends: what has finished belongs to it. */
static void report_finished(void)
{
    if (is_usable())
        osc_ze_read_finished();
}

/* Before the loader and drivers end. */
static void leave(void)
{
    void *const library = dlopen(LOADER, RTLD_NOW | RTLD_NOLOAD);
    is_ending ends = NULL;

    if (library)
        FIND(library, "zelCheckIsLoaderInTearDown", ends);
    if (is_usable() && !(ends && ends()))
        osc_ze_drain();
    atomic_store_explicit(&is_over, 1, memory_order_relaxed);
}

/* The version of the loader, as "loader 1.8.12", in TEXT. */
static void describe(void *library, char *text, size_t room)
{
    struct version {
        char component[64];
        uint32_t spec;
        int major, minor, patch;
    } versions[16];
    ze_result_t (*get)(size_t * n, struct version * all);
    size_t n = 0;

    (void)snprintf(text, room, "a tracer of the loader");
    FIND(library, "zelLoaderGetVersions", get);
    if (!get || get(&n, NULL) != ZE_RESULT_SUCCESS || n > sizeof versions / sizeof *versions ||
        get(&n, versions) != ZE_RESULT_SUCCESS)
        return;
    for (size_t i = 0; i < n; i++) {
        versions[i].component[sizeof versions[i].component - 1] = '\0';
        if (strcmp(versions[i].component, "loader") == 0)
            (void)snprintf(text, room, "a tracer of the loader %d.%d.%d", versions[i].major,
                           versions[i].minor, versions[i].patch);
    }
}

/* Returns why there is no tracer; "": there is one. */
static const char *make_tracer(void *library)
{
    const zel_tracer_desc_t what = {.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC,
                                    .pUserData = &is_alive};
    const struct osc_ze_hook probe = {"DriverGet", probed, NULL};
    zel_tracer_handle_t tracer = NULL;
    create make = NULL;
    set_enabled enable = NULL;
    enable_layer enable_late = NULL;
    get_drivers ask = NULL;
    uint32_t n = 0;

    FIND(library, "zelTracerCreate", make);
    FIND(library, "zelTracerSetEnabled", enable);
    FIND(library, "zelEnableTracingLayer", enable_late);
    FIND(library, "zeDriverGet", ask);
    if (!make || !enable || !ask || !osc_ze_find_functions(library))
        return "the loader is too old to be traced";
    if (enable_late)
        (void)enable_late();
    if (make(&what, &tracer) != ZE_RESULT_SUCCESS || !tracer)
        return "the tracer could not be created: set ZE_ENABLE_TRACING_LAYER=1 before the "
               "program starts, and check that libze_tracing_layer.so.1 is beside "
               "libze_loader.so.1";
    for (const struct osc_ze_hook *const *list = hooks; *list; list++) {
        for (const struct osc_ze_hook *h = *list; h->name; h++)
            add_hook(library, tracer, h);
    }
    add_hook(library, tracer, &probe);
    osc_ze_find_devices();
    if (enable(tracer, 1) != ZE_RESULT_SUCCESS || ask(&n, NULL) != ZE_RESULT_SUCCESS ||
        atomic_load_explicit(&is_alive, memory_order_relaxed) == 0) {
        (void)enable(tracer, 0);
        return "the tracing layer is loaded but inactive: ZE_ENABLE_TRACING_LAYER was not 1 "
               "when Level Zero was initialised";
    }
    return "";
}

/* Make the tracer, once, by LIBRARY, a handle of dlopen() of a loader that was initialised. The
 * recorder may not run yet. */
static const char *start_with(void *library)
{
    char text[96];

    pthread_mutex_lock(&lock);
    if (!osc_ze_is_alive()) {
        pthread_mutex_unlock(&lock);
        return "Level Zero cannot be used in the child of a fork";
    }
    if (!outcome) {
        outcome = make_tracer(library);
        if (*outcome) {
            osc_source_fail(&osc_source_level_zero, outcome);
        } else {
            describe(library, text, sizeof text);
            osc_source_report(&osc_source_level_zero, text);
            osc_before_end(report_finished);
            (void)atexit(leave);
        }
    }
    const char *const why = outcome;
    pthread_mutex_unlock(&lock);
    return why;
}

/* The same where nothing has called us: the loader may not be there, or not be initialised. */
static const char *start_here(void)
{
    void *library = dlopen(LOADER, RTLD_NOW | RTLD_NOLOAD);
    initialise init = NULL;

    if (!library)
        library = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "there is no loader of Level Zero (libze_loader.so.1; Debian: libze1)";
    FIND(library, "zeInit", init);
    if (!init || init(0) != ZE_RESULT_SUCCESS)
        return "no driver of Level Zero was found (Debian: libze-intel-gpu1), or the user may "
               "not use the device (group render)";
    return start_with(library);
}

static _Atomic(const char *) why_not; /* what the last start said */
static bool is_injected;              /* it records the whole program */
static _Atomic uint64_t n_before;     /* osc_ze_unseen() at the last start */

static int start(void)
{
    atomic_store_explicit(&osc_ze_is_beside_torch, 1, memory_order_relaxed);
    atomic_store_explicit(&n_before, osc_ze_unseen(), memory_order_relaxed);
    const char *const why = start_here();

    atomic_store_explicit(&osc_ze_is_wanted, 1, memory_order_relaxed);
    /* Relaxed: a caller asks after its own start. */
    atomic_store_explicit(&why_not, why, memory_order_relaxed);
    return *why != '\0';
}

static const char *tell_why(void)
{
    const char *const why = atomic_load_explicit(&why_not, memory_order_relaxed);

    return why ? why : "";
}

static uint64_t tell_unseen(void)
{
    return osc_ze_unseen() - atomic_load_explicit(&n_before, memory_order_relaxed);
}

/* The tracer stays: it has to see the lists that are made before the next start. */
static void stop(void)
{
    if (is_injected)
        atomic_store_explicit(&osc_ze_is_beside_torch, osc_source_is_beside_torch(),
                              memory_order_relaxed);
    else
        atomic_store_explicit(&osc_ze_is_wanted, 0, memory_order_relaxed);
    if (osc_ze_is_alive() && osc_is_on())
        osc_ze_drain();
}

/* What was appended until now belongs to the recording that ends. */
static void settle(void)
{
    if (is_injected && is_usable())
        osc_ze_drain();
}

const struct osc_collected osc_collected_level_zero = {
    .start = start, .why = tell_why, .stop = stop, .unseen = tell_unseen, .settle = settle};

/* --- what programs call ------------------------------------------------------------------ */

/* After an initialisation had RESULT. */
static ze_result_t begun(ze_result_t result, void *library)
{
    if (result == ZE_RESULT_SUCCESS && library &&
        osc_source_is_wanted(&osc_source_level_zero)) {
        if (osc_source_is_beside_torch())
            atomic_store_explicit(&osc_ze_is_beside_torch, 1, memory_order_relaxed);
        is_injected = true;
        atomic_store_explicit(&osc_ze_is_wanted, 1, memory_order_relaxed);
        osc_source_begin();
        (void)start_with(library);
    }
    return result;
}

/* NOLINTBEGIN(readability-identifier-naming): names of Level Zero. */
OSC_API ze_result_t zeInit(ze_init_flags_t flags);
OSC_API ze_result_t zeInitDrivers(uint32_t *n, ze_driver_handle_t *drivers, void *types);

ze_result_t zeInit(ze_init_flags_t flags)
{
    void *library;
    void *const symbol = osc_next_symbol("zeInit", LOADER, &library);
    initialise init;

    memcpy(&init, &symbol, sizeof init);
    return init ? begun(init(flags), library) : ZE_RESULT_ERROR_UNINITIALIZED;
}

/* Of later versions than our headers may be. */
ze_result_t zeInitDrivers(uint32_t *n, ze_driver_handle_t *drivers, void *types)
{
    ze_result_t (*init)(uint32_t * n, ze_driver_handle_t * drivers, void *types);
    void *library;
    void *const symbol = osc_next_symbol("zeInitDrivers", LOADER, &library);

    memcpy(&init, &symbol, sizeof init);
    return init ? begun(init(n, drivers, types), library) : ZE_RESULT_ERROR_UNINITIALIZED;
}
/* NOLINTEND(readability-identifier-naming) */
