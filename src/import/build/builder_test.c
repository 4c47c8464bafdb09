/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/builder.h"

#include "base/mem.h"
#include "support/unit.h"

/* A trace that one thread is building. */
struct making {
    struct osc_trace trace;
    struct osc_loading loading;
    struct osc_builder builder;
};

/* Start building. The caller must call stop() in any case. */
static osc_status start(struct making *m)
{
    memset(m, 0, sizeof *m);
    osc_status st = osc_loading_init(&m->loading, &m->trace);
    if (st == OSC_OK)
        st = osc_builder_init(&m->builder, &m->loading);
    return st;
}

static void stop(struct making *m)
{
    osc_builder_fini(&m->builder);
    osc_loading_fini(&m->loading);
    osc_trace_fini(&m->trace);
    assert_int_equal(osc_mem_held(), 0);
}

static osc_status join(struct making *m)
{
    struct osc_batch_of_rows batch;
    const osc_status st = osc_builder_take(&m->builder, &batch);

    if (st == OSC_OK)
        return osc_loading_join(&m->loading, &batch);
    osc_batch_of_rows_fini(&batch);
    return st;
}

static osc_sid sid(struct making *m, const char *s)
{
    return osc_build_string(&m->builder, s, (uint32_t)strlen(s));
}

static bool wants(struct osc_builder *b, enum osc_form_shape shape, bool is_device,
                  osc_sid name, int64_t ts_ns, int64_t dur_ns)
{
    return osc_build_wants(
        b, shape, name,
        (struct osc_keep_row){.ts_ns = ts_ns, .dur_ns = dur_ns, .is_device = is_device});
}

/* Append a record with one argument KEY of one or two words; KEY NULL: without arguments. */
static void add(struct making *m, enum osc_form_shape shape, int64_t ts_ns, const char *key,
                int64_t value)
{
    const uint32_t words[] = {(uint32_t)value, (uint32_t)((uint64_t)value >> 32)};
    const bool is_wide = value != (int32_t)value;
    struct osc_slot slot = {.type = is_wide ? OSC_ARG_INT64 : OSC_ARG_INT32};
    struct osc_record r = {.shape = (uint8_t)shape,
                           .has_args = key != NULL,
                           .category = sid(m, "cpu_op"),
                           .name = sid(m, "op"),
                           .pid = 1,
                           .tid = 2,
                           .ts_ns = ts_ns,
                           .dur_ns = 10,
                           .slots = &slot,
                           .n_slots = key != NULL,
                           .words = words,
                           .n_words = key ? 1u + is_wide : 0};

    if (key)
        slot.key = sid(m, key);
    osc_build_record(&m->builder, &r);
}

TEST(equal_strings_are_one_id_in_the_cache_or_not)
{
    struct making m;
    char text[64];

    assert_int_equal(start(&m), OSC_OK);
    assert_int_equal(osc_build_string(&m.builder, "", 0).v, 0);
    for (int round = 0; round < 2; round++) {
        static osc_sid ids[3 * OSC_STRING_CACHE];

        for (uint32_t i = 0; i < 3 * OSC_STRING_CACHE; i++) {
            /* Equal at both ends, with lengths from 1 to 60. */
            const int len = snprintf(text, sizeof text, "%0*u%s", (int)(i % 50), i,
                                     i % 3 ? "" : "..........");
            const osc_sid id = osc_build_string(&m.builder, text, (uint32_t)len);
            const struct osc_str back = osc_trace_str(&m.trace, id);

            assert_int_equal(back.len, len);
            assert_memory_equal(back.s, text, (size_t)len);
            assert_true(round == 0 || id.v == ids[i].v);
            ids[i] = id;
        }
    }
    assert_int_equal(m.builder.status, OSC_OK);
    stop(&m);
}

TEST(a_track_is_a_process_and_a_thread_as_text)
{
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    const osc_who seven = OSC_WHO_IS_STRING | sid(&m, "7").v;
    const osc_who none = OSC_WHO_IS_STRING;
    const osc_track_id id = osc_build_track(&m.builder, 7, 8);
    assert_int_not_equal(id.v, 0);
    assert_int_equal(osc_build_track(&m.builder, seven, 8).v, id.v);
    assert_int_not_equal(osc_build_track(&m.builder, 8, 7).v, id.v);
    assert_int_not_equal(osc_build_track(&m.builder, none, none).v, id.v);
    assert_int_equal(osc_build_track(&m.builder, 7, 8).v, id.v);
    const uint32_t n = m.trace.n_tracks;
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 4 * OSC_TRACK_CACHE; i++)
            assert_int_equal(osc_build_track(&m.builder, UINT64_MAX >> 1, i).v, n + i);
    const struct osc_str pid = osc_trace_str(&m.trace, m.trace.tracks[n].pid);
    assert_int_equal(pid.len, 19);
    assert_memory_equal(pid.s, "9223372036854775807", 19);
    stop(&m);
}

