/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "support/scratch_tree.h"

/* Assert that OPERAND stands for FILES, separated by spaces, without notes. */
static void assert_stands_for(const char *operand, const char *files)
{
    struct osc_paths p = {0};
    struct osc_strbuf got = {0}, notes = {0};
    struct osc_err err = {0};

    assert_int_equal(osc_paths_find(&p, &operand, 1, &notes, &err), OSC_OK);
    for (uint32_t i = 0; i < p.n; i++)
        osc_strbuf_addf(&got, "%s%s", i > 0 ? " " : "", p.all[i]);
    assert_int_equal(notes.len, 0);
    assert_string_equal(got.s, files);
    osc_strbuf_fini(&got);
    osc_paths_fini(&p);
}

/* Assert that OPERAND is refused with ST and MESSAGE. */
static void assert_is_refused(const char *operand, osc_status st, const char *message)
{
    struct osc_paths p = {0};
    struct osc_strbuf notes = {0};
    struct osc_err err = {0};

    assert_int_equal(osc_paths_find(&p, &operand, 1, &notes, &err), st);
    assert_string_equal(err.message, message);
    assert_int_equal(p.n, 0);
    osc_paths_fini(&p);
    osc_strbuf_fini(&notes);
}

TEST_WITH(a_file_stands_for_itself, scratch_enter, scratch_leave)
{
    const char *const operands[] = {"b.txt", "-", "not-there"};
    struct osc_paths p = {0};

    scratch_make("b.txt");
    assert_int_equal(osc_paths_find(&p, operands, 3, NULL, NULL), OSC_OK);
    assert_int_equal(p.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(p.all[i], operands[i]);
        assert_true(p.is_named[i]);
    }
    osc_paths_fini(&p);
    osc_paths_fini(&p);
}

TEST_WITH(a_directory_is_a_log_directory_or_all_that_look_like_traces, scratch_enter,
          scratch_leave)
{
    scratch_make(
        "run/ run/w.10.pt.trace.json run/w.9.pt.trace.json.gz run/a.pt.trace.json run/x.json "
        "run/y.txt run/.pt.trace.json");
    assert_stands_for("run", "run/.pt.trace.json run/a.pt.trace.json run/w.9.pt.trace.json.gz "
                             "run/w.10.pt.trace.json");
    assert_stands_for("run/", "run/.pt.trace.json run/a.pt.trace.json "
                              "run/w.9.pt.trace.json.gz run/w.10.pt.trace.json");
    scratch_make(
        "all/ all/b.json.zst all/a.json all/c.json.gz all/.hidden.json all/d.txt all/e.json/");
    assert_stands_for("all", "all/a.json all/b.json.zst all/c.json.gz");
}

TEST_WITH(a_pipe_in_a_directory_is_no_trace, scratch_enter, scratch_leave)
{
    scratch_make("run/ run/a.json");
    assert_int_equal(mkfifo("run/b.json", 0600), 0);
    assert_int_equal(symlink("nowhere", "run/c.json"), 0); /* reading it reports why */
    assert_stands_for("run", "run/a.json run/c.json");
}

TEST_WITH(the_one_run_below_a_directory_is_found, scratch_enter, scratch_leave)
{
    scratch_make(
        "logs/ logs/a/ logs/a/b/ logs/a/b/w.2.pt.trace.json logs/a/b/w.1.pt.trace.json "
        "logs/c/ logs/c/no-trace.json logs/readme.txt");
    scratch_write("logs/c/no-trace.json", "{}");
    assert_stands_for("logs", "logs/a/b/w.1.pt.trace.json logs/a/b/w.2.pt.trace.json");
    assert_stands_for("logs/a/", "logs/a/b/w.1.pt.trace.json logs/a/b/w.2.pt.trace.json");
}

TEST_WITH(links_lead_to_runs_but_not_in_circles, scratch_enter, scratch_leave)
{
    scratch_make("logs/ logs/a/ other/ other/w.pt.trace.json");
    assert_int_equal(symlink("..", "logs/a/up"), 0);
    assert_int_equal(symlink("../../other", "logs/a/there"), 0);
    assert_int_equal(symlink("../../other", "logs/a/there-too"), 0);
    assert_int_equal(symlink("self", "logs/self"), 0);
    struct osc_paths p = {0};
    const char *const operand = "logs";
    assert_int_equal(osc_paths_find(&p, &operand, 1, NULL, NULL), OSC_OK);
    assert_int_equal(p.n, 1);
    assert_string_equal(p.all[0], "logs/a/there/w.pt.trace.json");
    osc_paths_fini(&p);
}

