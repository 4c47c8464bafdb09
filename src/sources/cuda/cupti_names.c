/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_names.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/cuda/cupti_devices.h"
#include "sources/source_memory.h"
#include "sources/source_text.h"

/* --- kernels ----------------------------------------------------------------------------- */

#define SYMBOL_BITS 10u

typedef char *demangle_function(const char *symbol, char *out, size_t *bytes, int *status);

/* By the address of the symbol, which CUPTI keeps: to find the text without reading it all. */
static _Atomic(struct osc_text *) symbols[1u << SYMBOL_BITS];

/* The last result of a thread, which the function takes back to write the next. Few threads
 * read records; what they had stays when they end. */
static _Thread_local struct {
    char *text;
    size_t bytes;
} result __attribute__((tls_model("initial-exec")));

/* That of the C++ library of the process; NULL: there is none. */
static demangle_function *find_demangle(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    void *function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    demangle_function *found;

    for (size_t i = 0; !function && i < sizeof libraries / sizeof *libraries; i++) {
        void *const library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

        if (library)
            function = dlsym(library, "__cxa_demangle");
    }
    memcpy(&found, &function, sizeof found);
    return found;
}

/* The name of C++ of SYMBOL; 0: it is none, or nobody can tell. */
static osc_name demangle(const char *symbol)
{
    demangle_function *const function = strncmp(symbol, "_Z", 2) == 0 ? find_demangle() : NULL;
    osc_name name = 0;
    int status = -1;

    if (!function)
        return 0;
    char *const cxx = function(symbol, result.text, &result.bytes, &status);
    if (cxx && status == 0) {
        result.text = cxx;
        name = osc_name_c(cxx);
    }
    return name;
}

/* Name TEXT, a symbol, for the first time. */
static osc_name name_symbol(struct osc_text *text)
{
    osc_name name = demangle(text->bytes);

    if (name == 0)
        name = osc_name_of(text->bytes, text->len);
    /* Relaxed: every thread stores the same number. */
    atomic_store_explicit(&text->kernel, name, memory_order_relaxed);
    return name;
}

osc_name osc_cupti_kernel_name(const char *symbol)
{
    if (!symbol)
        return OSC_SOURCE_NAME("<unknown>");
    const uint64_t hash = (uint64_t)(uintptr_t)symbol * UINT64_C(0x9e3779b97f4a7c15);
    _Atomic(struct osc_text *) *const slot = &symbols[hash >> (64 - SYMBOL_BITS)];
    /* Acquire pairs with the release below. */
    struct osc_text *text = atomic_load_explicit(slot, memory_order_acquire);

    if (!text || strcmp(text->bytes, symbol) != 0) {
        text = osc_text_find_c(symbol);
        atomic_store_explicit(slot, text, memory_order_release);
    }
    const osc_name name = atomic_load_explicit(&text->kernel, memory_order_relaxed);
    return name != 0 ? name : name_symbol(text);
}

/* --- arguments ---------------------------------------------------------------------------- */

#define PLACE_BITS 16u
#define PLACES_MAX (1u << (PLACE_BITS - 1))
#define PROBES     16u

/* A place that occurred, and the recorder's name for its arguments. */
struct known {
    struct osc_cupti_place place;
    osc_name pairs;
};

static _Atomic(struct known *) places[1u << PLACE_BITS];
static _Atomic uint32_t n_places;

/* Keys and values of osc_args_json(). */
struct pairs {
    osc_name names[24];
    uint32_t n;
};

__attribute__((format(printf, 3, 4))) static void add(struct pairs *p, const char *key,
                                                      const char *format, ...)
{
    char text[80];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    p->names[p->n++] = osc_name_c(key);
    p->names[p->n++] = osc_name_c(text);
}

/* X with as few digits as tell it from other floats, and without an exponent. */
static void add_float(struct pairs *p, const char *key, float x)
{
    char text[60];
    int digits = 0;

    do
        (void)snprintf(text, sizeof text, "%.*f", digits++, (double)x);
    while (digits <= 12 && strtof(text, NULL) != x);
    add(p, key, "%s", text);
}

static void add_launch(struct pairs *p, const struct osc_cupti_place *place)
{
    const struct osc_cupti_launch *const l = &place->launch;
    const struct osc_cupti_occupancy o =
        osc_cupti_occupancy_of(osc_cupti_device_limits(place->device), l);

    add(p, "grid", "[%" PRId32 ", %" PRId32 ", %" PRId32 "]", l->grid[0], l->grid[1],
        l->grid[2]);
    add(p, "block", "[%" PRId32 ", %" PRId32 ", %" PRId32 "]", l->block[0], l->block[1],
        l->block[2]);
    add(p, "registers per thread", "%" PRIu32, l->registers);
    add(p, "shared memory", "%" PRIu32, l->shared_bytes);
    if (!o.is_known)
        return;
    add_float(p, "blocks per SM", o.blocks_per_unit);
    add_float(p, "warps per SM", o.warps_per_unit);
    add(p, "est. achieved occupancy %", "%" PRId32, o.percent);
}

