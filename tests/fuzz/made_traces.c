/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_traces.c - read many made-up traces (grammar.h) in one process, and ask all of them.
 *
 * Usage: made_traces FIRST N       the traces of N seeds from FIRST on
 *        made_traces --show SEED   print the trace of SEED
 *
 * Each trace goes through the screen, ten tables (which ones, of what selection and in what
 * format, goes by the seed), parts of tables, a comparison, and the exports. What was exported
 * as JSON or as columns is read again, and its tables are the same. Every fourth trace is a
 * recording.
 *
 * Commands print to /dev/null; what a sanitizer finds goes to standard error, with the seed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command_options.h"
#include "cli/commands.h"
#include "cli/log_dirs.h"
#include "grammar.h"
#include "opscope/trace.h"

#define TOLD     10000u /* traces between two lines that tell how many were tried */
#define N_TABLES 10

/* One trace that is being tried. */
struct trial {
    uint64_t seed;
    struct grammar g;
    bool is_clean;             /* nothing was left out when it was read */
    const char *path;          /* of the trace */
    uint32_t tables[N_TABLES]; /* in the catalog */
    struct osc_view view;
    struct osc_strbuf answers[N_TABLES];
    uint32_t n_failures;
};

/* In memory, if there is such a place: half of the time would go to the disk. */
static char folder[] = "/dev/shm/made-traces-XXXXXX", elsewhere[] = "/tmp/made-traces-XXXXXX";
static char paths[8][64]; /* of files in it */
enum { TRACE, RECORDING, JSON, COLUMNS, OTHER, N_PATHS };
static const char *const names[N_PATHS] = {"t.json", "t.osc", "again.json", "again.osc", "o"};

static bool tells_all;            /* print answers that differ */
static volatile uint64_t current; /* seed, for a report of a crash */

/* Of the sanitizers, if there is one. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void say_seed(void)
{
    char text[64];
    const int n =
        snprintf(text, sizeof text, "made_traces: seed %llu\n", (unsigned long long)current);

    (void)!write(STDERR_FILENO, text, (size_t)n);
}

static void complain(struct trial *r, const char *what, const char *more)
{
    dprintf(STDERR_FILENO, "made_traces: seed %llu: %s %s\n", (unsigned long long)r->seed, what,
            more);
    r->n_failures++;
}

static bool is_recording(uint64_t seed)
{
    return seed % 4 == 3;
}

static void make(struct osc_strbuf *out, uint64_t seed)
{
    if (is_recording(seed))
        grammar_recording(out, seed);
    else
        grammar_trace(out, seed);
}

/* --- commands ------------------------------------------------------------------------ */

/* Run COMMAND with WORDS, ended by NULL, as the program does. */
static int run(const struct osc_command *command, const char *const *words)
{
    char texts[12][96], *argv[13];
    struct osc_args args;
    int argc = 0, failed;

    for (; words[argc] && argc < 12; argc++) {
        snprintf(texts[argc], sizeof texts[argc], "%s", words[argc]);
        argv[argc] = texts[argc];
    }
    argv[argc] = NULL;
    osc_cli_redirect(STDOUT_FILENO,
                     "standard output"); /* an export left it at its closed file */
    failed = osc_args_parse(&args, command, argc, argv);
    if (failed)
        return failed;
    failed = osc_log_dirs_choose(&args);
    if (!failed)
        failed = command->run(&args);
    osc_log_dirs_fini(&args);
    (void)fflush(stdout);
    return failed;
}

static void show_screen(struct trial *r)
{
    const char *const words[] = {
        "opscope", r->path, "--max-memory", "1G", "-j", r->seed % 16 == 3 ? "2" : "1", NULL};

    (void)run(&osc_command_screen, words);
}

static bool export_to(const char *from, const char *to, const char *form, const char *option)
{
    const char *const words[] = {"export", from, "-o",           to,   "--format", form,
                                 "-j",     "1",  "--max-memory", "1G", option,     NULL};

    return run(&osc_command_export, words) == OSC_EXIT_DONE;
}

