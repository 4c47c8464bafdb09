/* SPDX-License-Identifier: Apache-2.0 */
/* Random runs give the same text with all files open at once and with one file at a time. */
#include "ask/trace_parts.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/table_registry.h"
#include "ask/evaluate.h"
#include "base/mem.h"
#include "support/peak.h"
#include "support/random_trace.h"
#include "support/unit.h"

#define N_RUNS    (6 / UNIT_SLOWNESS)
#define FILES_MAX 5

static char folder[] = "/tmp/opscope-trace-parts-XXXXXX";
static struct osc_strbuf paths[FILES_MAX];
static const char *names[FILES_MAX];
static size_t n_files;

static void write_file(const char *path, const char *text)
{
    FILE *const f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, strlen(text), 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* Write the files of another run; two may get the same name, so there may be one less. */
static void make_run(void)
{
    struct osc_strbuf text = {0};

    n_files = 2 + below(FILES_MAX - 1);
    for (uint32_t i = 0; i < n_files; i++) {
        osc_strbuf_clear(&text);
        osc_strbuf_addf(&paths[i], "%s/", folder);
        make_trace(i, &text, &paths[i]);
        write_file(paths[i].s, text.s);
        names[i] = paths[i].s;
    }
    osc_strbuf_fini(&text);
}

static void remove_run(void)
{
    for (uint32_t i = 0; i < n_files; i++) {
        (void)unlink(paths[i].s);
        osc_strbuf_fini(&paths[i]);
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(folder + sizeof folder - 7, 'X', 6);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int take_text(void *ctx, const char *s, size_t n)
{
    osc_strbuf_add(ctx, s, n);
    return 0;
}

static void take_line(void *ctx, const char *line)
{
    osc_strbuf_addf(ctx, "%s\n", line);
}

/* Append the answers to the N questions REQUESTS to OUT, with all notes and messages. */
static bool ask(const struct osc_request *requests, size_t n, bool is_by_rank,
                struct osc_strbuf *out)
{
    struct osc_asked asked[2] = {{0}}, *const all[] = {&asked[0], &asked[1]};
    const struct osc_load o = {.paths = names,
                               .n_paths = n_files,
                               .how = &requests[0].how,
                               .view = &requests[0].view,
                               .hear = take_line,
                               .hear_ctx = out,
                               .asker = osc_mem_account_here()};
    struct osc_load own = o;
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    bool was_by_rank = false;

    for (size_t i = 0; i < n; i++) {
        struct osc_request r = requests[i];

        r.text.write = take_text;
        r.text.ctx = out;
        assert_int_equal(osc_asked_init(&asked[i], &r, NULL, &err), OSC_OK);
    }
    own.selects_late = osc_asked_selects_late(&asked[0]);
    osc_status st = osc_set_load_to_ask(&set, &own, all, is_by_rank ? n : 0, &err);
    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        was_by_rank = osc_set_loaded(set)->is_visited;
        assert_int_equal(osc_set_loaded(set)->n_traces == 0, was_by_rank);
        st = osc_evaluate_opened(set, &asked[i], NULL, &err);
        if (st == OSC_OK)
            st = osc_asked_write(&asked[i], &err);
    }
    osc_strbuf_addf(out, "%d %s\n", st, st == OSC_OK ? "" : err.message);
    assert_int_equal(out->status, OSC_OK);
    for (size_t i = 0; i < n; i++)
        osc_asked_fini(&asked[i]);
    osc_set_release(set);
    return was_by_rank;
}

/* Assert that both ways give the same text. Returns whether the second went by rank. */
static bool compare(const struct osc_request *requests, size_t n)
{
    struct osc_strbuf together = {0}, apart = {0};

    assert_false(ask(requests, n, false, &together));
    const bool was_by_rank = ask(requests, n, true, &apart);
    if (strcmp(together.s, apart.s) != 0)
        fail_msg("%s:\n%s\nbut by rank:\n%s", requests[0].question.table, together.s, apart.s);
    osc_strbuf_fini(&together);
    osc_strbuf_fini(&apart);
    return was_by_rank;
}

/* Views, and their times in every form that users may give. A file has events for 0.4 ms; the
 * files begin within 5.1 ms. */
static const struct {
    struct osc_view view;
    const char *from, *to;
} views[] = {
    {{.ranks = NULL}, NULL, NULL},
    {{.ranks = "1"}, NULL, NULL},
    {{.ranks = "0,2"}, NULL, NULL},
    {{.ranks = "7"}, NULL, NULL},
    {{.spans = "2"}, NULL, NULL},
    {{.ranks = "0-1", .spans = "1-2"}, NULL, NULL},
    {{.steps = "1"}, NULL, NULL},
    {{.steps = "@0-@1", .ranks = "1"}, NULL, NULL},
    {{.steps = "77"}, NULL, NULL},
    {{.process = "1"}, NULL, NULL},
    {{.process = "nobody"}, NULL, NULL},
    {{.device = "cuda:1"}, NULL, NULL},
    {{.thread = "2", .spans = "1"}, NULL, NULL},
    /* from here on with times */
    {{.ranks = NULL}, "100us", NULL},
    {{.ranks = NULL}, NULL, "300000"},
    {{.ranks = NULL}, "0", "1"}, /* at most the first event */
    {{.ranks = NULL}, "0.05ms", "4.5ms"},
    {{.ranks = NULL}, "2s", NULL}, /* after the last */
    {{.ranks = "1"}, "1ms", "3ms"},
    {{.ranks = "7"}, "1ms", NULL},
    {{.spans = "2", .ranks = "0-1"}, "0.0002s", NULL},
    {{.steps = "1"}, "150us", NULL},
    {{.steps = "@0-@2", .spans = "1"}, NULL, "2.5ms"},
    {{.steps = "77"}, "100ns", NULL},
    {{.process = "1", .device = "cuda:0"}, "120us", "5000us"},
    {{.thread = "2"}, NULL, "0.25ms"},
};

#define N_VIEWS       (sizeof views / sizeof *views)
#define N_TIMED_VIEWS 13

/* A random limit and order of the rows of DEF. */
static struct osc_question question_of(const struct osc_table_def *def)
{
    static const int64_t limits[] = {0, 0, -1, 1, 2, 7};
    static char sort[64];
    struct osc_question q = {.table = def->name,
                             .merge = (int)below(2),
                             .limit = limits[below(sizeof limits / sizeof *limits)]};

    snprintf(sort, sizeof sort, "%s%s", def->columns[below(def->n_columns)].name,
             below(2) ? ":asc" : "");
    if (below(2))
        q.sort = sort;
    return q;
}

static struct osc_view view_of(size_t k)
{
    struct osc_request r = {.view = views[k].view};
    struct osc_err err = {0};

    if (views[k].from)
        assert_int_equal(osc_request_set(&r, OSC_PART_VIEW, "from", views[k].from, &err), 0);
    if (views[k].to)
        assert_int_equal(osc_request_set(&r, OSC_PART_VIEW, "to", views[k].to, &err), 0);
    return r.view;
}

TEST_WITH(every_table_is_the_same, set_up, tear_down)
{
    static const char *const forms[] = {"csv", "text", "json"};

    (void)state;
    for (uint32_t run = 0; run < N_RUNS; run++) {
        make_run();
        for (uint32_t k = 0; osc_tables[k]; k++) {
            if (osc_tables[k]->comparison)
                continue;
            for (uint32_t n = 0; n < 3; n++) {
                const struct osc_request requests[] = {
                    {.view = view_of(n == 0 ? 0 : below(N_VIEWS)),
                     .question = question_of(osc_tables[k]),
                     .text.format = forms[below(3)]},
                    {.question = {.table = "quality", .merge = 1}},
                };
                const bool was_by_rank = compare(requests, 2);

                if (n == 0)
                    assert_int_equal(was_by_rank, osc_tables[k]->mapping != NULL);
            }
        }
        remove_run();
    }
}

/* Times count from an origin that is known only after all files are read. */
TEST_WITH(times_from_the_origin_are_the_same, set_up, tear_down)
{
    (void)state;
    for (uint32_t run = 0; run < 2; run++) {
        make_run();
        for (uint32_t i = 0; osc_tables[i]; i++) {
            if (osc_tables[i]->comparison)
                continue;
            for (size_t k = N_VIEWS - N_TIMED_VIEWS; k < N_VIEWS; k++) {
                const struct osc_request r = {
                    .how.n_threads = 1,
                    .view = view_of(k),
                    .question = question_of(osc_tables[i]),
                };

                (void)compare(&r, 1);
            }
        }
        remove_run();
    }
}

TEST_WITH(moments_from_the_origin_are_the_same, set_up, tear_down)
{
    static const char *const moments[] = {"0",      "1us",   "200000", "0.35ms",
                                          "0.002s", "4.9ms", "1s"};

    (void)state;
    make_run();
    for (uint32_t i = 0; osc_tables[i]; i++) {
        if (osc_tables[i]->comparison)
            continue;
        for (size_t k = 0; k < sizeof moments / sizeof *moments; k++) {
            struct osc_request r = {.how.n_threads = 1, .question = question_of(osc_tables[i])};
            struct osc_err err = {0};

            if (!osc_request_is_for("at", osc_tables[i]))
                continue;
            assert_int_equal(osc_request_set(&r, OSC_PART_QUESTION, "at", moments[k], &err),
                             OSC_OK);
            assert_true(compare(&r, 1));
            r.view = view_of(below(N_VIEWS));
            (void)compare(&r, 1);
        }
    }
    remove_run();
}

/* A run whose first file gets an earlier start while it is read. */
struct moving {
    size_t n_read;    /* files that were read to their end */
    size_t n_changes; /* how often the file still changes */
};

static void write_start(uint32_t start)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text,
                    "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\","
                    "\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":5}]}",
                    start);
    assert_int_equal(text.status, OSC_OK);
    write_file(names[0], text.s);
    osc_strbuf_fini(&text);
}

