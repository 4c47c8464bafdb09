/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broken_text.h - traces of JSON that need a repair, and what must come of each.
 *
 * Threading: unit tests; one thread.
 */
#pragma once

#include "import/import.h"
#include "support/fingerprint.h"
#include "support/unit.h"

/* The expected number of events; CODE is counted once. */
struct broken {
    const char *json;
    enum osc_finding_code code;
    uint32_t n_rows;
};

/* Load JSON, which must be readable; the caller ends the trace. */
static inline struct osc_trace load_by(const char *json, const struct osc_import_options *o)
{
    struct osc_trace t = {0};

    assert_int_equal(osc_import_memory(&t, "test", osc_str_c(json), o, NULL), OSC_OK);
    return t;
}

/* The same by one thread. */
static inline struct osc_trace load(const char *json)
{
    return load_by(json, &(struct osc_import_options){.n_threads = 1});
}

static inline uint64_t count(const struct osc_trace *t, enum osc_finding_code code)
{
    return t->findings.by_code[code].count;
}

static inline void assert_same_by(const struct osc_trace *t, const char *json,
                                  const struct osc_import_options *o)
{
    struct osc_trace other = load_by(json, o);

    assert_true(fingerprint(t) == fingerprint(&other));
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++)
        assert_memory_equal(&other.findings.by_code[i], &t->findings.by_code[i],
                            sizeof t->findings.by_code[i]);
    osc_trace_fini(&other);
}

/* Check that T, of JSON, is the same if threads read pieces of the text. */
static inline void assert_same_in_pieces(const struct osc_trace *t, const char *json)
{
    assert_same_by(
        t, json,
        &(struct osc_import_options){.n_threads = 2, .unit_bytes = 8, .block_bytes = 1});
    for (uint32_t bytes = 1; bytes < 64; bytes += 7)
        assert_same_by(t, json,
                       &(struct osc_import_options){.n_threads = 3, .unit_bytes = bytes});
}

/* Check the N texts CASES, whole and in pieces. */
static inline void assert_repaired(const struct broken *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct osc_trace t = load(cases[i].json);

        if (t.events.n_rows != cases[i].n_rows || count(&t, cases[i].code) != 1)
            fail_msg("%s: %u rows, %s %llu times", cases[i].json, t.events.n_rows,
                     osc_finding_code_text(cases[i].code),
                     (unsigned long long)count(&t, cases[i].code));
        assert_same_in_pieces(&t, cases[i].json);
        osc_trace_fini(&t);
    }
}
