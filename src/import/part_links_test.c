/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/part_links.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/import.h"
#include "support/small_recording.h"
#include "support/unit.h"

#define N_MAX 5u

static char folder[] = "/tmp/opscope-part-links-XXXXXX";
static char names[N_MAX][64];
static const char *paths[N_MAX];
static struct small_recording rec;

static int set_up(void **state)
{
    (void)state;
    memset(folder + sizeof folder - 7, 'X', 6);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_MAX; i++)
        (void)unlink(names[i]);
    return rmdir(folder);
}

/* Write REC as file I: part PART of recording ID. */
static void write_file(unsigned i, uint64_t id, uint32_t part)
{
    struct osc_file_header h;

    memcpy(&h, rec.bytes, sizeof h);
    h.recording[0] = id;
    h.part = part;
    osc_file_header_seal(&h);
    memcpy(rec.bytes, &h, sizeof h);
    snprintf(names[i], sizeof names[i], "%s/%u.osc", folder, i);
    paths[i] = names[i];
    FILE *f = fopen(names[i], "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(rec.bytes, rec.n_bytes, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* The same, with only an end for REASON in it. */
static void write_part(unsigned i, uint64_t id, uint32_t part, uint32_t reason)
{
    const struct osc_wire_end end = {.reason = reason};

    recording_begin(&rec);
    if (reason > 0)
        recording_chunk(&rec, OSC_CHUNK_END, &end, sizeof end, 1);
    write_file(i, id, part);
}

TEST_WITH(only_parts_without_a_gap_go_together, set_up, tear_down)
{
    static const struct {
        uint32_t after, before;
    } expected[N_MAX] = {{0, 2}, {1, 4}, {0, 0}, {2, 0}, {0, 0}};
    struct osc_part_links l = {0};

    write_part(0, 7, 4, OSC_END_WINDOW);
    write_part(1, 7, 3, OSC_END_CONTINUED);
    write_part(2, 7, 5, OSC_END_CONTINUED);
    write_part(3, 7, 2, 0); /* damaged, or not ended */
    write_part(4, 8, 6, OSC_END_CONTINUED);
    assert_int_equal(osc_part_links_find(&l, paths, N_MAX), OSC_OK);
    for (unsigned i = 0; i < N_MAX; i++) {
        assert_int_equal(l.after[i], expected[i].after);
        assert_int_equal(l.before[i], expected[i].before);
    }
    osc_part_links_fini(&l);
}

TEST_WITH(what_is_no_recording_has_no_links, set_up, tear_down)
{
    const char *others[] = {"-", folder, "/dev/null", "no such file"};
    struct osc_part_links l = {0};

    assert_int_equal(osc_part_links_find(&l, others, 4), OSC_OK);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(l.after[i] + l.before[i], 0);
    osc_part_links_fini(&l);
}

/* End a part whose thread had lost N records for lack of space. Before the part 12 were
 * recorded, and 5 were lost by threads that are gone. */
static void end_part(uint32_t reason, uint64_t n)
{
    const struct osc_clock_anchor anchors[] = {{.ticks = 1, .monotonic_ns = 1},
                                               {.ticks = 1000001, .monotonic_ns = 1000001}};
    const struct osc_wire_thread thread = {
        .ordinal = 1, .tid = 7, .lost = {[OSC_LOSS_FULL] = n}};
    const struct osc_wire_end end = {.reason = reason, .lost = {[OSC_LOSS_FULL] = 1}};
    const struct osc_wire_before before = {.n_records = 12, .lost = {[OSC_LOSS_FULL] = 5}};

    recording_flush(&rec);
    recording_chunk(&rec, OSC_CHUNK_CLOCK, anchors, sizeof anchors, 2);
    recording_chunk(&rec, OSC_CHUNK_THREADS, &thread, sizeof thread, 1);
    recording_chunk(&rec, OSC_CHUNK_BEFORE, &before, sizeof before, 1);
    recording_chunk(&rec, OSC_CHUNK_END, &end, sizeof end, 1);
}

/* Create file I, empty, with the name of part 2 of file 0. */
static void begin_second_part(unsigned i)
{
    snprintf(names[i], sizeof names[i], "%s/0.2.osc", folder);
    paths[i] = names[i];
    FILE *f = fopen(names[i], "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

TEST_WITH(a_part_that_was_only_just_begun_is_known_by_its_name, set_up, tear_down)
{
    const char *later[1];
    const struct osc_import_options o = {.later = later, .n_later = 1};
    struct osc_part_links l = {0};
    struct osc_trace t = {0};

    write_part(0, 7, 1, OSC_END_CONTINUED);
    write_part(1, 8, 1, OSC_END_CONTINUED);
    begin_second_part(2);
    assert_int_equal(osc_part_links_find(&l, paths, 3), OSC_OK);
    assert_int_equal(l.after[0], 3);
    assert_int_equal(l.before[2], 1);
    assert_int_equal(l.after[1], 0);
    osc_part_links_fini(&l);
    later[0] = paths[2];
    assert_int_equal(osc_import_path(&t, paths[0], &o, NULL), OSC_OK);
    osc_trace_fini(&t);
}

TEST_WITH(a_scope_may_begin_in_one_part_and_end_in_the_next, set_up, tear_down)
{
    const char *later[] = {names[1]};
    const struct osc_import_options o = {.later = later, .n_later = 1};
    struct osc_trace t = {0};

    recording_begin(&rec);
    recording_add(&rec, OSC_RECORD_BEGIN, 0, 100, NULL, 0);
    end_part(OSC_END_CONTINUED, 3);
    write_file(0, 7, 1);
    const struct osc_block block = rec.block;
    recording_begin(&rec);
    rec.block = block;
    recording_add(&rec, OSC_RECORD_END, 0, 400, NULL, 0);
    end_part(OSC_END_STOPPED, 7);
    write_file(1, 7, 2);
    assert_int_equal(osc_import_path(&t, paths[0], &o, NULL), OSC_OK);
    assert_int_equal(t.events.n_rows, 1);
    assert_int_equal(t.events.chunks[1]->ts_ns[0], 100);
    assert_int_equal(t.events.chunks[1]->dur_ns[0], 300);
    assert_int_equal(t.findings.by_code[OSC_FINDING_unmatched_end].count, 0);
    assert_int_equal(t.findings.by_code[OSC_FINDING_dropped_full].count, 7 + 1 + 5);
    assert_int_equal(t.findings.by_code[OSC_FINDING_dropped_parts].count, 12);
    osc_trace_fini(&t);
}

/* Load the file that REC holds, as a first part. */
static void load_alone(struct osc_trace *t)
{
    static const struct osc_import_options one = {.n_threads = 1};

    *t = (struct osc_trace){0};
    write_file(0, 7, 2);
    assert_int_equal(osc_import_path(t, paths[0], &one, NULL), OSC_OK);
}

TEST_WITH(damaged_counts_of_earlier_parts_are_told, set_up, tear_down)
{
    const struct osc_wire_before before = {.n_records = 12, .lost = {[OSC_LOSS_FULL] = 5}};
    const struct osc_wire_end end = {.reason = OSC_END_STOPPED};
    struct osc_trace t;

    for (int damage = 0; damage < 3; damage++) {
        recording_begin(&rec);
        const size_t at = rec.n_bytes;

        recording_chunk(&rec, OSC_CHUNK_BEFORE, &before, sizeof before - (damage == 2 ? 8 : 0),
                        1);
        rec.bytes[at + sizeof(struct osc_wire_header)] ^= damage == 1;
        recording_chunk(&rec, OSC_CHUNK_END, &end, sizeof end, 1);
        load_alone(&t);
        assert_int_equal(t.findings.by_code[OSC_FINDING_lost_counts].count, damage > 0);
        assert_int_equal(t.findings.by_code[OSC_FINDING_dropped_parts].count,
                         damage > 0 ? 0 : 12);
        assert_int_equal(t.findings.by_code[OSC_FINDING_dropped_full].count,
                         damage > 0 ? 0 : 5);
        if (damage > 0)
            assert_int_equal(t.findings.by_code[OSC_FINDING_lost_counts].first_offset, at);
        osc_trace_fini(&t);
    }
}

TEST_WITH(a_full_disk_is_told_by_a_file_that_was_ended, set_up, tear_down)
{
    struct osc_trace t;

    for (uint32_t error = 0; error <= ENOSPC; error += ENOSPC) {
        const struct osc_wire_end end = {.reason = OSC_END_STOPPED, .write_error = error};

        recording_begin(&rec);
        recording_chunk(&rec, OSC_CHUNK_END, &end, sizeof end, 1);
        load_alone(&t);
        assert_int_equal(t.findings.by_code[OSC_FINDING_disk_full].count, error > 0);
        osc_trace_fini(&t);
    }
}

TEST_WITH(says_so_whenever_an_allocation_fails, set_up, tear_down)
{
    struct osc_part_links l = {0};
    osc_status st = OSC_ENOMEM;

    write_part(0, 7, 1, OSC_END_CONTINUED);
    write_part(1, 7, 2, OSC_END_STOPPED);
    for (long n = 0; st != OSC_OK; n++) {
        osc_mem_fail_after(n);
        st = osc_part_links_find(&l, paths, 2);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_ENOMEM || l.after[0] == 2);
        osc_part_links_fini(&l);
    }
}

UNIT_MAIN("part_links")