static int change_first(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    struct moving *const m = ctx;

    (void)done_bytes, (void)total_bytes;
    if (path || ++m->n_read % n_files != 0 || m->n_changes == 0)
        return 0;
    write_start((uint32_t)(100 + m->n_changes--));
    return 0;
}

/* Ask with a file that starts earlier after each of the first N_CHANGES visits. Returns how
 * often the files were read. */
static size_t ask_while_moving(size_t n_changes)
{
    struct moving m = {.n_changes = n_changes};
    const struct osc_request r = {
        .how = {.progress = change_first, .ctx = &m, .n_threads = 1},
        .view = {.has_to = 1, .to_ns = 90000000},
        .question = {.table = "steps"},
    };
    const struct osc_request later = {.view = r.view, .question = r.question};
    struct osc_strbuf moved = {0}, at_rest = {0};

    write_start(200);
    (void)ask(&r, 1, true, &moved);
    (void)ask(&later, 1, false, &at_rest);
    assert_string_equal(moved.s, at_rest.s);
    osc_strbuf_fini(&moved);
    osc_strbuf_fini(&at_rest);
    return m.n_read / n_files;
}

/* Files are visited until their origins are those that they were asked with; in the end all
 * are held. */
TEST_WITH(origins_that_move_are_found_again, set_up, tear_down)
{
    (void)state;
    make_run();
    while (n_files < 3) {
        remove_run();
        make_run();
    }
    assert_int_equal(ask_while_moving(0), 2);
    assert_int_equal(ask_while_moving(1), 3);
    assert_int_equal(ask_while_moving(4), 5);
    remove_run();
}

