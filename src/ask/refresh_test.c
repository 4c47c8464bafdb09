/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A refreshed set gives the answers of a set that is newly opened, and does not read unchanged
 * files again. To prove it, unchanged files are overwritten with garbage, with the same size,
 * inode and time of change.
 */
#include "ask/refresh.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/drawing.h"
#include "ask/set.h"
#include "base/mem.h"
#include "support/unit.h"

static char folder[64];
static struct osc_set *set;
static struct osc_err err;
static struct osc_changes changes;

static const char *path_of(const char *name)
{
    static char paths[2][512];
    static unsigned turn;
    char *const path = paths[turn++ % 2];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Write the trace of RANK: N operators in two steps, from AT microseconds on. */
static void write_trace(const char *name, int rank, int at, int n)
{
    FILE *const f = fopen(path_of(name), "w");

    assert_non_null(f);
    fprintf(
        f, "{\"distributedInfo\": {\"rank\": %d}, \"host_name\": \"h%d\", \"traceEvents\": [\n",
        rank, rank);
    for (int i = 0; i < n; i++)
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,"
                "\"ts\":%d,\"dur\":5},\n",
                i % 3, at + 1 + i * 10);
    for (int i = 0; i < 2; i++)
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\","
                "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d},\n",
                i, at + i * n * 5, n * 5);
    fputs("{}]}", f);
    assert_int_equal(fclose(f), 0);
}

