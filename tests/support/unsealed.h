/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unsealed.h - traces in the state before sealing, for tests of sealing.
 *
 * Text is JSON with '...' for strings. Times are microseconds in the text and
 * nanoseconds in the trace.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "import/build/reader.h"

/* Read TEXT into T, which is zeroed. The caller must free T in any case. */
static inline osc_status unsealed_read(struct osc_trace *t, const char *text)
{
    const struct osc_import_options options = {.n_threads = 1};
    struct osc_strbuf json = {0};
    struct osc_loading loading;
    struct osc_input in;

    osc_strbuf_adds(&json, text);
    if (json.status != OSC_OK)
        return json.status;
    for (size_t i = 0; i < json.len; i++)
        json.s[i] = json.s[i] == '\'' ? '"' : json.s[i];
    osc_input_open_memory(&in, "unsealed", (struct osc_str){json.s, (uint32_t)json.len});

    osc_status st = osc_loading_init(&loading, t);
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, OSC_STR("chrome"), &t->format, NULL);
    struct osc_reading r = {.in = &in,
                            .loading = &loading,
                            .options = &options,
                            .n_threads = 1,
                            .block_bytes = 65536};
    if (st == OSC_OK)
        st = osc_readers[0]->read(&r, NULL);
    osc_loading_fini(&loading);
    osc_strbuf_fini(&json);
    return st;
}

/* Do WORK on TEXT; fail the first allocation, then the second, ... until it succeeds. */
static inline void unsealed_survives(const char *text, osc_status (*work)(struct osc_trace *t))
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct osc_trace t = {0};

        assert_int_equal(unsealed_read(&t, text), OSC_OK);
        osc_mem_fail_after(n);
        st = work(&t);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || (st == OSC_ENOMEM && n < 1000));
        osc_trace_fini(&t);
        assert_int_equal(osc_mem_held(), 0);
    }
}