static void *write_pipe(void *path)
{
    write_file(path, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\","
                     "\"pid\":1,\"tid\":1,\"ts\":9,\"dur\":5}]}");
    return NULL;
}

/* A pipe can be read only once, so the traces are held. */
TEST_WITH(a_pipe_is_read_once, set_up, tear_down)
{
    const struct osc_request r = {.view = {.has_to = 1, .to_ns = 90000000},
                                  .question = {.table = "operators"}};
    struct osc_strbuf out = {0}, pipe = {0};
    pthread_t writer;

    (void)state;
    make_run();
    osc_strbuf_addf(&pipe, "%s/pipe.json", folder);
    assert_int_equal(mkfifo(pipe.s, 0600), 0);
    names[0] = pipe.s;
    assert_int_equal(pthread_create(&writer, NULL, write_pipe, pipe.s), 0);
    assert_false(ask(&r, 1, true, &out));
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_non_null(strstr(out.s, "aten::a"));
    assert_int_equal(unlink(pipe.s), 0);
    osc_strbuf_fini(&pipe);
    osc_strbuf_fini(&out);
    remove_run();
}

/* Append the fingerprint of an answer of SET about VIEW. */
static void add_fingerprint(struct osc_set *set, const struct osc_view *view,
                            struct osc_strbuf *out)
{
    const struct osc_question q = {.table = "steps"};
    struct osc_frame *f = NULL;