TEST(forms_differ_by_all_that_values_do_not_say)
{
    struct making m;
    struct osc_slot slots[2];

    assert_int_equal(start(&m), OSC_OK);
    const struct osc_slot first[] = {
        {.key = sid(&m, "correlation"), .type = OSC_ARG_INT64},
        {.key = sid(&m, "id"), .type = OSC_ARG_INT32, .is_member = true}};
    struct osc_record r = {
        .shape = OSC_SHAPE_RANGE, .has_args = true, .slots = slots, .n_slots = 2};

    memcpy(slots, first, sizeof first);
    const osc_form_id id = osc_build_form(&m.builder, &r);
    const struct osc_form *f = &m.trace.forms[id.v];
    assert_int_equal(slots[0].word, 0);
    assert_int_equal(slots[1].word, 2);
    assert_int_equal(f->n_words, 3);
    assert_int_equal(f->known[OSC_ARG_KEY_CORRELATION], 0);
    assert_int_equal(f->known[OSC_ARG_KEY_FLOW_ID], 1);
    assert_int_equal(f->known[OSC_ARG_KEY_DEVICE], -1);
    assert_int_equal(osc_build_form(&m.builder, &r).v, id.v);
    for (int change = 0; change < 7; change++) {
        struct osc_record other = r;

        memcpy(slots, first, sizeof first);
        switch (change) {
        case 0:
            other.shape = OSC_SHAPE_INSTANT;
            break;
        case 1:
            other.has_args = false;
            break;
        case 2:
            other.category = sid(&m, "c");
            break;
        case 3:
            other.n_slots = 1;
            break;
        case 4:
            slots[0].type = OSC_ARG_INT32;
            break;
        case 5:
            slots[0].key = sid(&m, "device");
            break;
        default:
            slots[1].is_member = false;
            break;
        }
        const uint32_t n = m.trace.n_forms;
        assert_int_equal(osc_build_form(&m.builder, &other).v, n);
        assert_int_equal(m.trace.n_forms, n + 1);
    }
    /* "id" of the arguments is not the id of a flow. */
    assert_int_equal(m.trace.forms[m.trace.n_forms - 1].known[OSC_ARG_KEY_FLOW_ID], -1);
    stop(&m);
}

TEST(chunks_hold_their_rows_and_words)
{
    const uint32_t n = 2 * OSC_CHUNK_ROWS + 5;
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    for (uint32_t i = 0; i < n; i++)
        add(&m, OSC_SHAPE_RANGE, 1000 - (int64_t)i, i % 3 ? "device" : NULL,
            i % 3 == 1 ? i : INT64_MIN + i);
    assert_int_equal(m.builder.status, OSC_OK);
    assert_int_equal(osc_build_events_so_far(&m.builder), n);
    assert_int_equal(join(&m), OSC_OK);
    assert_int_equal(m.trace.events.n_rows, n);
    assert_int_equal(m.trace.events.n_chunks, 4);
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_chunk *c = m.trace.events.chunks[1 + i / OSC_CHUNK_ROWS];
        const uint32_t at = i % OSC_CHUNK_ROWS;
        int64_t value = -1;

        assert_int_equal(c->ts_ns[at], 1000 - (int64_t)i);
        assert_int_equal(c->dur_ns[at], 10);
        assert_int_equal(osc_row_arg_int(&m.trace, c, at, OSC_ARG_KEY_DEVICE, &value),
                         i % 3 != 0);
        assert_true(value == (i % 3 == 0 ? -1 : i % 3 == 1 ? i : INT64_MIN + i));
    }
    const struct osc_chunk *last = m.trace.events.chunks[3];
    assert_int_equal(last->n_rows, 5);
    assert_int_equal(last->first_row, 2 * OSC_CHUNK_ROWS);
    assert_int_equal(last->max_end_ns, 1010 - 2 * (int64_t)OSC_CHUNK_ROWS);
    assert_int_equal(last->min_ts_ns, 1000 - (int64_t)n + 1);
    stop(&m);
}

