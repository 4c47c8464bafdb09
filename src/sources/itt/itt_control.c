/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that create domains, strings and clocks, name threads, and pause and resume
 * recording.
 */
#include <string.h>

#include "sources/itt/itt.h"
#include "sources/itt/itt_clock.h"
#include "sources/itt/itt_thread.h"

enum collection_scope { SCOPE_HOST = 1, SCOPE_OFFLOAD = 2 };

/* ITT does not count pauses; the recorder does. */
static _Atomic uint32_t is_paused;

/* --- objects: also for an ignored thread, since clients would crash on NULL --------------- */

static struct osc_itt_domain *domain_create(const char *name)
{
    static struct osc_itt_domain no_memory;
    struct osc_itt_domain_entry *const d = osc_itt_domain(osc_text_find_c(name));

    return d ? &d->abi : &no_memory;
}

static struct osc_itt_string *string_handle_create(const char *name)
{
    return osc_itt_string_of(osc_text_find_c(name));
}

static struct osc_itt_clock *clock_domain_create(osc_itt_clock_fn fn, void *data)
{
    return osc_itt_clock_new(fn, data);
}

static void clock_domain_reset(void)
{
    osc_itt_clock_reset();
}

static uint64_t get_timestamp(void)
{
    return osc_now();
}

const char *osc_itt_version(void)
{
    return "ITT-API-Version 3.26 by opscope";
}

/* --- threads ------------------------------------------------------------------------------ */

static void thread_set_name(const char *name)
{
    if (!name || !osc_is_on() || !osc_itt_enter(&osc_source_self))
        return;
    osc_thread_name(name);
    osc_itt_leave(&osc_source_self);
}

static int thr_name_set(const char *name, int len)
{
    thread_set_name(len > 0 ? osc_text_find(name, (size_t)len)->bytes : name);
    return 0;
}

static void thread_ignore(void)
{
    osc_source_self.closed |= OSC_SOURCE_IGNORED;
}

/* --- pause, resume, detach ------------------------------------------------------------------
 */

/* A call within one of ours may come from an allocator. */
static bool is_free_to(int scope)
{
    return scope != SCOPE_OFFLOAD && !(osc_source_self.closed & OSC_SOURCE_INSIDE);
}

static void pause_scoped(int scope)
{
    /* Relaxed: clients that pause and resume on several threads order that themselves. */
    if (is_free_to(scope) && atomic_exchange_explicit(&is_paused, 1, memory_order_relaxed) == 0)
        osc_pause();
}

static void resume_scoped(int scope)
{
    if (is_free_to(scope) && atomic_exchange_explicit(&is_paused, 0, memory_order_relaxed) == 1)
        osc_resume();
}

static void pause_all(void)
{
    pause_scoped(SCOPE_HOST);
}

static void resume_all(void)
{
    resume_scoped(SCOPE_HOST);
}

/* Stop for good: all later calls are dropped. */
static void detach(void)
{
    if (!is_free_to(SCOPE_HOST))
        return;
    /* Relaxed: see osc_source_enter(). */
    atomic_fetch_or_explicit(&osc_source_state_, OSC_SOURCE_ITT_DETACHED, memory_order_relaxed);
    (void)osc_stop(); /* a failure cannot be reported */
}

const struct osc_itt_binding osc_itt_control[] = {
    {"api_version", (osc_itt_function)osc_itt_version},
    {"clock_domain_create", (osc_itt_function)clock_domain_create},
    {"clock_domain_reset", (osc_itt_function)clock_domain_reset},
    {"detach", (osc_itt_function)detach},
    {"domain_create", (osc_itt_function)domain_create},
    {"get_timestamp", (osc_itt_function)get_timestamp},
    {"pause", (osc_itt_function)pause_all},
    {"pause_scoped", (osc_itt_function)pause_scoped},
    {"resume", (osc_itt_function)resume_all},
    {"resume_scoped", (osc_itt_function)resume_scoped},
    {"string_handle_create", (osc_itt_function)string_handle_create},
    {"thr_ignore", (osc_itt_function)thread_ignore},
    {"thr_name_set", (osc_itt_function)thr_name_set},
    {"thread_ignore", (osc_itt_function)thread_ignore},
    {"thread_set_name", (osc_itt_function)thread_set_name},
    {NULL, NULL},
};