    if (osc_ask(set, view, &q, &f, NULL) == OSC_OK)
        osc_strbuf_addf(out, "%s\n", osc_frame_fingerprint(f));
    osc_frame_release(f);
}

/* Open a set as HOW says, and append to OUT all that it answers about VIEW. */
static void add_answers(const struct osc_how *how, const struct osc_view *view,
                        struct osc_strbuf *out)
{
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    osc_status st = osc_set_open(&set, names, n_files, how, &err);

    assert_true((st == OSC_OK) == (set != NULL));
    osc_strbuf_addf(out, "%d %s\n", st, st == OSC_OK ? "" : err.message);
    if (st != OSC_OK)
        return;
    for (uint32_t t = 0; osc_tables[t]; t++) {
        if (osc_tables[t]->comparison)
            continue;
        const struct osc_question q = {.table = osc_tables[t]->name, .merge = (int)(t & 1)};
        const struct osc_layout layout = {.format = "csv", .write = take_text, .ctx = out};

        st = osc_ask_text(set, view, &q, &layout, &err);
        osc_strbuf_addf(out, "%d %s\n", st, st == OSC_OK ? "" : err.message);
    }
    add_fingerprint(set, view, out);
    osc_set_release(set);
}

/* A set that keeps no traces answers the same as one that keeps all. */
TEST_WITH(sets_are_the_same, set_up, tear_down)
{
    (void)state;
    for (uint32_t run = 0; run < 3; run++) {
        make_run();
        for (uint32_t k = 0; k < N_VIEWS - (run > 0 ? N_TIMED_VIEWS : 0); k++) {
            const struct osc_view view = view_of(k), *const only = below(2) ? &view : NULL;
            struct osc_strbuf texts[2] = {{0}};

            for (int by_one = 0; by_one < 2; by_one++) {
                const struct osc_how how = {.n_threads = 1, .one_by_one = by_one, .only = only};

                add_answers(&how, only ? NULL : &view, &texts[by_one]);
            }
            assert_string_equal(texts[0].s, texts[1].s);
            osc_strbuf_fini(&texts[0]);
            osc_strbuf_fini(&texts[1]);
        }
        remove_run();
    }
}

/* Append a table of SET that depends on all of its files. */
static void add_info(struct osc_set *set, struct osc_strbuf *out)
{
    const struct osc_question q = {.table = "info"};
    const struct osc_layout layout = {.format = "csv", .write = take_text, .ctx = out};

    assert_int_equal(osc_ask_text(set, NULL, &q, &layout, NULL), OSC_OK);
}

TEST_WITH(what_keeps_nothing_is_refreshed, set_up, tear_down)
{
    const struct osc_how how = {.one_by_one = 1};
    struct osc_strbuf text = {0}, name = {0}, refreshed = {0}, anew = {0};
    struct osc_set *set = NULL, *other = NULL;
    struct osc_changes changes;

    (void)state;
    make_run();
    assert_int_equal(osc_set_open(&set, names, n_files, &how, NULL), OSC_OK);
    assert_int_equal(osc_set_refresh(set, &changes, NULL), OSC_OK);
    assert_int_equal(changes.n_kept, n_files);
    assert_int_equal(changes.n_read + changes.n_gone, 0);
    make_trace(9, &text, &name);
    write_file(names[0], text.s);
    assert_int_equal(osc_set_refresh(set, &changes, NULL), OSC_OK);
    assert_int_equal(changes.n_read, n_files);
    assert_int_equal(changes.n_gone, n_files);
    assert_int_equal(osc_set_loaded(set)->n_traces, 0);
    assert_int_equal(osc_set_open(&other, names, n_files, NULL, NULL), OSC_OK);
    add_info(set, &refreshed);
    add_info(other, &anew);
    assert_string_equal(refreshed.s, anew.s);
    assert_int_equal(osc_set_refresh(set, &changes, NULL), OSC_OK);
    assert_int_equal(changes.n_kept, n_files);
    osc_set_release(set);
    osc_set_release(other);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&name);
    osc_strbuf_fini(&refreshed);
    osc_strbuf_fini(&anew);
    remove_run();
}

/* Counts the files that were read, and pulls a switch after the first. */
struct watch {
    struct osc_cancel *cancel;
    int n_read;
};

