/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_rows.h - a run of ranks, made of collectives that a test writes down.
 */
#pragma once

#include "analysis/ranks/rank_run.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "support/unit.h"

/* A collective of a rank. */
struct small_call {
    int64_t start_ns, end_ns;
    int64_t seq;      /* -1: none */
    int64_t elements; /* -1: not known */
    enum osc_collective op;
};

static struct osc_result parts;
static struct osc_rank_run run;

static inline int end_run(void **state)
{
    (void)state;
    osc_rank_run_fini(&run);
    osc_result_fini(&parts);
    return 0;
}

static inline void begin_run(void)
{
    end_run(NULL);
    osc_result_init(&parts, &osc_table_ranks);
}

/* Add a file of RANK, in group GROUP, on HOST, whose times count from 0. */
static inline void add_file(int32_t rank, const char *group, const char *host,
                            const struct small_call *v, size_t n)
{
    const uint32_t first = parts.def->n_columns - OSC_RANK_HIDDEN;
    struct osc_rank_words words = {0};
    struct osc_rank_part part = {0};
    struct osc_strbuf bytes = {0};
    uint32_t word, name;

    assert_int_equal(osc_rank_word(&words, osc_str_c(group), &word), OSC_OK);
    assert_int_equal(osc_rank_word(&words, OSC_STR("collective"), &name), OSC_OK);
    assert_int_equal(osc_rank_word(&words, osc_str_c(host), &part.host), OSC_OK);
    assert_int_equal(osc_grow(&part.calls, &part.cap_calls, n, sizeof *part.calls), OSC_OK);
    assert_int_equal(osc_grow(&part.ranges, &part.cap_ranges, n, sizeof *part.ranges), OSC_OK);
    for (size_t k = 0; k < n; k++) {
        part.ranges[part.n_ranges++] = (struct osc_interval){v[k].start_ns, v[k].end_ns};
        part.calls[part.n_calls++] = (struct osc_rank_call){.start_ns = v[k].start_ns,
                                                            .end_ns = v[k].end_ns,
                                                            .seq = v[k].seq,
                                                            .in_bytes = -1,
                                                            .bytes = -1,
                                                            .elements = v[k].elements,
                                                            .name = name,
                                                            .group = word,
                                                            .first = (uint32_t)k,
                                                            .n_ranges = 1,
                                                            .op = (uint8_t)v[k].op};
    }
    osc_rank_part_pack(&part, &words, &bytes);
    assert_int_equal(bytes.status, OSC_OK);
    osc_result_row(&parts);
    osc_result_int(&parts, first + OSC_RANK_OF, rank);
    osc_result_int(&parts, first + OSC_RANK_SPAN, 1);
    osc_result_int(&parts, first + OSC_RANK_BASE, 0);
    osc_result_bool(&parts, first + OSC_RANK_BESIDE, false);
    osc_result_str(&parts, first + OSC_RANK_PACKED,
                   (struct osc_str){bytes.s, (uint32_t)bytes.len});
    assert_int_equal(parts.status, OSC_OK);
    osc_strbuf_fini(&bytes);
    osc_rank_part_fini(&part);
    osc_rank_words_fini(&words);
}

static inline void open_run(void)
{
    assert_int_equal(osc_rank_run_open(&run, &parts), OSC_OK);
}
