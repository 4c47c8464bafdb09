/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/logdir.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/scratch_tree.h"

/* Assert the runs of ROOT, as "NAME: FILE FILE; NAME: FILE". */
static void assert_runs(const char *root, const char *label, const char *runs)
{
    struct osc_logdir d = {0};
    struct osc_strbuf got = {0}, notes = {0};
    struct osc_err err = {0};

    assert_int_equal(
        osc_logdir_find(&d, &(struct osc_log_root){root, label, false}, &notes, &err), OSC_OK);
    for (uint32_t i = 0; i < d.n_runs; i++) {
        const struct osc_log_run *const r = &d.runs[i];

        osc_strbuf_addf(&got, "%s%s:", i > 0 ? "; " : "", r->name);
        for (uint32_t k = 0; k < r->n_files; k++)
            osc_strbuf_addf(&got, " %s", d.files.all[r->first_file + k]);
    }
    assert_string_equal(got.s ? got.s : "", runs);
    osc_strbuf_fini(&got);
    osc_strbuf_fini(&notes);
    osc_logdir_fini(&d);
}

/* Assert what is left out of ROOT, as "PATH: why detail; ". */
static void assert_left_out(const char *root, const char *expected)
{
    struct osc_logdir d = {0};
    struct osc_strbuf got = {0}, notes = {0};

    assert_int_equal(osc_logdir_find(&d, &(struct osc_log_root){.path = root}, &notes, NULL),
                     OSC_OK);
    for (uint32_t i = 0; i < d.left.n; i++) {
        const struct osc_left *const l = &d.left.all[i];

        osc_strbuf_addf(&got, "%s%s: %s%s%s", i > 0 ? "; " : "", l->path,
                        osc_left_why_text(l->why), l->detail ? " " : "",
                        l->detail ? l->detail : "");
    }
    assert_string_equal(got.s ? got.s : "", expected);
    osc_strbuf_fini(&got);
    osc_strbuf_fini(&notes);
    osc_logdir_fini(&d);
}

TEST_WITH(every_directory_with_traces_is_a_run, scratch_enter, scratch_leave)
{
    scratch_make("logs/ logs/w.pt.trace.json logs/b/ logs/b/w.2.pt.trace.json "
                 "logs/b/w.10.pt.trace.json logs/b/c/ logs/b/c/v.pt.trace.json.gz logs/empty/ "
                 "logs/b-c/ logs/b-c/x.pt.trace.json");
    assert_runs("logs", NULL,
                "logs: logs/w.pt.trace.json; b: logs/b/w.2.pt.trace.json "
                "logs/b/w.10.pt.trace.json; b-c: logs/b-c/x.pt.trace.json; b/c: "
                "logs/b/c/v.pt.trace.json.gz");
    assert_runs("logs/", "train",
                "train: logs/w.pt.trace.json; train/b: logs/b/w.2.pt.trace.json "
                "logs/b/w.10.pt.trace.json; train/b-c: logs/b-c/x.pt.trace.json; train/b/c: "
                "logs/b/c/v.pt.trace.json.gz");
    assert_runs("logs/empty", NULL, "");
}

TEST_WITH(directories_of_ranks_are_one_run, scratch_enter, scratch_leave)
{
    scratch_make("v/ v/rank_10/ v/rank_10/a.pt.trace.json v/rank_9/ v/rank_9/b.pt.trace.json "
                 "v/rank_9/config.txt t/ t/attempt_0/ t/attempt_0/0/ t/attempt_0/0/x.osc "
                 "t/attempt_0/1/ t/attempt_0/1/x.osc t/1/ t/1/y.osc");
    assert_runs("v", NULL, "v: v/rank_9/b.pt.trace.json v/rank_10/a.pt.trace.json");
    assert_runs("v/rank_9", NULL, "rank_9: v/rank_9/b.pt.trace.json");
    assert_runs("t", NULL, "1: t/1/y.osc; attempt_0: t/attempt_0/0/x.osc t/attempt_0/1/x.osc");
}