static int watch_reading(void *ctx, const char *path, uint64_t done, uint64_t total)
{
    struct watch *const w = ctx;

    (void)done, (void)total;
    if (!path && ++w->n_read == 1 && w->cancel)
        osc_cancel_pull(w->cancel);
    return 0;
}

TEST_WITH(limit_and_cancel_of_a_question_reach_its_reading, set_up, tear_down)
{
    struct watch w = {0};
    const struct osc_how how = {
        .one_by_one = 1, .progress = watch_reading, .ctx = &w, .n_threads = 1};
    struct osc_question q = {.table = "operators", .max_memory_bytes = 64 << 20};
    struct osc_set *set = NULL;
    struct osc_frame *f = NULL;
    struct osc_err err;

    (void)state;
    make_run();
    assert_int_equal(osc_set_open(&set, names, n_files, &how, NULL), OSC_OK);
    assert_int_equal(osc_ask(set, NULL, &q, &f, NULL), OSC_OK);
    osc_frame_release(f);
    q.max_memory_bytes = 100000;
    assert_int_equal(osc_ask(set, NULL, &q, &f, &err), OSC_ELIMIT);
    assert_non_null(strstr(err.message, "memory limit reached"));
    q.max_memory_bytes = 0;
    q.cancel = w.cancel = osc_cancel_new();
    w.n_read = 0;
    assert_int_equal(osc_ask(set, NULL, &q, &f, NULL), OSC_ECANCELED);
    assert_int_equal(w.n_read, 1);
    osc_set_release(set);
    osc_cancel_free(w.cancel);
    remove_run();
}

/* With one thread, only one file at a time is in memory. */
TEST_WITH(less_is_held, set_up, tear_down)
{
    const struct osc_how one_thread = {.n_threads = 1};
    const struct osc_request requests[] = {
        {.how = one_thread, .question = {.table = "operators", .merge = 1}},
        {.how = one_thread,
         .view = view_of(13),
         .question = {.table = "operators", .merge = 1}},
    };

    (void)state;
    make_run();
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        size_t peaks[2];

        for (int is_by_rank = 0; is_by_rank < 2; is_by_rank++) {
            struct osc_strbuf out = {0};
            struct peak peak;

            peak_begin(&peak);
            (void)ask(&requests[i], 1, is_by_rank, &out);
            peaks[is_by_rank] = peak_end(&peak);
            osc_strbuf_fini(&out);
        }
        assert_true(peaks[1] < peaks[0]);
    }
    remove_run();
}

/* A run of many short processes has a file for each. */
TEST_WITH(many_small_files_need_little_each, set_up, tear_down)
{
    enum { N = 300 };
    const struct osc_request requests[] = {{.question = {.table = "overview"}},
                                           {.question = {.table = "operators"}}};
    struct osc_asked asked[2] = {{0}}, *const all[] = {&asked[0], &asked[1]};
    const char *const operands[] = {folder};
    struct osc_load o = {
        .paths = operands, .n_paths = 1, .how = &requests[0].how, .view = &requests[0].view};
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    char path[64];
    struct peak peak;

    (void)state;
    for (int i = 0; i < N; i++) {
        (void)snprintf(path, sizeof path, "%s/%03d.json", folder, i);
        write_file(path, "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"work\",\"pid\":1,"
                         "\"tid\":1,\"ts\":1,\"dur\":2}]");
    }
    peak_begin(&peak);
    o.asker = osc_mem_account_here();
    for (int i = 0; i < 2; i++)
        assert_int_equal(osc_asked_init(&asked[i], &requests[i], NULL, &err), OSC_OK);
    assert_int_equal(osc_set_load_to_ask(&set, &o, all, 2, &err), OSC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(osc_evaluate_opened(set, &asked[i], NULL, &err), OSC_OK);
        assert_int_equal(asked[i].answer.n_blocks, N);
    }
    for (int i = 0; i < 2; i++)
        osc_asked_fini(&asked[i]);
    osc_set_release(set);
    assert_true(peak_end(&peak) < (4 << 20) + N * (12 << 10));
    for (int i = 0; i < N; i++) {
        (void)snprintf(path, sizeof path, "%s/%03d.json", folder, i);
        assert_int_equal(unlink(path), 0);
    }
}

UNIT_MAIN("trace_parts")
