/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_chrome.c - any bytes as a trace: no crash, and the same trace by every way.
 *
 * The text is read by the slow path alone, on one thread, in one piece; then by
 * each kernel on two threads in units and blocks of odd sizes. Both must come to
 * the same status and the same fingerprint.
 */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct osc_import_options ways[] = {
        {.n_threads = 1, .kernel = "plain"},
        {.n_threads = 1, .block_bytes = 61},
        {.n_threads = 2, .unit_bytes = 200, .block_bytes = 1021},
        {.n_threads = 2, .unit_bytes = 1000, .block_bytes = 300, .kernel = "plain"},
    };
    const struct osc_import_options slow = {.n_threads = 1, .kernel = "none"};

    if (size > UINT32_MAX)
        return 0;
    const struct result expected = load(data, size, &slow);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct result got = load(data, size, &ways[i]);
        if (got.status != expected.status || got.fingerprint != expected.fingerprint)
            abort();
    }
    return 0;
}
