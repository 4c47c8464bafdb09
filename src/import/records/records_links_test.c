/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_links.h"

#include "import/chrome/dialect.h"
#include "opscope/record.h"
#include "support/loaded_recording.h"
#include "support/unit.h"

static struct small_recording rec;
static struct osc_trace trace;

static void add_int(const char *key, uint64_t value)
{
    recording_add(&rec, OSC_RECORD_ARG_I64, recording_name(&rec, key), value, NULL, 0);
}

/* Add an operator of 10 ns with SEQUENCE and, if it is not 0, FORWARD. */
static void add_op(const char *name, uint64_t ticks, uint64_t sequence, uint64_t forward)
{
    recording_add(&rec, OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR, recording_name(&rec, name),
                  ticks, NULL, 0);
    add_int("Sequence number", sequence);
    if (forward > 0)
        add_int("Fwd thread id", forward);
    recording_add(&rec, OSC_RECORD_END, 0, ticks + 10, NULL, 0);
}

/* Continue with thread ORDINAL, whose number in PyTorch is NUMBER. */
static void go_to_thread(uint32_t ordinal, uint64_t number)
{
    if (rec.n_slots > 0)
        recording_flush(&rec);
    rec.block.seq++;
    rec.block.thread = ordinal;
    recording_add(&rec, OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR, recording_name(&rec, "first"),
                  10, NULL, 0);
    add_int("torch thread", number);
    recording_add(&rec, OSC_RECORD_END, 0, 20, NULL, 0);
}

/* Compare the arrows as text: phase, id and time of each end. */
static void assert_arrows(const char *expected)
{
    char got[256] = "";
    size_t len = 0;

    recording_flush(&rec);
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
    for (uint32_t k = 1; k < trace.others.n_chunks; k++) {
        const struct osc_chunk *const c = trace.others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const struct osc_form *const f = osc_row_form(&trace, c, i);
            int64_t id = 0;

            if (f->arrow != OSC_ARROW_FORWARD)
                continue;
            assert_true(osc_row_arg_int(&trace, c, i, OSC_ARG_KEY_FLOW_ID, &id));
            len += (size_t)snprintf(got + len, sizeof got - len, "%c%lld@%lld ",
                                    osc_dialect_letter((enum osc_form_shape)f->shape),
                                    (long long)id, (long long)c->ts_ns[i]);
        }
    }
    assert_string_equal(got, expected);
    osc_trace_fini(&trace);
}

TEST(an_arrow_goes_from_the_last_operator_to_the_first_function_of_a_number)
{
    recording_begin(&rec);
    go_to_thread(1, 7);
    add_op("aten::linear", 100, 3, 0);
    add_op("aten::addmm", 110, 3, 0);
    add_op("autograd::engine::evaluate_function: AddmmBackward0", 200, 3, 7);
    add_op("AddmmBackward0", 210, 3, 7);
    add_op("AddmmBackward0", 230, 3, 7);
    assert_arrows("s1@110 f1@210 ");
}

TEST(numbers_count_for_the_thread_that_gave_them)
{
    recording_begin(&rec);
    go_to_thread(1, 1);
    add_op("a", 100, 0, 0);
    go_to_thread(2, 2);
    add_op("b", 120, 0, 0);
    go_to_thread(3, 3);
    add_op("ofB", 200, 0, 2);
    add_op("ofA", 220, 0, 1);
    add_op("ofNobody", 240, 0, 9);
    assert_arrows("s1@120 f1@200 s2@100 f2@220 ");
}

TEST(threads_are_looked_at_in_order_of_time)
{
    recording_begin(&rec);
    go_to_thread(2, 2); /* first in the file, but later in time */
    add_op("backward", 200, 5, 1);
    go_to_thread(1, 1);
    add_op("forward", 100, 5, 0);
    add_op("another", 300, 5, 0);
    assert_arrows("s1@100 f1@200 ");
}

TEST(the_last_number_of_a_thread_is_that_of_all_its_operators)
{
    recording_begin(&rec);
    go_to_thread(1, 1);
    add_op("forward", 100, 5, 0);
    go_to_thread(1, 9);
    add_op("backward", 200, 5, 9);
    assert_arrows("s1@100 f1@200 ");
}

TEST(chunks_that_are_full_are_looked_at)
{
    recording_begin(&rec);
    go_to_thread(1, 1);
    add_op("forward", 100, 5, 0);
    recording_fill(&rec, 200);
    add_op("backward", 100000, 5, 1);
    assert_arrows("s1@100 f1@100000 ");
}

TEST(the_number_of_a_thread_is_no_argument)
{
    recording_begin(&rec);
    go_to_thread(1, 7);
    assert_arrows("");
    recording_begin(&rec);
    go_to_thread(1, 7);
    recording_flush(&rec);
    recording_end(&rec);
    recording_load(&rec, &trace, NULL);
    assert_int_equal(trace.events.n_rows, 1);
    assert_int_equal(osc_row_form(&trace, trace.events.chunks[1], 0)->n_slots, 0);
    osc_trace_fini(&trace);
}

UNIT_MAIN("records_links")
