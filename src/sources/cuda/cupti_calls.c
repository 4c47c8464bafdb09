/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_calls.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "opscope/source.h"
#include "sources/cuda/cupti_abi.h"
#include "sources/source_thread.h"

#define CALLS_MAX 1024u /* numbers of CUPTI; names of later ones are looked up each time */

/*
 * Launches by correlation id: ids are consecutive, so work finds its launch unless
 * 2^LAUNCH_BITS calls were made meanwhile. A place has the number of the launch and the high
 * bits of the id. Pages that are never used take no memory.
 */
#define LAUNCH_BITS 20u
#define ID_BITS     (32u - LAUNCH_BITS)

static _Atomic uint64_t launches[1u << LAUNCH_BITS];

/* Names by domain and number. */
static _Atomic uint32_t names[2][CALLS_MAX];

/* Grows when calls begin to be reported anew. */
static _Atomic uint32_t generation;

/* The calls of this thread that are under way. */
static _Thread_local struct {
    uint32_t generation, depth;
    uint64_t launch; /* of the outermost one; OSC_CUPTI_OF_NONE: it is not recorded */
} self __attribute__((tls_model("initial-exec")));

void osc_cupti_calls_begin(void)
{
    /* Relaxed: a thread that sees it late has no call under way. */
    atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void set_launch(uint32_t correlation, uint64_t launch)
{
    /* Relaxed: one word, and the call that launches comes after it. */
    atomic_store_explicit(&launches[correlation & ((1u << LAUNCH_BITS) - 1)],
                          launch << ID_BITS | correlation >> LAUNCH_BITS, memory_order_relaxed);
}

uint64_t osc_cupti_launch_of(uint32_t correlation)
{
    const uint64_t word = atomic_load_explicit(
        &launches[correlation & ((1u << LAUNCH_BITS) - 1)], memory_order_relaxed);

    return (word & ((1u << ID_BITS) - 1)) == correlation >> LAUNCH_BITS ? word >> ID_BITS : 0;
}

/* Name the function S as Kineto does: without the version, such as in cudaMalloc_v3020. */
static osc_name make_name(const char *s)
{
    const char *const version = s ? strstr(s, "_v") : NULL;
    const size_t n_digits = version ? strspn(version + 2, "0123456789") : 0;

    if (!s)
        return osc_name_c("<unknown>");
    return n_digits >= 4 && version[2 + n_digits] == '\0'
               ? osc_name_of(s, (size_t)(version - s))
               : osc_name_c(s);
}

static osc_name name_of(int domain, uint32_t number, const char *s)
{
    if (number >= CALLS_MAX)
        return make_name(s);
    _Atomic uint32_t *const place = &names[domain == OSC_CUPTI_RUNTIME][number];
    /* Relaxed: every thread gets the same number. */
    osc_name name = atomic_load_explicit(place, memory_order_relaxed);
    if (name == 0) {
        name = make_name(s);
        atomic_store_explicit(place, name, memory_order_relaxed);
    }
    return name;
}

/* Only outermost calls are recorded, as in Kineto's traces: a call of the runtime makes calls
 * of the driver. Work may have the id of either. */
static void enter(int domain, uint32_t number, const struct osc_cupti_call *call)
{
    const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);

    if (self.generation != now) {
        self.generation = now;
        self.depth = 0;
    }
    if (self.depth++ == 0) {
        self.launch = OSC_CUPTI_OF_NONE;
        if (osc_is_on() && !osc_runtime_is_inside()) {
            osc_source_heed();
            osc_begin(domain == OSC_CUPTI_RUNTIME ? OSC_SCOPE_RUNTIME : OSC_SCOPE_DRIVER,
                      name_of(domain, number, call->name));
            self.launch = osc_launch();
        }
    }
    set_launch(call->correlation, self.launch);
}

static void leave(void)
{
    /* Relaxed: as above. */
    if (self.generation != atomic_load_explicit(&generation, memory_order_relaxed) ||
        self.depth == 0)
        return;
    if (--self.depth == 0 && self.launch != OSC_CUPTI_OF_NONE)
        osc_end();
}

void osc_cupti_on_call(void *user, int domain, uint32_t call, const void *data)
{
    const struct osc_cupti_call *const c = data;

    (void)user;
    if (!c || (domain != OSC_CUPTI_RUNTIME && domain != OSC_CUPTI_DRIVER))
        return;
    if (c->site == OSC_CUPTI_ENTER)
        enter(domain, call, c);
    else
        leave();
}
