/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/enclosing_ranges.h"

#include "base/strbuf.h"
#include "support/small_trace.h"
#include "support/unit.h"

#define OPERATION(tid, name, ts, dur) \
    "{'ph':'X','pid':1,'tid':" #tid ",'name':'" name "','ts':" #ts ",'dur':" #dur "},"

/* The names of the repeats among EVENTS on all tracks but the thread 9, each before a space. */
static const char *repeats_of(const char *events)
{
    static char said[200];
    struct osc_trace trace = {0};
    struct osc_enclosing_ranges repeats;
    bool is_line[16] = {0};
    size_t n = 0;

    assert_true(small_load(&trace, events));
    assert_in_range(trace.n_tracks, 1, 16);
    for (uint32_t i = 1; i < trace.n_tracks; i++)
        is_line[i] = !osc_str_eq(osc_trace_str(&trace, trace.tracks[i].tid), OSC_STR("9"));
    assert_int_equal(osc_enclosing_ranges_find(&trace, is_line, &repeats), OSC_OK);
    const struct osc_chunk *const c = small_chunk(&trace);
    said[0] = '\0';
    for (size_t i = 0; i < repeats.n; i++) {
        const struct osc_str name = osc_row_name(&trace, c, repeats.rows[i] - c->first_row);

        n += (size_t)snprintf(said + n, sizeof said - n, "%.*s ", (int)name.len, name.s);
        assert_true(n < sizeof said);
    }
    osc_enclosing_ranges_fini(&repeats);
    osc_trace_fini(&trace);
    return said;
}

TEST(a_loop_repeats_what_it_runs)
{
    assert_string_equal(repeats_of(OPERATION(1, "a", 12, 3) OPERATION(1, "while", 10, 10)
                                       OPERATION(1, "b", 15, 4) OPERATION(1, "after", 20, 5)),
                        "while ");
    assert_string_equal(repeats_of(OPERATION(1, "while", 10, 90) OPERATION(1, "if", 11, 80)
                                       OPERATION(1, "a", 11, 40) OPERATION(1, "b", 51, 40)),
                        "while if ");
}

TEST(small_parts_of_an_operation_are_repeats)
{
    assert_string_equal(repeats_of(OPERATION(1, "fusion", 10, 10) OPERATION(1, "part", 11, 3)
                                       OPERATION(1, "part of part", 12, 2)
                                           OPERATION(1, "part", 15, 1)),
                        "part part of part part ");
}

TEST(of_two_at_the_same_time_the_first_is_the_repeat)
{
    assert_string_equal(repeats_of(OPERATION(1, "a", 10, 10) OPERATION(1, "b", 10, 10)), "a ");
}

TEST(what_only_overlaps_or_takes_no_time_stays)
{
    assert_string_equal(repeats_of(OPERATION(1, "a", 10, 10) OPERATION(1, "b", 15, 10)
                                       OPERATION(1, "c", 16, 0)),
                        "");
    assert_string_equal(repeats_of(OPERATION(1, "a", 10, 10) OPERATION(2, "b", 12, 6)), "");
    assert_string_equal(repeats_of(OPERATION(9, "a", 10, 10) OPERATION(9, "b", 12, 6)), "");
    /* Parts that overlap cover no more than there is. */
    assert_string_equal(
        repeats_of(OPERATION(1, "a", 10, 10) OPERATION(1, "b", 10, 4) OPERATION(1, "c", 12, 8)),
        "a ");
}

UNIT_MAIN("enclosing_ranges")