TEST(batches_join_in_order_and_count_the_events_before)
{
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    for (int batch = 0; batch < 3; batch++) {
        add(&m, OSC_SHAPE_RANGE, INT64_C(10) * batch, NULL, 0);
        add(&m, OSC_SHAPE_END, 10 * batch + 1, "device", 5);
        add(&m, OSC_SHAPE_INSTANT, 10 * batch + 2, NULL, 0);
        add(&m, OSC_SHAPE_ARROW_FROM, 10 * batch + 3, NULL, 0);
        osc_findings_add(&m.builder.findings, OSC_FINDING_corrupt, (uint64_t)batch, 0);
        assert_int_equal(join(&m), OSC_OK);
        assert_int_equal(osc_build_events_so_far(&m.builder), 0);
    }
    assert_int_equal(m.trace.events.n_rows, 6);
    assert_int_equal(m.trace.others.n_rows, 6);
    for (uint32_t batch = 0; batch < 3; batch++) {
        const struct osc_chunk *others = m.trace.others.chunks[1 + batch];

        assert_int_equal(m.trace.events.chunks[1 + batch]->ts_ns[1], 10 * batch + 2);
        assert_int_equal(others->first_event + others->dur_ns[0], 2 * batch + 1);
        assert_int_equal(others->first_event + others->dur_ns[1], 2 * batch + 2);
    }
    assert_int_equal(m.trace.findings.by_code[OSC_FINDING_corrupt].count, 3);
    assert_int_equal(m.trace.findings.by_code[OSC_FINDING_corrupt].first_offset, 0);
    stop(&m);
}

TEST(hands_over_what_was_built_before_the_limit)
{
    struct making m;
    uint32_t n = 0;

    assert_int_equal(start(&m), OSC_OK);
    add(&m, OSC_SHAPE_RANGE, 0, NULL, 0); /* its pages are allocated before the limit is set */
    osc_mem_set_limit(SIZE_MAX - osc_mem_room() + ((size_t)1 << 20)); /* for scratch */
    for (; m.builder.status == OSC_OK && n < 100 * OSC_CHUNK_ROWS; n++)
        add(&m, OSC_SHAPE_RANGE, n + 1, "device", n);
    assert_int_equal(m.builder.status, OSC_ELIMIT);
    assert_int_equal(join(&m), OSC_OK);
    assert_int_equal(m.builder.status, OSC_ELIMIT); /* the status stays */
    assert_true(m.trace.events.n_rows > 1000 && m.trace.events.n_rows <= n);
    for (uint32_t i = 0; i < m.trace.events.n_rows; i += 1000)
        assert_int_equal(
            m.trace.events.chunks[1 + i / OSC_CHUNK_ROWS]->ts_ns[i % OSC_CHUNK_ROWS], i);
    osc_mem_set_limit(SIZE_MAX);
    stop(&m);
}

TEST(reserves_for_rows_strings_tracks_and_forms)
{
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    m.loading.reserve = (struct osc_import_reserve){.event_bytes = 100,
                                                    .other_bytes = 10000,
                                                    .string_bytes = 1000000,
                                                    .track_bytes = 10000000,
                                                    .form_bytes = 100000000};
    add(&m, OSC_SHAPE_RANGE, 0, NULL, 0);
    add(&m, OSC_SHAPE_RANGE, 1, NULL, 0);
    add(&m, OSC_SHAPE_ARROW_FROM, 2, NULL, 0);
    assert_int_equal(join(&m), OSC_OK);
    osc_builder_fini(&m.builder);
    /* Two forms, a track, four strings of ten bytes together, an arrow, two ranges. */
    assert_int_equal(m.trace.reserved_bytes, 214010210);
    assert_int_equal(SIZE_MAX - osc_mem_room() - osc_mem_held(), 214010210);
    stop(&m);
    assert_int_equal(osc_mem_room(), SIZE_MAX);
}

TEST(the_limit_counts_again_once_a_chunk_could_not_be_closed)
{
    struct osc_batch_of_rows batch;
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    add(&m, OSC_SHAPE_RANGE, 0, NULL, 0);
    osc_mem_fail_after(0);
    assert_int_equal(osc_builder_take(&m.builder, &batch), OSC_ENOMEM);
    osc_mem_fail_after(-1);
    assert_false(m.builder.is_closing);
    assert_int_equal(batch.n_events, 0);
    osc_batch_of_rows_fini(&batch);
    stop(&m);
}