TEST_WITH(several_runs_below_are_named, scratch_enter, scratch_leave)
{
    scratch_make(
        "logs/ logs/b/ logs/b/w.pt.trace.json logs/a/ logs/a/w.pt.trace.json logs/a/c/ "
        "logs/a/c/w.pt.trace.json");
    assert_is_refused("logs", OSC_EINVAL,
                      "logs: there are 3 runs below it, logs/a, logs/a/c, logs/b; name one of "
                      "them, or several to read them as one");
    assert_stands_for("logs/a", "logs/a/w.pt.trace.json");
    scratch_make("logs/d/ logs/d/w.pt.trace.json logs/e/ logs/e/w.pt.trace.json");
    assert_is_refused("logs", OSC_EINVAL,
                      "logs: there are 5 runs below it, logs/a, logs/a/c, logs/b, logs/d and 1 "
                      "more; name one of them, or several to read them as one");
}

TEST_WITH(a_directory_without_traces_says_what_would_be_one, scratch_enter, scratch_leave)
{
    scratch_make("none/ none/a/ none/a/x.json");
    scratch_write("none/a/x.json", "{}");
    assert_is_refused("none", OSC_EIO,
                      "none: it contains no traces: none/a/x.json holds no trace events");
    assert_int_equal(unlink("none/a/x.json"), 0);
    assert_is_refused("none", OSC_EIO,
                      "none: it contains no traces: no .osc, .json, .json.gz or .json.zst in "
                      "it, no WORKER[.NUMBER].pt.trace.json[.gz] below it; pass a file of "
                      "another name by itself");
}

TEST_WITH(recordings_come_part_by_part_and_live_ones_once, scratch_enter, scratch_leave)
{
    scratch_make(
        "rec/ rec/b.osc rec/a.osc rec/a.10.osc rec/a.2.osc rec/a.osc.live/ rec/c.3.osc "
        "rec/c.osc.live/ rec/d.osc.live/ rec/d.osc.live/strings rec/e.osc.live rec/.f.osc");
    assert_stands_for("rec", "rec/d.osc.live rec/a.osc rec/a.2.osc rec/a.10.osc rec/b.osc "
                             "rec/c.3.osc");
    /* A live directory that is an operand itself is a trace, whatever its name. */
    scratch_make("live/ live/blocks live/strings");
    assert_stands_for("live", "live");
    assert_stands_for("rec/b.osc", "rec/b.osc");
}

TEST_WITH(what_was_never_opened_is_left_out_of_a_directory_and_no_directory_itself,
          scratch_enter, scratch_leave)
{
    struct osc_paths p = {0};
    struct osc_strbuf notes = {0};
    const char *const operand = "rec";

    scratch_make("rec/ rec/b.osc rec/a.osc.live/ rec/c.osc.live/ rec/c.osc.live/blocks");
    scratch_write("rec/c.osc.live/blocks", "");
    assert_int_equal(osc_paths_find(&p, &operand, 1, &notes, NULL), OSC_OK);
    assert_string_equal(notes.s, "rec/a.osc.live: skipped, nothing was recorded into "
                                 "it\nrec/c.osc.live: skipped, nothing was recorded into it\n");
    assert_int_equal(p.n, 1);
    assert_string_equal(p.all[0], "rec/b.osc");
    osc_paths_fini(&p);
    osc_strbuf_fini(&notes);
    assert_stands_for("rec/a.osc.live", "rec/a.osc.live");
}

TEST_WITH(a_trace_beside_its_packed_copy_is_read_once, scratch_enter, scratch_leave)
{
    struct osc_paths p = {0};
    struct osc_strbuf notes = {0};
    const char *const operand = "run";

    scratch_make("run/ run/a.json run/a.json.gz run/a.osc run/b.json.zst");
    assert_int_equal(osc_paths_find(&p, &operand, 1, &notes, NULL), OSC_OK);
    assert_string_equal(notes.s,
                        "run/a.json.gz: skipped, it is the same trace as "
                        "run/a.json\nrun/a.osc: skipped, it is the same trace as run/a.json\n");
    assert_int_equal(p.n, 2);
    assert_string_equal(p.all[1], "run/b.json.zst");
    osc_paths_fini(&p);
    osc_strbuf_fini(&notes);
}

TEST_WITH(frees_everything_after_any_failed_allocation, scratch_enter, scratch_leave)
{
    const char *const operands[] = {"x", "logs", "all"};
    osc_status st = OSC_ENOMEM;

    scratch_make(
        "logs/ logs/a/ logs/a/w.1.pt.trace.json logs/a/w.2.pt.trace.json all/ all/b.json");
    for (long n = 0; st == OSC_ENOMEM && n < 1000; n++) {
        struct osc_paths p = {0};
        struct osc_strbuf notes = {0};

        osc_mem_fail_after(n);
        st = osc_paths_find(&p, operands, 3, &notes, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_ENOMEM || p.n == 4);
        osc_paths_fini(&p);
        osc_strbuf_fini(&notes);
    }
    assert_int_equal(st, OSC_OK);
}

int main(void)
{
#undef TEST
    return unit_run("paths", NULL, NULL);
}
