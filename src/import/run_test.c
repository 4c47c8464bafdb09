/* SPDX-License-Identifier: Apache-2.0 */
#include "import/run.h"

#include "base/mem.h"
#include "support/placed.h"
#include "support/unit.h"

#define MAX_TRACES 6

static struct osc_trace traces[MAX_TRACES];
static struct osc_trace *pointers[MAX_TRACES];

static void add_meta(struct osc_trace *t, const char *key, const char *value)
{
    struct osc_meta *metas = osc_realloc(t->metas, (t->n_metas + 1) * sizeof *metas);
    struct osc_meta *m;

    assert_non_null(metas);
    t->metas = metas;
    m = &metas[t->n_metas++];
    *m = (struct osc_meta){0};
    assert_int_equal(osc_strings_add(&t->strings, osc_str_c(key), &m->key, NULL), OSC_OK);
    assert_int_equal(osc_strings_add(&t->strings, osc_str_c(value), &m->value, NULL), OSC_OK);
}

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAX_TRACES; i++) {
        traces[i] = (struct osc_trace){0};
        pointers[i] = &traces[i];
        if (osc_strings_init(&traces[i].strings) != OSC_OK)
            return -1;
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAX_TRACES; i++)
        osc_trace_fini(&traces[i]);
    return 0;
}

TEST_WITH(words_of_names_tell_ranks_together, begin, end)
{
    static const char *const paths[] = {"1.5-TP-0-DP-0-EP-0.trace.json",
                                        "1.5-TP-1-DP-1-EP-1.trace.json"};

    assert_int_equal(placed(pointers, paths, 2), OSC_OK);
    assert_int_equal(traces[0].rank, 0);
    assert_int_equal(traces[1].rank, 1);
}

TEST_WITH(places_that_no_word_tells_apart_are_numbered, begin, end)
{
    static const char *const paths[] = {"x_tp0_pp1.json", "x_tp1_pp0.json", "x_tp0_pp0.json",
                                        "x_tp1_pp1.json"};

    assert_int_equal(placed(pointers, paths, 4), OSC_OK);
    assert_int_equal(traces[0].rank, 2);
    assert_int_equal(traces[1].rank, 1);
    assert_int_equal(traces[2].rank, 0);
    assert_int_equal(traces[3].rank, 3);
}

TEST_WITH(one_word_alone_may_be_a_size, begin, end)
{
    static const char *const paths[] = {"a-DP-2-TP-0.json", "a-DP-1-TP-0.json",
                                        "model_tp8.json", "http2.json"};

    assert_int_equal(placed(pointers, paths, 4), OSC_OK);
    assert_int_equal(traces[0].rank, 2);
    assert_int_equal(traces[1].rank, 1);
    assert_false(traces[2].has_rank);
    assert_false(traces[3].has_rank);
}

TEST_WITH(metadata_goes_before_the_name, begin, end)
{
    static const char *const paths[] = {"rank7.json", "rank7.json", "rank7.json", "x.json"};

    add_meta(&traces[0], "distributedInfo", "{\"backend\": \"nccl\", \"rank\": 2}");
    add_meta(&traces[0], "RANK", "5");
    add_meta(&traces[1], "distributedInfo", "{\"backend\": \"nccl\"}");
    add_meta(&traces[1], "SLURM_PROCID", "4");
    assert_int_equal(placed(pointers, paths, 4), OSC_OK);
    assert_int_equal(traces[0].rank, 2);
    assert_int_equal(traces[1].rank, 4);
    assert_int_equal(traces[2].rank, 7);
    assert_int_equal(traces[3].rank, 0);
    assert_false(traces[3].has_rank);
}

TEST_WITH(numbers_spans_by_worker_and_by_value, begin, end)
{
    static const char *const paths[] = {"d/w.100.pt.trace.json",
                                        "d/w.9.pt.trace.json.gz",
                                        "d/v.5.pt.trace.json",
                                        "d/w.100.pt.trace.json.gz",
                                        "a.json",
                                        "b.json"};

    assert_int_equal(placed(pointers, paths, 6), OSC_OK);
    assert_int_equal(traces[0].span, 2);
    assert_int_equal(traces[1].span, 1);
    assert_int_equal(traces[2].span, 1);
    assert_int_equal(traces[3].span, 2);
    assert_int_equal(traces[4].span, 3); /* rank 0 has two windows already */
    assert_int_equal(traces[5].span, 4);
}