TEST(keeps_what_starts_inside_and_every_begin)
{
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    m.loading.keep = (struct osc_import_keep){
        .is_on = true, .from_ns = 10, .host_to_ns = 20, .device_to_ns = 30};
    struct osc_builder *b = &m.builder;
    const osc_sid none = {0};
    assert_false(wants(b, OSC_SHAPE_RANGE, false, none, 9, OSC_NO_DUR));
    assert_true(wants(b, OSC_SHAPE_RANGE, false, none, 10, OSC_NO_DUR));
    assert_true(wants(b, OSC_SHAPE_INSTANT, false, none, 19, OSC_NO_DUR));
    assert_false(wants(b, OSC_SHAPE_RANGE, false, none, 20, OSC_NO_DUR));
    assert_true(wants(b, OSC_SHAPE_RANGE, true, none, 29, OSC_NO_DUR));
    assert_false(wants(b, OSC_SHAPE_RANGE, true, none, 30, OSC_NO_DUR));
    assert_true(
        wants(b, OSC_SHAPE_BEGIN, false, none, 3, OSC_NO_DUR)); /* its end may lie inside */
    assert_true(wants(b, OSC_SHAPE_ASYNC, false, none, 99, OSC_NO_DUR));
    assert_true(wants(b, OSC_SHAPE_RANGE, false, none, 4, 7)); /* it may contain wanted calls */
    assert_false(wants(b, OSC_SHAPE_RANGE, false, none, 4, 6));
    assert_true(wants(b, OSC_SHAPE_RANGE, true, none, 4, 7)); /* it runs in wanted steps */
    assert_false(wants(b, OSC_SHAPE_RANGE, true, none, 4, 6));
    assert_false(wants(b, OSC_SHAPE_RANGE, false, sid(&m, "ProfilerStep#1"), 4, 7));
    assert_int_equal(b->minutes.v[0].first_ns, 3);
    add(&m, OSC_SHAPE_RANGE, 25, NULL, 0);
    add(&m, OSC_SHAPE_RANGE, 15, NULL, 0);
    add(&m, OSC_SHAPE_END, 25, NULL, 0);
    assert_int_equal(join(&m), OSC_OK);
    assert_int_equal(m.trace.events.n_rows, 1);
    assert_int_equal(m.trace.others.n_rows, 1);
    assert_int_equal(m.loading.minutes.v[0].first_ns, 3);
    stop(&m);
}

TEST(a_scout_keeps_steps_of_the_host_alone)
{
    struct making m;

    assert_int_equal(start(&m), OSC_OK);
    m.loading.keep = (struct osc_import_keep){.is_on = true, .is_scout = true};
    const osc_sid step = sid(&m, "ProfilerStep#7"), other = sid(&m, "Profiler");
    assert_true(wants(&m.builder, OSC_SHAPE_RANGE, false, step, 9, OSC_NO_DUR));
    assert_false(wants(&m.builder, OSC_SHAPE_RANGE, true, step, 9, OSC_NO_DUR));
    assert_false(wants(&m.builder, OSC_SHAPE_RANGE, false, other, 5, OSC_NO_DUR));
    assert_int_equal(m.builder.minutes.v[0].first_ns, 5);
    assert_int_equal(join(&m), OSC_OK);
    stop(&m);
}

/* Fail the first allocation, then the second, ... until the trace is built. */
TEST(survives_any_failed_allocation)
{
    osc_status st = OSC_ENOMEM;

    for (long n = 0; st != OSC_OK; n++) {
        struct making m;

        osc_mem_fail_after(n);
        st = start(&m);
        for (uint32_t i = 0; st == OSC_OK && i < OSC_CHUNK_ROWS + 10; i++) {
            add(&m, i % 100 ? 'X' : 's', i, i % 7 ? "device" : "stream", i);
            st = m.builder.status;
        }
        if (st == OSC_OK)
            st = join(&m);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || (st == OSC_ENOMEM && n < 1000));
        if (st == OSC_OK)
            assert_int_equal(m.trace.events.n_rows + m.trace.others.n_rows,
                             OSC_CHUNK_ROWS + 10);
        stop(&m);
    }
}

UNIT_MAIN("builder")
