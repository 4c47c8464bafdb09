/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of readers with two made-up ones: they get files that import/foreign.h would refuse,
 * files of their suffixes, and what all readers have in common.
 */
#include "import/import.h"

#include <string.h>
#include <unistd.h>

#include "import/build/filename.h"
#include "import/peek.h"
#include "support/lines_reader.h"
#include "support/unit.h"

extern const struct osc_reader osc_reader_chrome;

#define DATABASE "SQLite format 3"
#define SAMPLES  "PERFILE2"

static bool begins_with(const char *head, size_t len, const char *word)
{
    return len >= strlen(word) && memcmp(head, word, strlen(word)) == 0;
}

/* Lines behind the first bytes of a database, or in a file whose name other programs use. */
static int probe_database(const char *head, size_t len)
{
    return begins_with(head, len, DATABASE "\n") ? OSC_FIT_SURE : OSC_FIT_NONE;
}

static bool begins_database(const char *text, size_t len)
{
    return begins_with(text, len, DATABASE);
}

/* A reader that does not know better than by these bytes. */
static int probe_samples(const char *head, size_t len)
{
    return begins_with(head, len, SAMPLES) ? OSC_FIT_WEAK : OSC_FIT_NONE;
}

static const struct osc_reader database_reader = {.name = "database",
                                                  .suffixes = ".db .nsys-rep",
                                                  .probe = probe_database,
                                                  .begins = begins_database,
                                                  .read = lines_read};
static const struct osc_reader samples_reader = {
    .name = "samples", .suffixes = ".samples", .probe = probe_samples, .read = lines_read};

/* Instead of that of import/readers.c. */
const struct osc_reader *const osc_readers[] = {
    &osc_reader_chrome, &osc_reader_records, &lines_reader,
    &database_reader,   &samples_reader,     NULL,
};

static osc_status load(struct osc_trace *t, const char *name, const char *text,
                       struct osc_err *err)
{
    const struct osc_import_options options = {.n_threads = 1};

    *t = (struct osc_trace){0};
    return osc_import_memory(t, name, osc_str_c(text), &options, err);
}

TEST(a_reader_takes_a_file_that_is_foreign_without_it)
{
    static const char text[] = DATABASE "\nthread main 1 2\noperator main 5 10 aten::mm\n";
    struct osc_err err = {0};
    struct osc_trace t;

    assert_int_equal(load(&t, "report.nsys-rep", text, &err), OSC_OK);
    assert_true(osc_str_eq(osc_trace_str(&t, t.format), OSC_STR("database")));
    assert_int_equal(t.events.n_rows, 1);
    osc_trace_fini(&t);
    /* The same bytes, but not those that the reader asks for. */
    assert_int_equal(load(&t, "a.db", DATABASE, &err), OSC_EFORMAT);
    assert_non_null(strstr(err.message, "an SQLite database"));
    assert_int_equal(load(&t, "a.nsys-rep", "\1\2", &err), OSC_EFORMAT);
    assert_non_null(strstr(err.message, "a report of Nsight Systems"));
}

TEST(a_weak_fit_does_not_take_a_file_that_is_known)
{
    static const char text[] = SAMPLES "\nthread main 1 2\n";
    struct osc_err err = {0};
    struct osc_trace t;

    assert_int_equal(load(&t, "perf.data", text, &err), OSC_EFORMAT);
    assert_non_null(strstr(err.message, "a recording of perf"));
}

TEST(what_fits_no_reader_and_is_not_known_gets_the_message_of_the_first)
{
    struct osc_err err = {0};
    struct osc_trace t;

    assert_int_equal(load(&t, "notes.txt", "not a trace\n", &err), OSC_EFORMAT);
    assert_non_null(strstr(err.message, "notes.txt"));
}

TEST(files_of_a_reader_are_known_by_its_suffixes)
{
    assert_ptr_equal(osc_filename_parse("a/b.nsys-rep").reader, &database_reader);
    assert_ptr_equal(osc_filename_parse("b.db.gz").reader, &database_reader);
    assert_ptr_equal(osc_filename_parse("rank3.samples").reader, &samples_reader);
    assert_int_equal(osc_filename_parse("rank3.samples").rank, 3);
    assert_ptr_equal(osc_filename_parse("a.lines.zst").reader, &lines_reader);
    assert_ptr_equal(osc_filename_parse("a.json").reader, &osc_reader_chrome);
    assert_null(osc_filename_parse("b.nsys").reader);
    assert_false(osc_filename_parse("w.pt.trace.lines").is_logdir);
}

TEST(a_file_of_a_directory_is_judged_by_its_own_reader)
{
    char path[] = "/tmp/opscope-readers-XXXXXX.db";
    const int fd = mkstemps(path, (int)strlen(".db"));

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"lr\": 1}", 9), 9);
    assert_false(osc_import_begins_like_trace(path)); /* JSON, but called *.db */
    assert_int_equal(pwrite(fd, DATABASE, strlen(DATABASE), 0), (ssize_t)strlen(DATABASE));
    assert_true(osc_import_begins_like_trace(path));
    close(fd);
    assert_int_equal(unlink(path), 0);
    assert_true(osc_import_begins_like_trace("/nowhere/a.samples"));
}

TEST(devices_of_any_reader_are_members)
{
    static const char text[] = "thread main 1 2\ndevice npu:0 NPU 0 1024 8\n"
                               "queue npu:0.1 npu:0 1\nkernel npu:0.1 5 10 k\n";
    struct osc_str value;
    struct osc_err err = {0};
    struct osc_trace t;

    assert_int_equal(load(&t, "a.lines", text, &err), OSC_OK);
    assert_true(osc_trace_meta(&t, "deviceProperties", &value));
    assert_non_null(memmem(value.s, value.len, "\"totalGlobalMem\":1024", 21));
    osc_trace_fini(&t);
}

UNIT_MAIN("readers")