/* --- tables -------------------------------------------------------------------------- */

static int add_text(void *ctx, const char *s, size_t len)
{
    osc_strbuf_add(ctx, s, len);
    return 0;
}

static const char *table_of(const struct trial *r, uint32_t i)
{
    return osc_catalog_name(r->tables[i]);
}

/* Whether TABLE says what is in a trace, not what was found when its file was read. */
static bool is_lasting(const char *table)
{
    return strcmp(table, "info") != 0 && strcmp(table, "quality") != 0 &&
           strcmp(table, "advice") != 0 && strcmp(table, "headlines") != 0;
}

static osc_status ask(struct osc_set *set, const struct trial *r, uint32_t i,
                      const char *format, struct osc_strbuf *out)
{
    const struct osc_question q = {.table = table_of(r, i), .limit = -1};
    const struct osc_layout layout = {.format = format, .write = add_text, .ctx = out};

    return osc_ask_text(set, &r->view, &q, &layout, NULL);
}

/* Whether the columns X and Y of N rows have the same cells, and texts in the same order. */
static bool is_same_column(const struct osc_frame_column *x, const struct osc_frame_column *y,
                           uint64_t n)
{
    static const size_t widths[] = {[OSC_TYPE_INTEGER] = sizeof(int64_t),
                                    [OSC_TYPE_NUMBER] = sizeof(double),
                                    [OSC_TYPE_BOOLEAN] = 1,
                                    [OSC_TYPE_STRING] = sizeof(int32_t)};
    const bool has_words = x->type == OSC_TYPE_STRING && x->n_words > 0;

    if (strcmp(x->name, y->name) != 0 || x->type != y->type || x->n_missing != y->n_missing ||
        (n > 0 && memcmp(x->values, y->values, n * widths[x->type]) != 0) ||
        (x->n_missing > 0 && memcmp(x->missing, y->missing, n) != 0))
        return false;
    return !has_words ||
           (x->n_words == y->n_words &&
            memcmp(x->word_offsets, y->word_offsets,
                   (x->n_words + (size_t)1) * sizeof *x->word_offsets) == 0 &&
            memcmp(x->word_bytes, y->word_bytes, (size_t)x->word_offsets[x->n_words]) == 0);
}

/* Whether X and Y, which may be NULL, are the same table. */
static bool are_same(const struct osc_frame *x, const struct osc_frame *y)
{
    if (!x || !y)
        return x == y;
    bool is_same =
        osc_frame_rows(x) == osc_frame_rows(y) && osc_frame_columns(x) == osc_frame_columns(y);

    for (size_t i = 0; is_same && i < osc_frame_columns(x); i++) {
        const struct osc_frame_column a = osc_frame_column_at(x, i),
                                      b = osc_frame_column_at(y, i);

        is_same = is_same_column(&a, &b, osc_frame_rows(x));
    }
    return is_same;
}

/* Ask for the table I as a part, and merge that: the same table. */
static void ask_part(struct osc_set *set, struct trial *r, uint32_t i)
{
    const struct osc_question q = {.table = table_of(r, i), .limit = -1};
    struct osc_strbuf out = {0};
    struct osc_frame *f = NULL, *whole = NULL;

    if (osc_ask_part(set, &r->view, &q, add_text, &out, NULL) == OSC_OK) {
        const struct osc_part part = {"part", out.s, out.len};

        const osc_status one = osc_ask(set, &r->view, &q, &whole, NULL),
                         joined = osc_merge(&part, 1, &f, NULL);

        if (one != joined || !are_same(f, whole))
            complain(r, q.table, "differs if it is merged");
    }
    osc_frame_release(f);
    osc_frame_release(whole);
    osc_strbuf_fini(&out);
}

/* Whether arguments are left out, which may have told who wrote the trace. */
static bool has_no_args(const struct trial *r)
{
    return r->seed % 16 == 1;
}

