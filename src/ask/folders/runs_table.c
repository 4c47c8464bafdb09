/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/runs_table.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "import/build/filename.h"

enum { RUN, WORKER, RANK, SPAN, TIME, BYTES, FILE_NAME, LEFT_OUT };

static const struct osc_column columns[] = {
    OSC_COLUMN(RUN, "run", STRING, NULL, FIRST, 0, 0,
               "Path of the directory from the one that was named on; --run chooses it."),
    OSC_COLUMN(
        WORKER, "worker", STRING, NULL, FIRST, 0, 0,
        "The process that wrote the file: its name up to the number; without a number, up "
        "to the suffix."),
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Rank in the name of the file or its directory. When the file is read, its "
               "metadata count first."),
    OSC_COLUMN(
        SPAN, "span", INTEGER, NULL, FIRST, 0, 0,
        "Recording window of the worker, counted from 1 in the order of the numbers in the "
        "names; missing for files that are not of a log directory."),
    OSC_COLUMN(
        TIME, "time", STRING, NULL, FIRST, 0, 0,
        "The number in the name as a time in UTC, if it is one: seconds, milli-, micro- or "
        "nanoseconds since 1970 by its digits."),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, 0, 0,
               "Size of the file as it is stored."),
    OSC_COLUMN(FILE_NAME, "file", STRING, NULL, FIRST, 0, 0, "Path of the file."),
    OSC_COLUMN(LEFT_OUT, "left_out", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Why it is not read; missing for traces of a run."),
};

const struct osc_table_def osc_table_runs = {
    .name = "runs",
    .help = "The runs, workers and spans of log directories.",
    .source = "names of directories and files.",
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
};

/* The nanoseconds of each unit of a number of so many digits that is a time since 1970; 0: it
 * is none. Such numbers have these lengths from 2001 to 2286. */
static int64_t unit_of(uint32_t n_digits)
{
    switch (n_digits) {
    case 10:
        return INT64_C(1000000000);
    case 13:
        return 1000000;
    case 16:
        return 1000;
    case 19:
        return 1;
    default:
        return 0;
    }
}

/* Set the time of the last row of R to NUMBER, if it is a time. */
static void add_time(struct osc_result *r, struct osc_str number)
{
    const int64_t unit = unit_of(number.len);
    int64_t value = 0;
    struct tm tm;
    char text[40];

    for (uint32_t i = 0; i < number.len && unit > 0; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, number.s[i] - '0', &value))
            return;
    if (unit == 0)
        return;
    const int64_t per_s = INT64_C(1000000000) / unit;
    const time_t seconds = (time_t)(value / per_s);
    if (!gmtime_r(&seconds, &tm))
        return;
    const size_t n = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%03d", (int)(value % per_s * unit / 1000000));
    osc_result_str(r, TIME, osc_str_c(text));
}

/* The length of the name of the directory that PATH is in. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

/* Whether the files at A and B are of one worker: of one directory and one name. */
static bool is_same_worker(const char *a, const struct osc_filename *x, const char *b,
                           const struct osc_filename *y)
{
    const size_t n = folder_length(a);

    return n == folder_length(b) && memcmp(a, b, n) == 0 && osc_str_eq(x->worker, y->worker);
}

/* The name of the worker of PATH, whose name is F. */
static struct osc_str worker_of(const char *path, const struct osc_filename *f)
{
    const char *const slash = strrchr(path, '/');
    const uint32_t at = slash ? (uint32_t)(slash + 1 - path) : 0;

    return f->is_logdir || f->is_recording ? f->worker
                                           : (struct osc_str){path + at, f->stem.len - at};
}