/* Overwrite the file NAME so that only its content shows it. */
static void spoil(const char *name)
{
    const int fd = open(path_of(name), O_WRONLY);
    struct stat info;

    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    for (off_t at = 0; at < info.st_size; at++)
        assert_int_equal(pwrite(fd, "x", 1, at), 1);
    const struct timespec times[] = {info.st_atim, info.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/opscope-refresh-XXXXXX");
    set = NULL;
    if (!mkdtemp(folder))
        return -1;
    write_trace("rank0.json", 0, 1000, 20);
    write_trace("rank1.json", 1, 1100, 30);
    return 0;
}

static int tear_down(void **state)
{
    DIR *const d = opendir(folder);

    (void)state;
    osc_set_release(set);
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        (void)unlink(path_of(e->d_name));
    closedir(d);
    return rmdir(folder);
}

static struct osc_set *open_folder(const struct osc_how *how)
{
    const char *const path = folder;
    struct osc_set *opened = NULL;

    err = (struct osc_err){0};
    assert_int_equal(osc_set_open(&opened, &path, 1, how, &err), OSC_OK);
    return opened;
}

static int add_text(void *ctx, const char *s, size_t len)
{
    osc_strbuf_add(ctx, s, len);
    return 0;
}

/* Append the answers of OF about VIEW, in all tables. */
static void say(struct osc_set *of, const struct osc_view *view, struct osc_strbuf *out)
{
    const struct osc_layout layout = {.format = "json", .write = add_text, .ctx = out};

    for (size_t i = 0; osc_catalog_name(i); i++) {
        const struct osc_question q = {.table = osc_catalog_name(i)};

        osc_strbuf_adds(out, q.table);
        assert_int_equal(osc_ask_text(of, view, &q, &layout, &err), OSC_OK);
    }
}

static const struct osc_view late = {.has_from = 1, .from_ns = 100000};
static const struct osc_view step = {.steps = "1"};

static void say_all(struct osc_set *of, struct osc_strbuf *out)
{
    osc_strbuf_clear(out);
    say(of, NULL, out);
    say(of, &late, out);
    say(of, &step, out);
    osc_strbuf_adds(out, osc_set_notes(of));
    assert_int_equal(out->status, OSC_OK);
}

/* Assert that the set, once refreshed, answers as a set that is opened now. The N files SPOILED
 * are overwritten before the refresh. */
static void assert_refreshed(const char *const *spoiled, size_t n)
{
    struct osc_set *const fresh = open_folder(NULL);
    struct osc_strbuf now = {0}, then = {0};

    say_all(fresh, &then);
    osc_set_release(fresh);
    for (size_t i = 0; i < n; i++)
        spoil(spoiled[i]);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    say_all(set, &now);
    assert_string_equal(now.s, then.s);
    osc_strbuf_fini(&now);
    osc_strbuf_fini(&then);
}

static void assert_changes(uint32_t n_kept, uint32_t n_read, uint32_t n_gone)
{
    assert_int_equal(changes.n_kept, n_kept);
    assert_int_equal(changes.n_read, n_read);
    assert_int_equal(changes.n_gone, n_gone);
}

/* Open the folder and ask it once. */
static void open_and_ask(void)
{
    struct osc_strbuf out = {0};

    set = open_folder(NULL);
    say_all(set, &out);
    osc_strbuf_fini(&out);
}

/* The fingerprint of all operators in VIEW. */
static void get_fingerprint(struct osc_set *of, const struct osc_view *view, char text[40])
{
    struct osc_frame *f = NULL;

    assert_int_equal(osc_ask(of, view, &(struct osc_question){.table = "operators"}, &f, &err),
                     OSC_OK);
    snprintf(text, 40, "%s", osc_frame_fingerprint(f));
    osc_frame_release(f);
}

static const char *const both[] = {"rank0.json", "rank1.json"};

TEST_WITH(what_has_not_changed_is_not_read, set_up, tear_down)
{
    open_and_ask();
    assert_refreshed(both, 2);
    assert_changes(2, 0, 0);
    assert_int_equal(osc_set_refresh(set, NULL, NULL), OSC_OK);
}

TEST_WITH(a_file_that_appears_is_read_alone, set_up, tear_down)
{
    open_and_ask();
    write_trace("rank2.json", 2, 2000, 10);
    assert_refreshed(both, 2);
    assert_changes(2, 1, 0);
}

/* Assert that what is drawn of the set has the fingerprint of its tables, or not. */
static void assert_drawn_as(const char *fingerprint, bool is_same)
{
    struct osc_drawing d;

    assert_int_equal(osc_drawing_begin(&d, set, &err), OSC_OK);
    assert_int_equal(strcmp(d.fingerprint, fingerprint) == 0, is_same);
    osc_drawing_end(&d);
}

TEST_WITH(a_timeline_says_of_which_files_it_is, set_up, tear_down)
{
    char before[40], after[40];

    open_and_ask();
    get_fingerprint(set, NULL, before);
    assert_drawn_as(before, true);
    write_trace("rank2.json", 2, 2000, 10);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_drawn_as(before, false); /* before any table of these files is asked for */
    get_fingerprint(set, NULL, after);
    assert_drawn_as(after, true);
}

/* Write TEXT to the file NAME. */
static void write_text(const char *name, const char *text, size_t len)
{
    FILE *const f = fopen(path_of(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* A file that has just begun and one beside are no failure: quality names them. */
TEST_WITH(a_file_that_is_being_written_is_read_when_it_is_whole, set_up, tear_down)
{
    open_and_ask();
    write_text("rank2.json", "", 0);
    assert_refreshed(NULL, 0);
    assert_changes(2, 0, 0);
    assert_string_equal(osc_set_notes(set), "");
#if OSC_WITH_GZIP
    write_text("rank3.json.gz", "\x1f\x8b\x08\0\0\0\0\0", 8);
#endif
    write_text("notes.txt", "x", 1);
    assert_refreshed(NULL, 0);
    assert_changes(2, 0, 0);
    assert_string_equal(osc_set_notes(set), "");
    write_trace("rank2.json", 2, 2000, 10);
    assert_refreshed(NULL, 0);
    assert_changes(2, 1, 0);
}

/* All times then count from another origin, also those of files that are not read again. */
TEST_WITH(an_earlier_file_moves_the_times_of_those_that_are_kept, set_up, tear_down)
{
    open_and_ask();
    write_trace("rank2.json", 2, 500, 10);
    assert_refreshed(both, 2);
    assert_changes(2, 1, 0);
    assert_int_equal(unlink(path_of("rank2.json")), 0);
    struct osc_strbuf out = {0};
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(2, 0, 1);
    say_all(set, &out);
    osc_strbuf_fini(&out);
}

/* The windows of rank 0 get new numbers, and another host becomes the first. */
TEST_WITH(a_file_that_comes_first_numbers_the_others_anew, set_up, tear_down)
{
    open_and_ask();
    write_trace("a.json", 0, 1050, 10);
    write_trace("0.json", 3, 900, 10);
    assert_refreshed(both, 2);
    assert_changes(2, 2, 0);
}

TEST_WITH(a_file_that_is_replaced_or_grows_is_read_again, set_up, tear_down)
{
    open_and_ask();
    write_trace("new", 1, 1300, 30);
    assert_int_equal(rename(path_of("new"), path_of("rank1.json")), 0);
    assert_refreshed(both, 1);
    assert_changes(1, 1, 1);
    write_trace("rank1.json", 1, 1300, 40);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(1, 1, 1);
}

TEST_WITH(a_file_of_a_folder_that_vanishes_leaves_the_set, set_up, tear_down)
{
    open_and_ask();
    assert_int_equal(unlink(path_of("rank0.json")), 0);
    assert_refreshed(both + 1, 1);
    assert_changes(1, 0, 1);
}

TEST_WITH(what_cannot_be_read_any_more_is_told, set_up, tear_down)
{
    open_and_ask();
    FILE *const f = fopen(path_of("rank0.json"), "w");
    fputs("not a trace", f);
    fclose(f);
    assert_refreshed(both + 1, 1);
    assert_changes(1, 0, 1);
    assert_non_null(strstr(osc_set_notes(set), "rank0.json"));
    write_trace("rank0.json", 0, 1000, 20);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(1, 1, 0);
    assert_string_equal(osc_set_notes(set), "");
}

TEST_WITH(a_path_that_vanishes_leaves_the_set_as_it_was, set_up, tear_down)
{
    const char *const path = path_of("rank0.json");
    char before[40], after[40];

    assert_int_equal(osc_set_open(&set, &path, 1, NULL, &err), OSC_OK);
    get_fingerprint(set, NULL, before);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_EIO);
    assert_non_null(strstr(err.message, "rank0.json"));
    assert_changes(0, 0, 0);
    get_fingerprint(set, NULL, after);
    assert_string_equal(before, after);
}

TEST_WITH(fingerprints_are_those_of_the_files, set_up, tear_down)
{
    static const struct osc_view first = {.ranks = "0"}, second = {.ranks = "1"};
    char of_all[40], of_first[40], of_second[40], other[40];

    set = open_folder(NULL);
    get_fingerprint(set, NULL, of_all);
    get_fingerprint(set, &first, of_first);
    get_fingerprint(set, &second, of_second);
    assert_int_equal(strlen(of_all), 32);
    assert_int_equal(strspn(of_all, "0123456789abcdef"), 32);
    get_fingerprint(set, &step, other);
    assert_string_equal(of_all, other);
    assert_string_not_equal(of_all, of_first);
    assert_string_not_equal(of_second, of_first);
    osc_set_release(set);
    set = open_folder(NULL);
    get_fingerprint(set, NULL, other);
    assert_string_equal(of_all, other);

    write_trace("rank1.json", 1, 1100, 31);
    assert_int_equal(osc_set_refresh(set, NULL, NULL), OSC_OK);
    get_fingerprint(set, NULL, other);
    assert_string_not_equal(of_all, other);
    get_fingerprint(set, &first, other);
    assert_string_equal(of_first, other);
    get_fingerprint(set, &second, other);
    assert_string_not_equal(of_second, other);
}

TEST_WITH(a_set_that_was_opened_for_a_view_is_read_again_as_a_whole, set_up, tear_down)
{
    const struct osc_how how = {.only = &(struct osc_view){.ranks = "1"}};
    char before[40], after[40];

    set = open_folder(&how);
    get_fingerprint(set, NULL, before);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(1, 0, 0);
    write_trace("rank0.json", 0, 500, 20);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(0, 1, 1);
    get_fingerprint(set, NULL, after);
    assert_string_not_equal(before, after); /* its origin has moved */
}

TEST_WITH(what_does_not_fit_leaves_the_set_as_it_was, set_up, tear_down)
{
    char before[40], after[40];

    write_trace("rank0.json", 0, 1000, 100000);
    const struct osc_how how = {.n_threads = 1, .max_memory_bytes = 100 << 20};
    set = open_folder(&how);
    assert_string_equal(osc_set_notes(set), "");
    get_fingerprint(set, NULL, before);
    write_trace("rank0.json", 0, 1000, 200000);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_ELIMIT);
    assert_non_null(strstr(err.message, "the set is as it was"));
    get_fingerprint(set, NULL, after);
    assert_string_equal(before, after);
}

static int refresh_again(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    struct osc_set *const *const of = ctx;

    (void)path;
    (void)done_bytes;
    (void)total_bytes;
    return *of && osc_set_refresh(*of, NULL, NULL) != OSC_EINVAL;
}

TEST_WITH(progress_must_not_refresh, set_up, tear_down)
{
    const struct osc_how how = {.progress = refresh_again, .ctx = &set};

    set = open_folder(&how);
    write_trace("rank0.json", 0, 1000, 10);
    assert_int_equal(osc_set_refresh(set, &changes, &err), OSC_OK);
    assert_changes(1, 1, 1);
}

/* Fail the first allocation, then the second, ... until the refresh succeeds. */
TEST_WITH(any_allocation_may_fail, set_up, tear_down)
{
    osc_status st = OSC_ENOMEM;

    open_and_ask();
    write_trace("rank2.json", 2, 500, 10);
    for (long n = 0; st != OSC_OK || changes.n_read == 0; n++) {
        osc_mem_fail_after(n);
        st = osc_set_refresh(set, &changes, &err);
        osc_mem_fail_after(-1);
        assert_true(st == OSC_OK || st == OSC_ENOMEM);
    }
    assert_refreshed(both, 2);
}

UNIT_MAIN("refresh")