static osc_name name_pairs(const struct osc_cupti_place *place)
{
    struct pairs p = {.n = 0};

    add(&p, "context", "%" PRIu32, place->context);
    add(&p, "stream", "%" PRId32, (int32_t)place->stream);
    if (place->launch.grid[0] != 0)
        add_launch(&p, place);
    if (place->from_device != 0) {
        add(&p, "fromDevice", "%" PRIu32, place->from_device - 1);
        add(&p, "toDevice", "%" PRIu32, place->to_device - 1);
    }
    if (place->graph != 0) {
        add(&p, "graph id", "%" PRIu32, place->graph);
        add(&p, "graph node id", "%" PRIu64, place->graph_node);
    }
    return osc_name_of((const char *)p.names, p.n * sizeof *p.names);
}

#define PLACE_WORDS (sizeof(struct osc_cupti_place) / sizeof(uint64_t))

_Static_assert(sizeof(struct osc_cupti_place) == PLACE_WORDS * 8, "places have no gaps");

/* The products do not wait for each other. */
static uint32_t hash_of(const struct osc_cupti_place *place)
{
    uint64_t words[PLACE_WORDS], hash = 0, odd = UINT64_C(0x9e3779b97f4a7c15);

    memcpy(words, place, sizeof words);
    for (size_t i = 0; i < PLACE_WORDS; i++, odd += UINT64_C(0xd6e8feb86659fd92))
        hash += (words[i] ^ words[i] >> 32) * odd;
    hash = (hash ^ hash >> 29) * UINT64_C(0xa0761d6478bd642f);
    return (uint32_t)(hash >> (64 - PLACE_BITS));
}

static bool is_same(const struct osc_cupti_place *a, const struct osc_cupti_place *b)
{
    uint64_t x[PLACE_WORDS], y[PLACE_WORDS], differs = 0;

    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (size_t i = 0; i < PLACE_WORDS; i++)
        differs |= x[i] ^ y[i];
    return differs == 0;
}

/* Store PLACE in the free slot AT. Returns the name of its arguments; 0: there is no room. */
static osc_name store(const struct osc_cupti_place *place, _Atomic(struct known *) *at)
{
    /* Relaxed: only a bound. */
    if (atomic_load_explicit(&n_places, memory_order_relaxed) >= PLACES_MAX)
        return 0;
    atomic_fetch_add_explicit(&n_places, 1, memory_order_relaxed);
    struct known *const k = osc_source_memory(sizeof *k);
    struct known *none = NULL;
    const osc_name pairs = name_pairs(place);

    if (k && pairs != 0) {
        k->place = *place;
        k->pairs = pairs;
        /* Release pairs with the acquire in pairs_of(). If another thread took the slot, this
         * place gets another one next time. */
        (void)atomic_compare_exchange_strong_explicit(at, &none, k, memory_order_release,
                                                      memory_order_relaxed);
    }
    return pairs;
}

/* The name of the arguments of PLACE; 0: it has no slot, and there is no room for one. */
static osc_name pairs_of(const struct osc_cupti_place *place)
{
    const uint32_t hash = hash_of(place);

    for (uint32_t i = 0; i < PROBES; i++) {
        _Atomic(struct known *) *const at = &places[(hash + i) & ((1u << PLACE_BITS) - 1)];
        const struct known *const k = atomic_load_explicit(at, memory_order_acquire);

        if (!k)
            return store(place, at);
        if (is_same(&k->place, place))
            return k->pairs;
    }
    return 0;
}

/* A program that makes a graph anew in each step has ever new nodes: without a slot, they are
 * no names, which a recording keeps. */
static void add_unknown_place(const struct osc_cupti_place *place)
{
    struct osc_cupti_place plain = *place;

    plain.graph = 0;
    plain.graph_node = 0;
    osc_args_json(name_pairs(&plain));
    if (place->graph != 0) {
        osc_arg_i64(OSC_SOURCE_NAME("graph id"), place->graph);
        osc_arg_i64(OSC_SOURCE_NAME("graph node id"), (int64_t)place->graph_node);
    }
}

void osc_cupti_add_place(const struct osc_cupti_place *place)
{
    const osc_name pairs = pairs_of(place);

    if (pairs != 0)
        osc_args_json(pairs);
    else
        add_unknown_place(place);
}