/* Append a row for PATH, which is left out for the reason WHY with DETAIL. */
static void add_left(struct osc_result *r, const char *path, const char *why,
                     const char *detail)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "%s%s%s", why, detail ? " " : "", detail ? detail : "");
    osc_result_row(r);
    osc_result_str(r, FILE_NAME, osc_str_c(path));
    osc_result_show(r, LEFT_OUT);
    if (text.status == OSC_OK)
        osc_result_str(r, LEFT_OUT, osc_str_c(text.s));
    else
        r->status = text.status;
    osc_strbuf_fini(&text);
}

static void add_run(struct osc_result *r, const struct osc_logdir *d,
                    const struct osc_log_run *run)
{
    struct osc_filename before = {.number = OSC_STR("")};
    const char *last = NULL;
    int64_t span = 0;

    if (run->n_files == 0) {
        add_left(r, run->path, "all traces in it are empty", NULL);
        osc_result_str(r, RUN, osc_str_c(run->name));
    }
    for (uint32_t i = run->first_file; i < run->first_file + run->n_files; i++) {
        const char *const path = d->files.all[i];
        const struct osc_filename f = osc_filename_parse(path);
        struct stat info;

        if (!last || !is_same_worker(last, &before, path, &f))
            span = 1;
        else
            span += osc_filename_compare_numbers(before.number, f.number) != 0;
        osc_result_row(r);
        osc_result_str(r, RUN, osc_str_c(run->name));
        osc_result_str(r, WORKER, worker_of(path, &f));
        if (f.has_rank) {
            osc_result_int(r, RANK, f.rank);
            osc_result_show(r, RANK);
        }
        if (f.is_logdir) {
            osc_result_int(r, SPAN, span);
            add_time(r, f.number);
        }
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
            osc_result_int(r, BYTES, info.st_size);
        osc_result_str(r, FILE_NAME, osc_str_c(path));
        last = path;
        before = f;
    }
}

/* Append rows for what is left out for the reason WHY. */
static void add_all_left(struct osc_result *r, const struct osc_left_out *l,
                         enum osc_left_why why)
{
    uint64_t n = 0;
    char more[40];

    for (uint32_t i = 0; i < l->n; i++) {
        const struct osc_left *const one = &l->all[i];

        if (one->why != why)
            continue;
        add_left(r, one->path,
                 why == OSC_LEFT_FAILED && one->detail ? one->detail : osc_left_why_text(why),
                 why == OSC_LEFT_FAILED ? NULL : one->detail);
        n++;
    }
    if (l->by_why[why] <= n)
        return;
    snprintf(more, sizeof more, "(%llu more)", (unsigned long long)(l->by_why[why] - n));
    add_left(r, more, osc_left_why_text(why), NULL);
}

osc_status osc_runs_table_add(struct osc_result *r, const struct osc_logdir *d)
{
    for (uint32_t i = 0; i < d->n_runs; i++)
        add_run(r, d, &d->runs[i]);
    for (int why = 0; why < OSC_LEFT_WHYS; why++)
        add_all_left(r, &d->left, (enum osc_left_why)why);
    return r->status;
}

static uint64_t count_workers(const struct osc_logdir *d)
{
    struct osc_filename before = {.number = OSC_STR("")};
    const char *last = NULL;
    uint64_t n = 0;

    for (uint32_t i = 0; i < d->files.n; i++) {
        const struct osc_filename f = osc_filename_parse(d->files.all[i]);

        const bool has_windows = f.is_logdir || f.is_recording;

        n += !has_windows || !last || !is_same_worker(last, &before, d->files.all[i], &f);
        last = has_windows ? d->files.all[i] : NULL;
        before = f;
    }
    return n;
}

void osc_runs_table_count(const struct osc_logdir *d, struct osc_strbuf *out)
{
    const uint64_t n_workers = count_workers(d);

    osc_strbuf_addf(out, "%u run%s, %llu worker%s, %u file%s", d->n_runs,
                    d->n_runs == 1 ? "" : "s", (unsigned long long)n_workers,
                    n_workers == 1 ? "" : "s", d->files.n, d->files.n == 1 ? "" : "s");
}
