/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits as promised in import/import.h. */
#include "import/import.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "support/unit.h"

/* An endless text, of which each item I uses memory in a particular way. */
struct greedy {
    void (*add)(struct osc_strbuf *b, uint32_t i);
    const char *before, *behind;
    uint32_t n;
};

static void add_row(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "{\"ph\":\"X\",\"ts\":%u,\"dur\":1,\"name\":\"a\"}", i);
}

static void add_name(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "{\"ph\":\"i\",\"ts\":1,\"name\":\"%u", i);
    osc_strbuf_pad(b, 'x', 500);
    osc_strbuf_adds(b, "\"}");
}

static void add_form(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "{\"ph\":\"i\",\"ts\":1,\"args\":{\"%u\":1}}", i);
}

static void add_thread(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "{\"ph\":\"i\",\"ts\":1,\"pid\":%u,\"tid\":%u}", i, i / 2);
}

static void add_arguments(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_adds(b, "{\"ph\":\"i\",\"ts\":1,\"args\":{");
    for (uint32_t k = 0; k < 1000; k++)
        osc_strbuf_addf(b, "%s\"a\":%u", k > 0 ? "," : "", i + 1000000 * k);
    osc_strbuf_adds(b, "}}");
}

static void add_arrow(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "{\"ph\":\"s\",\"id\":%u,\"ts\":1}", i);
}

static void add_meta(struct osc_strbuf *b, uint32_t i)
{
    osc_strbuf_addf(b, "\"%u\":%u", i % 100, i % 7);
}

static void add_giant(struct osc_strbuf *b, uint32_t i)
{
    if (i < 10) {
        add_row(b, i);
        return;
    }
    osc_strbuf_addf(b, "{\"ph\":\"i\",\"ts\":1,\"args\":{\"a\":[%u", i);
    for (uint32_t k = 0; k < 1500000; k++)
        osc_strbuf_adds(b, ",[1,2,3]");
    osc_strbuf_adds(b, "]}}");
}

static const struct greedy greedy[] = {
    {add_row, "[", "]", 800000},
    {add_name, "[", "]", 80000},
    {add_form, "[", "]", 250000},
    {add_thread, "[", "]", 250000},
    {add_arguments, "[", "]", 4500},
    {add_arrow, "[", "]", 800000},
    {add_meta, "{\"traceEvents\":[],", "}", 1000000},
    {add_giant, "[", "]", 14},
};

static const struct osc_import_reserve some_reserve = {.event_bytes = 20,
                                                       .other_bytes = 30,
                                                       .string_bytes = 40,
                                                       .track_bytes = 50,
                                                       .form_bytes = 60};

/* Bytes that some_reserve requires for T; of strings only the number counts. */
static size_t wanted_for(const struct osc_trace *t)
{
    return (size_t)t->events.n_rows * 20 + (size_t)t->others.n_rows * 30 +
           (size_t)t->n_tracks * 50 + (size_t)t->n_forms * 60;
}

TEST(stops_below_the_memory_limit_whatever_takes_it)
{
    for (size_t k = 0; k < 2 * sizeof greedy / sizeof *greedy; k++) {
        const struct greedy *const g = &greedy[k / 2];
        const struct osc_import_options o = {.n_threads = 1 + k % 2, .reserve = some_reserve};
        struct osc_strbuf b = {0};
        struct osc_trace t = {0};
        struct osc_err err = {0};

        osc_strbuf_adds(&b, g->before);
        for (uint32_t i = 0; i < g->n; i++) {
            osc_strbuf_adds(&b, i > 0 ? "," : "");
            g->add(&b, i);
        }
        osc_strbuf_adds(&b, g->behind);
        assert_int_equal(b.status, OSC_OK);
        const size_t before = osc_mem_held(),
                     limit = before + ((size_t)(k % 2 ? 50 : 32) << 20);
        osc_mem_set_limit(limit);
        const osc_status st =
            osc_import_memory(&t, "big", (struct osc_str){b.s, (uint32_t)b.len}, &o, &err);
        assert_int_equal(st, OSC_ELIMIT);
        assert_true(t.is_partial);
        assert_true(t.events.n_rows + t.others.n_rows + t.n_metas >= 10);
        assert_int_equal(t.findings.by_code[OSC_FINDING_limit_reached].count, 1);
        assert_non_null(strstr(err.message, "big: memory limit reached at byte"));
        assert_true(osc_mem_held() + wanted_for(&t) <= limit);
        osc_trace_fini(&t);
        assert_int_equal(osc_mem_held(), before);
        osc_mem_set_limit(SIZE_MAX);
        assert_int_equal(osc_mem_room(), SIZE_MAX - before);
        osc_strbuf_fini(&b);
    }
}

/* Raise the limit step by step until loading succeeds. */
TEST(keeps_whole_rows_at_any_limit)
{
    const struct osc_import_options o = {.n_threads = 1};
    osc_status st = OSC_ELIMIT;
    uint32_t n_partial = 0;
    struct osc_strbuf b = {0};

    osc_strbuf_addc(&b, '[');
    for (uint32_t i = 0; i < 40000; i++)
        osc_strbuf_addf(&b, "%s{\"ph\":\"i\",\"ts\":1,\"name\":\"%u\",\"args\":{\"a\":\"%u\"}}",
                        i > 0 ? "," : "", i, i);
    osc_strbuf_addc(&b, ']');
    assert_int_equal(b.status, OSC_OK);
    for (size_t room = 0; st != OSC_OK; room += 150000) {
        struct osc_trace t = {0};
        struct osc_err err = {0};

        osc_mem_set_limit(osc_mem_held() + room);
        st = osc_import_memory(&t, "t", (struct osc_str){b.s, (uint32_t)b.len}, &o, &err);
        osc_mem_set_limit(SIZE_MAX);
        assert_true(st == OSC_OK || st == OSC_ELIMIT);
        n_partial += t.is_partial && t.events.n_rows > 0;
        for (uint32_t i = 0; i < t.events.n_rows; i++) {
            const struct osc_chunk *const c = t.events.chunks[1 + i / OSC_CHUNK_ROWS];
            char name[16];

            (void)snprintf(name, sizeof name, "%u", i);
            assert_string_equal(osc_row_name(&t, c, i % OSC_CHUNK_ROWS).s, name);
            assert_int_equal(osc_row_form(&t, c, i % OSC_CHUNK_ROWS)->n_slots, 1);
            const struct osc_arg arg = osc_row_slot(&t, c, i % OSC_CHUNK_ROWS, 0);
            assert_string_equal(osc_trace_str(&t, arg.sid).s, name);
        }
        osc_trace_fini(&t);
        assert_true(room < (size_t)1 << 30);
    }
    assert_true(n_partial > 10);
    osc_strbuf_fini(&b);
}

UNIT_MAIN("import_limit")