TEST_WITH(plain_names_count_by_their_content, scratch_enter, scratch_leave)
{
    scratch_make("p/ p/a.json p/b/ p/b/config.json p/b/rank0.json p/c/ p/c/state.json");
    scratch_write("p/b/config.json", "{\"lr\": 1}");
    scratch_write("p/c/state.json", "[1]");
    assert_runs("p", NULL, "p: p/a.json; b: p/b/rank0.json");
    assert_left_out("p", "p/b/config.json: it holds no trace events; p/c/state.json: it holds "
                         "no trace events");
}

TEST_WITH(says_what_is_left_out, scratch_enter, scratch_leave)
{
    scratch_make("r/ r/w.1.pt.trace.json r/w.1.pt.trace.json.gz r/x.json r/notes.txt r/s/ "
                 "r/s/w.2.pt.trace.json");
    scratch_write("r/s/w.2.pt.trace.json", "");
    assert_int_equal(symlink("..", "r/s/up"), 0);
    assert_int_equal(mkfifo("r/s/p.pt.trace.json", 0600), 0);
    assert_left_out(
        "r",
        "r/notes.txt: it is not called like a trace; r/x.json: it is beside "
        "WORKER.pt.trace.json files, and is not called so; r/w.1.pt.trace.json.gz: it "
        "is the same trace as r/w.1.pt.trace.json; r/s/p.pt.trace.json: it is neither a "
        "file nor a directory; r/s/w.2.pt.trace.json: it is empty; r/s/up: it was searched "
        "under another name r");
    assert_runs("r", NULL, "r: r/w.1.pt.trace.json; s:");
}

TEST_WITH(counts_all_that_is_left_out_and_names_the_first, scratch_enter, scratch_leave)
{
    struct osc_logdir d = {0};
    struct osc_strbuf text = {0};

    assert_int_equal(mkdir("many", 0700), 0);
    for (int i = 0; i < 50; i++) {
        char name[32];

        snprintf(name, sizeof name, "many/%02d.log", i);
        scratch_write(name, "x");
    }
    assert_int_equal(osc_logdir_find(&d, &(struct osc_log_root){.path = "many"}, NULL, NULL),
                     OSC_OK);
    assert_int_equal(d.left.by_why[OSC_LEFT_NAME], 50);
    assert_int_equal(d.left.n, OSC_LEFT_NAMES);
    assert_int_equal(osc_left_out_describe(&d.left, OSC_FINDING_file_failed, &text), 0);
    assert_int_equal(text.len, 0);
    assert_int_equal(osc_left_out_describe(&d.left, OSC_FINDING_file_other, &text), 50);
    assert_string_equal(text.s, "files in directories that are not traces of the run; left "
                                "out: many/00.log: it is not called like a trace; many/01.log: "
                                "it is not called like a trace; many/02.log: it is not called "
                                "like a trace; and 47 more");
    osc_strbuf_fini(&text);
    osc_logdir_fini(&d);
}

TEST_WITH(frees_everything_after_any_failed_allocation, scratch_enter, scratch_leave)
{
    osc_status st = OSC_ENOMEM;

    scratch_make("l/ l/a/ l/a/w.1.pt.trace.json l/a/w.2.pt.trace.json l/a/n.txt l/rank_0/ "
                 "l/rank_0/b.osc l/c/ l/c/x.json l/c/x.json.gz");
    for (long n = 0; st == OSC_ENOMEM && n < 1000; n++) {
        struct osc_logdir d = {0};
        struct osc_strbuf notes = {0};

        osc_mem_fail_after(n);
        st = osc_logdir_find(&d, &(struct osc_log_root){"l", "label", false}, &notes, NULL);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_ENOMEM || d.n_runs == 3);
        osc_logdir_fini(&d);
        osc_strbuf_fini(&notes);
    }
    assert_int_equal(st, OSC_OK);
}

UNIT_MAIN("logdir")