/* As many windows as a long training leaves behind; numbering them must not take seconds. */
TEST_WITH(numbers_the_windows_of_many_files, begin, end)
{
    enum { N = 20000 };
    static struct osc_trace many[N];
    static struct osc_trace *all[N];
    static char names[N][40];
    const char **paths = osc_calloc(N, sizeof *paths);

    assert_non_null(paths);
    for (int i = 0; i < N; i++) {
        /* Every fourth file is not a window of a log directory but also belongs to rank 0. */
        snprintf(names[i], sizeof names[i], i % 4 ? "w.%d.pt.trace.json" : "x%d.json", N - i);
        many[i].strings = traces[0].strings;
        all[i] = &many[i];
        paths[i] = names[i];
    }
    assert_int_equal(placed(all, paths, N), OSC_OK);
    assert_int_equal(many[N - 1].span, 1);
    assert_int_equal(many[1].span, N / 4 * 3);
    assert_int_equal(many[0].span, N / 4 * 3 + 1);
    assert_int_equal(many[N - 4].span, N);
    osc_free(paths);
}

TEST_WITH(puts_the_first_start_of_all_at_zero, begin, end)
{
    const int64_t unix_ns = INT64_C(1700000000000000000);

    for (size_t i = 0; i < 4; i++)
        traces[i].events.n_rows = 1;
    traces[0].min_ts_ns = traces[0].max_end_ns = 5000;
    traces[0].base_ns = unix_ns;
    traces[1].min_ts_ns = traces[1].max_end_ns = unix_ns + 2000;
    traces[2].min_ts_ns = traces[2].max_end_ns = 77;   /* an uptime */
    traces[3].min_ts_ns = traces[3].max_end_ns = 1000; /* another */
    add_meta(&traces[0], "host_name", "a");
    add_meta(&traces[1], "host_name", "b");
    assert_int_equal(placed(pointers, NULL, 4), OSC_OK);
    assert_int_equal(traces[0].min_ts_ns - traces[0].origin_ns, 3000);
    assert_int_equal(traces[1].min_ts_ns - traces[1].origin_ns, 0);
    assert_int_equal(traces[2].min_ts_ns - traces[2].origin_ns, 0);
    assert_int_equal(traces[3].min_ts_ns - traces[3].origin_ns, 923);
    assert_int_equal(traces[0].findings.by_code[OSC_FINDING_unaligned].count, 0);
    assert_int_equal(traces[1].findings.by_code[OSC_FINDING_unaligned].count, 1);
}

TEST_WITH(survives_a_base_beyond_all_time, begin, end)
{
    traces[0].events.n_rows = traces[1].events.n_rows = 1;
    traces[0].min_ts_ns = traces[0].max_end_ns = INT64_MAX - 5;
    traces[0].base_ns = INT64_MAX;
    traces[1].min_ts_ns = traces[1].max_end_ns = INT64_MIN / 2;
    assert_int_equal(placed(pointers, NULL, 2), OSC_OK);
    assert_true(traces[0].min_ts_ns - traces[0].origin_ns >= 0);
    assert_int_equal(traces[1].min_ts_ns - traces[1].origin_ns, 0);
}

TEST_WITH(sorts_by_rank_and_span_and_leaves_the_rest, begin, end)
{
    traces[0].rank = 1;
    traces[1].rank = 0, traces[1].span = 2;
    traces[2].rank = 0, traces[2].span = 1;
    traces[3].rank = 0, traces[3].span = 1;
    assert_int_equal(osc_run_sort(pointers, 4), OSC_OK);
    assert_ptr_equal(pointers[0], &traces[2]);
    assert_ptr_equal(pointers[1], &traces[3]);
    assert_ptr_equal(pointers[2], &traces[1]);
    assert_ptr_equal(pointers[3], &traces[0]);
}

TEST_WITH(traces_of_one_boot_share_its_clock, begin, end)
{
    for (size_t i = 0; i < 3; i++) {
        traces[i].events.n_rows = 1;
        traces[i].min_ts_ns = traces[i].max_end_ns = 1000 + (int64_t)i;
        traces[i].base_ns = INT64_C(1700000000000000000) + (int64_t)i * 500;
    }
    add_meta(&traces[0], "boot_id", "x");
    add_meta(&traces[1], "boot_id", "y");
    add_meta(&traces[2], "boot_id", "x"); /* the wall clock was set meanwhile */
    assert_int_equal(placed(pointers, NULL, 3), OSC_OK);
    assert_int_equal(traces[0].origin_ns, 1000);
    assert_int_equal(traces[1].min_ts_ns - traces[1].origin_ns, 501);
    assert_int_equal(traces[2].min_ts_ns - traces[2].origin_ns, 2);
}

UNIT_MAIN("run")
