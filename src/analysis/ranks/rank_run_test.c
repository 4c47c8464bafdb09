/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/rank_run.h"

#include "support/rank_rows.h"

#define REDUCE OSC_COLLECTIVE_ALL_REDUCE
#define GATHER OSC_COLLECTIVE_ALL_GATHER
#define N(v)   (sizeof(v) / sizeof *(v))

/* The match of call CALL of FILE. */
static uint32_t match_of(size_t file, size_t call)
{
    return run.files[file].matches[call];
}

TEST_WITH(numbers_match_calls_in_any_order, NULL, end_run)
{
    static const struct small_call a[] = {{0, 10, 7, 4, REDUCE}, {20, 30, 8, 4, REDUCE}};
    static const struct small_call b[] = {{0, 12, 8, 4, REDUCE}, {20, 26, 9, 4, REDUCE}};

    begin_run();
    add_file(0, "g", "h", a, N(a));
    add_file(1, "g", "h", b, N(b));
    open_run();
    assert_int_equal(run.n_matches, 3);
    assert_int_equal(match_of(0, 1), match_of(1, 0));
    assert_false(run.matches[match_of(0, 1)].is_ordered);
    assert_int_not_equal(match_of(0, 0), match_of(1, 0));
    assert_int_not_equal(match_of(1, 1), match_of(0, 1));
}

TEST_WITH(a_group_and_an_operation_have_calls_of_their_own, NULL, end_run)
{
    static const struct small_call a[] = {{0, 10, 1, 4, REDUCE}}, b[] = {{0, 10, 1, 4, GATHER}};

    begin_run();
    add_file(0, "g", "h", a, N(a));
    add_file(1, "g", "h", b, N(b));
    add_file(2, "other", "h", a, N(a));
    open_run();
    assert_int_equal(run.n_matches, 3);
}

TEST_WITH(a_recording_that_begins_later_is_counted_from_there, NULL, end_run)
{
    static const struct small_call a[] = {{0, 10, -1, 1, REDUCE},
                                          {20, 30, -1, 2, GATHER},
                                          {40, 50, -1, 3, REDUCE},
                                          {60, 70, -1, 4, REDUCE}};

    begin_run();
    add_file(0, "g", "h", a, N(a));
    add_file(1, "g", "h", &a[2], 2);
    open_run();
    assert_int_equal(run.n_matches, 4);
    assert_int_equal(match_of(0, 2), match_of(1, 0));
    assert_int_equal(match_of(0, 3), match_of(1, 1));
    assert_true(run.matches[match_of(0, 2)].is_ordered);
}

TEST_WITH(equal_sizes_match_although_two_threads_start_in_another_order, NULL, end_run)
{
    static const struct small_call a[] = {{0, 10, -1, 1, REDUCE}, {20, 30, -1, 2, REDUCE}};
    static const struct small_call b[] = {{0, 10, -1, 2, REDUCE}, {20, 30, -1, 1, REDUCE}};

    begin_run();
    add_file(0, "g", "h", a, N(a));
    add_file(1, "g", "h", b, N(b));
    open_run();
    assert_int_equal(run.n_matches, 2);
    assert_int_equal(match_of(0, 0), match_of(1, 1));
}

TEST_WITH(the_shortest_counterpart_moved_data, NULL, end_run)
{
    static const struct small_call a[] = {{0, 100, 1, 4, REDUCE}},
                                   b[] = {{70, 101, 1, 4, REDUCE}};

    begin_run();
    add_file(0, "g", "h", a, N(a));
    add_file(1, "g", "h", b, N(b));
    open_run();
    assert_int_equal(run.files[0].real_ns[0], 31);
    assert_int_equal(run.files[1].real_ns[0], 31);
}

TEST_WITH(parts_are_taken_out_of_all_blocks, NULL, end_run)
{
    static const struct small_call a[] = {{0, 100, 1, 4, REDUCE}};
    struct osc_result other, *const blocks[] = {&parts};

    begin_run();
    add_file(3, "g", "h", a, N(a));
    assert_true(osc_rank_is_part(&parts, 0));
    assert_int_equal(osc_rank_place_of(&parts, 0).rank, 3);
    osc_result_init(&other, &osc_table_stragglers);
    assert_int_equal(osc_rank_take(blocks, 1, &other), OSC_OK);
    assert_int_equal(parts.n_rows, 0);
    assert_int_equal(other.n_rows, 1);
    assert_int_equal(osc_rank_run_open(&run, &other), OSC_OK);
    assert_int_equal(run.files[0].rank, 3);
    assert_int_equal(run.files[0].part.calls[0].end_ns, 100);
    osc_result_fini(&other);
}

UNIT_MAIN("rank_run")
