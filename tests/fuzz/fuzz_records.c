/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_records.c - read any bytes as a recording: no crash, and the same trace every time.
 *
 * Reading a mutated file would end at the first wrong hash. So each input is read as it is, and
 * then with the hashes of all its chunks corrected, so that the readers of payloads are tested,
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "support/fingerprint.h"
#include "support/mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t load(const uint8_t *data, size_t size, const struct osc_import_options *o)
{
    const struct osc_str text = {(const char *)data, (uint32_t)size};
    struct osc_trace t = {0};
    struct osc_err err = {0};
    osc_status st = osc_import_memory(&t, "fuzz", text, o, &err);
    if (st == OSC_OK)
        st = osc_trace_touch(&t, 1, &err);
    const uint64_t print = st == OSC_OK ? fingerprint(&t) : (uint64_t)st;

    osc_trace_fini(&t);
    return print;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct osc_import_options ways[] = {
        {.n_threads = 1},
        {.n_threads = 2, .no_args = true},
        {.keep = {.is_on = true, .from_ns = 1500, .host_to_ns = 3000, .device_to_ns = 5000}},
        {.keep = {.is_on = true, .is_scout = true}},
    };
    uint8_t *copy = size <= UINT32_MAX ? malloc(size + 1) : NULL;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    (void)load(copy, size, &ways[0]);
    mend(copy, size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (load(copy, size, &ways[i]) != load(copy, size, &ways[i]))
            abort();
    free(copy);
    return 0;
}