static osc_status open_set(struct osc_set **set, struct trial *r, const char *path)
{
    const struct osc_how how = {
        .n_threads = 1, .no_args = has_no_args(r), .one_by_one = r->seed % 16 == 2};

    return osc_set_open(set, &path, 1, &how, NULL);
}

/* Whether nothing of the trace that SET has was left out or repaired. */
static bool is_clean(struct osc_set *set)
{
    static const struct osc_question quality = {.table = "quality"};
    struct osc_frame *f = NULL;
    const bool is_asked = osc_ask(set, NULL, &quality, &f, NULL) == OSC_OK;
    const bool has_none = is_asked && osc_frame_rows(f) == 0;

    osc_frame_release(f);
    return has_none;
}

/* Ask the ten tables; keep the answers. */
static void ask_tables(struct trial *r)
{
    static const char *const formats[] = {"text", "json", "jsonl", "md", "arrow"};
    struct osc_strbuf out = {0};
    struct osc_set *set = NULL;

    if (open_set(&set, r, r->path) != OSC_OK)
        return;
    for (uint32_t i = 0; i < N_TABLES; i++)
        if (ask(set, r, i, "csv", &r->answers[i]) != OSC_OK)
            osc_strbuf_clear(&r->answers[i]);
    (void)ask(set, r, grammar_below(&r->g, N_TABLES),
              formats[grammar_below(&r->g, sizeof formats / sizeof *formats)], &out);
    ask_part(set, r, grammar_below(&r->g, N_TABLES));
    r->is_clean = is_clean(set);
    if (r->seed % 8 == 5) { /* as if it were two runs */
        const struct osc_layout layout = {.write = add_text, .ctx = &out};

        (void)!osc_compare_text(set, set, &r->view, NULL, &layout, NULL);
    }
    osc_strbuf_fini(&out);
    osc_set_release(set);
}

/* Replace FROM in TEXT: commands name the trace. */
static void replace(struct osc_strbuf *text, const char *from)
{
    struct osc_strbuf out = {0};
    const size_t n = strlen(from);
    size_t done = 0;

    for (const char *at; text->len > done &&
                         (at = memmem(text->s + done, text->len - done, from, n)) != NULL;) {
        osc_strbuf_add(&out, text->s + done, (size_t)(at - text->s) - done);
        osc_strbuf_adds(&out, "TRACE");
        done = (size_t)(at - text->s) + n;
    }
    if (text->len > done)
        osc_strbuf_add(&out, text->s + done, text->len - done);
    osc_strbuf_fini(text);
    *text = out;
}

/*
 * Read PATH, to which the trace was exported: the answers are the same. JSON has no place for
 * what was left out, which may have told who wrote the trace or named a line.
 */
static void ask_again(struct trial *r, const char *path)
{
    const bool is_columns = path == paths[COLUMNS];
    struct osc_set *set = NULL;

    if (open_set(&set, r, path) != OSC_OK) {
        complain(r, "cannot be read again:", path);
        return;
    }
    for (uint32_t i = 0; i < N_TABLES; i++) {
        struct osc_strbuf *const before = &r->answers[i], after = {0};

        if (ask(set, r, i, "csv", &after) != OSC_OK)
            osc_strbuf_clear(&after);
        replace(before, r->path);
        replace(&after, path);
        if (is_lasting(table_of(r, i)) && !has_no_args(r) && (is_columns || r->is_clean) &&
            (after.len != before->len ||
             (after.len > 0 && memcmp(after.s, before->s, after.len) != 0))) {
            complain(r, table_of(r, i), is_columns ? "(osc)" : "(json)");
            if (tells_all)
                dprintf(STDERR_FILENO, "--- before\n%.*s--- after\n%.*s", (int)before->len,
                        before->s, (int)after.len, after.s);
        }
        osc_strbuf_fini(&after);
    }
    osc_set_release(set);
}

/* --- a trial --------------------------------------------------------------------------- */

