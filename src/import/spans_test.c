/* SPDX-License-Identifier: Apache-2.0 */
#include "import/spans.h"

#include "import/run.h"
#include "support/unit.h"

enum { MAX_FILES = 8 };

static struct osc_identity ids[MAX_FILES];
static struct osc_identity *pointers[MAX_FILES];

/* File I: a recording of the process PID on one host, from FROM to TO. */
static struct osc_identity *add(uint32_t i, int64_t pid, int64_t from_ns, int64_t to_ns)
{
    ids[i] = (struct osc_identity){
        .path = OSC_STR("vm.osc"),
        .boot_id = OSC_STR("boot"),
        .host = OSC_STR("vm"),
        .run_id = OSC_STR("run"),
        .pid = pid,
        .number = i,
        .n_events = 1,
        .min_ts_ns = from_ns,
        .max_end_ns = to_ns,
        .from_ns = from_ns,
        .to_ns = to_ns,
    };
    pointers[i] = &ids[i];
    return &ids[i];
}

static void place(uint32_t n)
{
    assert_int_equal(osc_run_place(pointers, n), OSC_OK);
}

static void assert_spans(uint32_t n, const int32_t *spans)
{
    place(n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(ids[i].among.span, spans[i]);
}

TEST(processes_at_the_same_time_are_one_span)
{
    add(0, 10, 0, 100);
    add(1, 12, 50, 60);   /* a worker */
    add(2, 11, 100, 120); /* begins when the first one ends */
    add(3, 13, 121, 130); /* after all of them */
    add(4, 14, 110, 200); /* joins both */
    assert_spans(4, (const int32_t[]){1, 1, 1, 2});
    assert_spans(5, (const int32_t[]){1, 1, 1, 1, 1});
}

TEST(windows_of_one_process_are_spans)
{
    add(0, 10, 0, 100);
    add(1, 10, 100, 200);
    add(2, 11, 0, 50);
    add(3, 11, 120, 150);
    assert_spans(4, (const int32_t[]){1, 2, 1, 2});
}

TEST(pieces_of_one_process_are_a_span)
{
    add(0, 10, 100, 200)->is_piece = true; /* a profile of the program */
    add(1, 10, 0, 90)->is_piece = true;    /* before it */
    add(2, 10, 210, 300)->is_piece = true; /* after it */
    add(3, 11, 150, 400);                  /* a worker */
    add(4, 11, 410, 500);                  /* its next window */
    add(5, 12, 510, 520)->is_piece = true; /* another process */
    assert_spans(6, (const int32_t[]){1, 1, 1, 1, 2, 3});
    assert_int_equal(ids[0].among.piece, 2);
    assert_int_equal(ids[1].among.piece, 1);
    assert_int_equal(ids[2].among.piece, 3);
    assert_int_equal(ids[3].among.piece, 0);
    /* Between two pieces a worker begins; two files of one time are not pieces of one process.
     */
    add(0, 10, 0, 90)->is_piece = true;
    add(1, 11, 95, 400);
    add(2, 10, 100, 200)->is_piece = true;
    add(3, 10, 100, 200)->is_piece = true;
    assert_spans(3, (const int32_t[]){1, 1, 1});
    assert_spans(4, (const int32_t[]){1, 1, 1, 2});
    /* One in which nothing was recorded has no time. */
    add(3, 10, INT64_MAX, INT64_MIN)->is_piece = true;
    ids[3].among.base_ns = 1;
    assert_spans(4, (const int32_t[]){1, 1, 1, 1});
}

TEST(a_process_that_recorded_nothing_is_no_window)
{
    add(0, 11, 50, 60)->n_events = 0; /* a worker under a schedule */
    add(1, 10, 100, 200)->n_events = 5;
    add(2, 10, 300, 400)->n_events = 5;
    add(3, 12, 210, 220)->n_events = 0;
    add(4, 13, 210, 220)->run_id = OSC_STR("other run");
    assert_spans(5, (const int32_t[]){1, 1, 2, 1, 3});
    ids[1].n_events = ids[2].n_events = 0; /* nobody recorded anything */
    assert_spans(4, (const int32_t[]){1, 2, 3, 4});
}

TEST(what_is_not_known_to_belong_together_stays_apart)
{
    add(0, 10, 0, 100);
    add(1, 11, 0, 100)->run_id = OSC_STR("other run");
    add(2, 12, 0, 100)->boot_id = OSC_STR("other boot");
    add(3, 0, 0, 100); /* no process is known */
    add(4, 0, 0, 100);
    add(5, 13, 0, 100);
    assert_spans(6, (const int32_t[]){1, 2, 3, 4, 5, 1});
}

TEST(spans_are_counted_in_each_rank)
{
    for (uint32_t i = 0; i < 6; i++) {
        add(i, 10 + i, i < 4 ? 0 : 500, i < 4 ? 100 : 600)->has_rank = true;
        ids[i].among.rank = (int32_t)i % 2;
    }
    assert_spans(6, (const int32_t[]){1, 1, 1, 1, 2, 2});
}

TEST(numbers_in_names_go_before_times)
{
    add(0, 10, 0, 100)->path = OSC_STR("a.1.pt.trace.json");
    add(1, 11, 0, 100)->path = OSC_STR("a.2.pt.trace.json");
    add(2, 12, 0, 100);
    add(3, 13, 0, 100);
    assert_spans(4, (const int32_t[]){1, 2, 3, 3});
}

TEST(a_rank_is_that_of_an_ancestor)
{
    add(0, 20, 30, 40)->parent_pid = 15;
    add(1, 15, 20, 60)->parent_pid = 10;
    add(2, 10, 0, 100)->has_rank = true;
    ids[2].among.rank = 3;
    add(3, 21, 30, 40)->parent_pid = 99;
    add(4, 22, 300, 310)->parent_pid = 10; /* another process had that number by then */
    add(5, 23, 30, 40)->parent_pid = 10;
    ids[5].boot_id = OSC_STR("other boot");
    place(6);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(ids[i].among.rank, 3);
    for (uint32_t i = 3; i < 6; i++)
        assert_int_equal(ids[i].among.rank, 0);
}

TEST(an_ancestor_of_itself_ends_the_search)
{
    add(0, 10, 0, 100)->parent_pid = 11;
    add(1, 11, 0, 100)->parent_pid = 10;
    place(2);
    assert_int_equal(ids[0].among.rank, 0);
}

TEST(steps_are_those_of_files_that_have_steps)
{
    add(0, 10, 0, 100)->has_steps = true;
    add(1, 11, 0, 100);
    add(2, 12, 200, 300);
    place(3);
    assert_false(ids[0].among.is_beside_steps || ids[0].among.shares_steps);
    assert_true(ids[1].among.is_beside_steps);
    assert_false(ids[2].among.is_beside_steps);
    add(1, 11, 0, 100)->has_steps = true;
    place(2);
    assert_true(ids[0].among.shares_steps && ids[1].among.shares_steps);
    assert_false(ids[0].among.is_beside_steps || ids[1].among.is_beside_steps);
}

UNIT_MAIN("spans")
