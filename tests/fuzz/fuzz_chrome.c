/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_chrome.c - read any bytes as a trace: no crash, and every path gives the same trace.
 *
 * The text is read by the slow path only, on one thread, in one piece; then by each kernel on
 * two threads, in units and blocks of odd sizes. Both must give the same status and the same
 * fingerprint. Then again with some option that leaves something out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "import/import.h"
#include "support/fingerprint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
    osc_status status;
    uint64_t fingerprint;
};

static struct result load(const uint8_t *data, size_t size, const struct osc_import_options *o)
{
    const struct osc_str text = {(const char *)data, (uint32_t)size};
    struct osc_trace t = {0};
    struct osc_err err = {0};
    struct result r = {.status = osc_import_memory(&t, "fuzz", text, o, &err)};

    if (r.status == OSC_OK)
        r.fingerprint = fingerprint(&t);
    osc_trace_fini(&t);
    return r;
}

/* Check that both paths agree, also with the options EXTRA. */
static void compare(const uint8_t *data, size_t size, const struct osc_import_options *extra,
                    const struct osc_import_options *ways, size_t n_ways)
{
    struct osc_import_options o = {.n_threads = 1, .kernel = "none"};

    o.no_args = extra->no_args;
    o.keep = extra->keep;
    const struct result expected = load(data, size, &o);
    for (size_t i = 0; i < n_ways; i++) {
        o = ways[i];
        o.no_args = extra->no_args;
        o.keep = extra->keep;
        const struct result got = load(data, size, &o);
        if (got.status == expected.status && got.fingerprint == expected.fingerprint)
            continue;
        (void)fprintf(stderr, "way %zu of %zu (no_args %d, keep %d): status %d, not %d\n", i,
                      n_ways, o.no_args, o.keep.is_on, got.status, expected.status);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct osc_import_options ways[] = {
        {.n_threads = 1, .kernel = "plain"},
        {.n_threads = 1, .block_bytes = 61},
        {.n_threads = 2, .unit_bytes = 200, .block_bytes = 1021},
        {.n_threads = 2, .unit_bytes = 1000, .block_bytes = 300, .kernel = "plain"},
    };
    static const struct osc_import_options nothing,
        others[] = {
            {.no_args = true},
            {.keep =
                 {.is_on = true, .from_ns = 1500, .host_to_ns = 3000, .device_to_ns = 5000}},
            {.keep = {.is_on = true, .is_scout = true}},
        };

    if (size > UINT32_MAX)
        return 0;
    compare(data, size, &nothing, ways, sizeof ways / sizeof *ways);
    /* The size selects an option, so that the same input always runs the same way. */
    compare(data, size, &others[size % (sizeof others / sizeof *others)], ways + 2, 1);
    return 0;
}
