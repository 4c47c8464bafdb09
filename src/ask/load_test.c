/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/load.h"

#include <unistd.h>

#include "opscope/trace.h"
#include "support/small_recording.h"
#include "support/unit.h"

/* Beside it lies a file that is read first: while it is, the directory changes. */
static char folder[] = "/tmp/opscope-load-XXXXXX";
static char first[64], part_1[64], part_2[64];
static void (*change)(void);

/* Write part PART of one recording, or with 0 all of another: an instant, and an end for
 * REASON. */
static void write_part(const char *path, uint32_t part, uint32_t reason)
{
    static struct small_recording rec;
    struct osc_file_header h;

    recording_begin(&rec);
    rec.block.seq += part;
    recording_add(&rec, OSC_RECORD_INSTANT, recording_name(&rec, "x"), 5 + part, NULL, 0);
    recording_flush(&rec);
    recording_end_for(&rec, reason);
    memcpy(&h, rec.bytes, sizeof h);
    h.recording[0] = part > 0;
    h.part = part > 0 ? part : 1;
    osc_file_header_seal(&h);
    memcpy(rec.bytes, &h, sizeof h);

    FILE *const f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(rec.bytes, rec.n_bytes, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(folder + sizeof folder - 7, 'X', 6);
    if (!mkdtemp(folder))
        return -1;
    snprintf(first, sizeof first, "%s.first.osc", folder);
    snprintf(part_1, sizeof part_1, "%s/run.osc", folder);
    snprintf(part_2, sizeof part_2, "%s/run.2.osc", folder);
    write_part(first, 0, OSC_END_STOPPED);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(first);
    (void)unlink(part_1);
    (void)unlink(part_2);
    return rmdir(folder);
}

static int on_progress(void *ctx, const char *path, uint64_t done, uint64_t total)
{
    (void)ctx, (void)path, (void)done, (void)total;
    if (change)
        change();
    change = NULL;
    return 0;
}

/* Read both, and call WANTED in between. Returns the number of events. */
static size_t load(void (*wanted)(void))
{
    const char *const paths[] = {first, folder};
    const struct osc_how how = {.progress = on_progress};
    const struct osc_question question = {.table = "events"};
    struct osc_set *set = NULL;
    struct osc_frame *f = NULL;

    change = wanted;
    assert_int_equal(osc_set_open(&set, paths, 2, &how, NULL), OSC_OK);
    assert_null(change);
    assert_string_equal(osc_set_notes(set), "");
    assert_int_equal(osc_ask(set, NULL, &question, &f, NULL), OSC_OK);
    const size_t n = osc_frame_rows(f);
    osc_frame_release(f);
    osc_set_release(set);
    return n;
}

static void begin_part_2(void)
{
    write_part(part_1, 1, OSC_END_CONTINUED);
    write_part(part_2, 2, OSC_END_STOPPED);
}

static void remove_part_1(void)
{
    assert_int_equal(unlink(part_1), 0);
}

TEST_WITH(a_part_that_began_meanwhile_is_read, set_up, tear_down)
{
    write_part(part_1, 1, 0);
    assert_int_equal(load(NULL), 2);
    assert_int_equal(load(begin_part_2), 3);
}

TEST_WITH(a_part_that_a_limit_removed_meanwhile_is_not_missed, set_up, tear_down)
{
    begin_part_2();
    assert_int_equal(load(remove_part_1), 2);
}

/* A visitor that counts its visits and cannot end them. */
static osc_status count_visit(void *ctx, const struct osc_loaded *l, struct osc_trace *t,
                              uint32_t i, uint32_t part, struct osc_err *err)
{
    (void)l, (void)t, (void)i, (void)part, (void)err;
    ++*(int *)ctx;
    return OSC_OK;
}

static void restart(void *ctx)
{
    (void)ctx;
}

static osc_status fail_to_end(void *ctx, bool *is_done)
{
    (void)ctx;
    *is_done = false;
    return OSC_ENOMEM;
}

TEST_WITH(an_error_after_all_visits_ends_them, set_up, tear_down)
{
    const char *const paths[] = {first, part_1};
    const struct osc_how how = {.n_threads = 1};
    const struct osc_view all = {0};
    int n_visits = 0;
    const struct osc_visitor visitor = {
        .visit = count_visit, .restart = restart, .end = fail_to_end, .ctx = &n_visits};
    const struct osc_load o = {
        .paths = paths, .n_paths = 2, .how = &how, .view = &all, .visitor = &visitor};
    struct osc_loaded l;

    write_part(part_1, 1, OSC_END_STOPPED);
    assert_int_equal(osc_load(&l, &o, NULL), OSC_ENOMEM);
    assert_int_equal(n_visits, 2);
    osc_loaded_fini(&l);
}

UNIT_MAIN("load")