static const struct osc_view views[] = {
    {0},
    {0},
    {0},
    {0},
    {.has_from = 1, .from_ns = 2000},
    {.has_to = 1, .to_ns = 5000},
    {.steps = "@0"},
    {.device = "cuda:0"},
    {.process = "1"},
    {.ranks = "0"},
};

static void try_exports(struct trial *r)
{
    static const char *const forms[] = {"folded", "csv", "json.gz", "folded"};

    /* Redacted, or with calls of callers: it only has to be written. */
    if (r->seed % 8 == 1)
        (void)export_to(r->path, paths[OTHER], r->seed % 16 == 1 ? "json" : "osc", "--redact");
    else if (r->seed % 512 == 2)
        (void)export_to(r->path, paths[OTHER], "html", NULL);
    else
        (void)export_to(r->path, paths[OTHER], forms[r->seed / 8 % 4], NULL);
    if (r->seed % 2 == 0 && export_to(r->path, paths[JSON], "json", NULL))
        ask_again(r, paths[JSON]);
    if (r->seed % 2 == 1 && export_to(r->path, paths[COLUMNS], "osc", NULL))
        ask_again(r, paths[COLUMNS]);
}

static void write_file(const char *path, const struct osc_strbuf *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, text->s, text->len) != (ssize_t)text->len || close(fd) != 0)
        abort();
}

static uint32_t try_seed(uint64_t seed)
{
    struct trial r = {
        .seed = seed, .g = {~seed}, .path = paths[is_recording(seed) ? RECORDING : TRACE]};
    struct osc_strbuf text = {0};
    uint32_t n_tables = 0;

    current = seed;
    while (osc_catalog_name(n_tables))
        n_tables++;
    make(&text, seed);
    write_file(r.path, &text);
    osc_strbuf_fini(&text);
    for (uint32_t i = 0; i < N_TABLES; i++)
        r.tables[i] = (uint32_t)((seed * N_TABLES + i) * 7 % n_tables);
    r.view = views[grammar_below(&r.g, sizeof views / sizeof *views)];
    show_screen(&r);
    ask_tables(&r);
    try_exports(&r);
    for (uint32_t i = 0; i < N_TABLES; i++)
        osc_strbuf_fini(&r.answers[i]);
    return r.n_failures;
}

static int show(uint64_t seed)
{
    struct osc_strbuf out = {0};

    make(&out, seed);
    const bool is_written = fwrite(out.s, 1, out.len, stdout) == out.len;
    osc_strbuf_fini(&out);
    return is_written && fflush(stdout) == 0 ? 0 : 1;
}

/* Let commands print to nowhere; sanitizers write to the descriptor of standard error. */
static bool silence(void)
{
    FILE *const nowhere = fopen("/dev/null", "we");

    if (nowhere)
        stderr = nowhere;
    return nowhere && freopen("/dev/null", "we", stdout);
}

int main(int argc, char **argv)
{
    const int report = dup(STDOUT_FILENO);
    uint64_t first = 0, n = 0;
    uint32_t n_failures = 0;

    if (argc == 3 && strcmp(argv[1], "--show") == 0)
        return show(strtoull(argv[2], NULL, 10));
    const char *const place = mkdtemp(folder) ? folder : mkdtemp(elsewhere);
    if (argc != 3 || !place || !silence())
        return 2;
    first = strtoull(argv[1], NULL, 10);
    n = strtoull(argv[2], NULL, 10);
    tells_all = n == 1;
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(say_seed);
    for (uint32_t i = 0; i < N_PATHS; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", place, names[i]);
    for (uint64_t seed = first; seed < first + n; seed++) {
        n_failures += try_seed(seed);
        if ((seed - first + 1) % TOLD == 0) /* what has been tried if it is stopped */
            dprintf(report, "%llu traces\n", (unsigned long long)(seed - first + 1));
    }
    for (uint32_t i = 0; i < N_PATHS; i++)
        (void)unlink(paths[i]);
    (void)rmdir(place);
    dprintf(report, "%llu traces, %u findings\n", (unsigned long long)n, n_failures);
    return n_failures > 0;
}
