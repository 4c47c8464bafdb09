/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a table: table/NAME?...
 *
 * The query has the long options of `opscope table` (rank to name; not those that say how to
 * load), a switch without a value, and:
 *
 *     format   cols (the default: cols.h), csv, json, jsonl, md, arrow or text. All but cols
 *              are what the command prints, byte for byte.
 *     limit    for cols the number of rows from `offset` on, of the whole answer: 10,000 unless
 *              it says otherwise, 0 and at most 1,000,000; else the option of the command,
 *              which counts for each rank and span
 *     most     for cols that option of the command
 *     offset   for cols only
 *     made     for cols: with the order of rows before they were sorted
 *     sums     for cols: with the sum of each column over all rows, if all are made
 *     ints     for cols: number (Float64Array where exact)
 *     run      which run; base: the run that it is compared with, for tables of two runs
 *     fp       the fingerprint that the client knows; 409 if the run has another one now
 *
 * A question waits until its run is loaded, however long that takes.
 */
#include <string.h>

#include "analysis/table_registry.h"
#include "api/cols.h"
#include "api/endpoints.h"
#include "ask/evaluate.h"
#include "ask/operands.h"
#include "base/parse.h"
#include "table/question.h"

#define ROWS_DEFAULT 10000
#define ROWS_MAX     1000000
#define SORTED_LEAST 4096

/* What a query asks for. */
struct wanted {
    const struct osc_table_def *def;
    struct osc_request request;
    bool is_cols, has_numbers, has_made, has_sums;
    int64_t offset, limit; /* of cols */
    int64_t n_sorted; /* of a sorted table as long as the trace: rows that are enough; else 0 */
    uint32_t run, base;
    bool has_base;
    struct osc_strbuf command; /* owned */
};

/* --- reading the query ----------------------------------------------------------- */

/* Whether NAME is no option of the command. */
static bool is_ours(const struct wanted *w, const char *name)
{
    static const char *const names[] = {"format", "offset", "ints", "run",
                                        "base",   "fp",     "made", "sums"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return w->is_cols && strcmp(name, "limit") == 0;
}

/* Read the pair NAME, a number of rows up to MOST. */
static osc_status read_rows(const struct osc_api_call *c, const char *name, int64_t most,
                            int64_t *to, struct osc_err *err)
{
    const char *const text = osc_url_get(&c->url, name);

    if (text && !osc_parse_whole(text, 0, most, to))
        return osc_fail(err, OSC_EINVAL, "%s: '%s' is not a number from 0 to %lld", name, text,
                        (long long)most);
    return OSC_OK;
}

/* Read what is not an option of the command. */
static osc_status read_ours(const struct osc_api_call *c, struct wanted *w, struct osc_err *err)
{
    const char *const form = osc_url_get(&c->url, "format");
    const char *const ints = osc_url_get(&c->url, "ints");
    osc_status st = OSC_OK;

    w->is_cols = !form || strcmp(form, "cols") == 0;
    w->has_made = osc_url_get(&c->url, "made") != NULL;
    w->has_sums = osc_url_get(&c->url, "sums") != NULL;
    w->has_numbers = ints && strcmp(ints, "number") == 0;
    w->limit = ROWS_DEFAULT;
    if (!w->is_cols)
        st = osc_request_set(&w->request, OSC_PART_TEXT, "format", form, err);
    if (st == OSC_OK && ints && !w->has_numbers && strcmp(ints, "exact") != 0)
        st = osc_fail(err, OSC_EINVAL, "ints: '%s' is neither exact nor number", ints);
    if (st == OSC_OK && !w->is_cols && (ints || osc_url_get(&c->url, "offset")))
        st = osc_fail(err, OSC_EINVAL, "%s is for format=cols", ints ? "ints" : "offset");
    if (st == OSC_OK && w->is_cols)
        st = read_rows(c, "offset", INT64_MAX - ROWS_MAX, &w->offset, err);
    if (st == OSC_OK && w->is_cols)
        st = read_rows(c, "limit", ROWS_MAX, &w->limit, err);
    return st;
}

/* The rows that are enough for W; the same for windows near each other, so that their frame is
 * the same. 0: all. */
static int64_t count_sorted(const struct wanted *w)
{
    const int64_t end = w->offset + w->limit;
    int64_t n = SORTED_LEAST;

    if (!w->def->stream || !w->request.question.sort || w->request.question.limit > 0)
        return 0;
    while (n < end && n < INT64_MAX / 2)
        n *= 2;
    return n < end ? 0 : n;
}

/* Read all options of the command, and put them into the question Q. */
static osc_status read_options(const struct osc_api_call *c, struct wanted *w,
                               struct osc_strbuf *q, struct osc_err *err)
{
    const unsigned parts =
        OSC_PART_VIEW | OSC_PART_QUESTION | (w->is_cols ? 0 : (unsigned)OSC_PART_TEXT);
    osc_status st = OSC_OK;

    osc_question_begin(q, "table", w->def->name);
    for (unsigned i = 0; i < c->url.n_pairs && st == OSC_OK; i++) {
        struct osc_url_pair p = c->url.pairs[i];
        const bool is_switch = osc_request_is_switch(p.name);

        if (w->is_cols && strcmp(p.name, "most") == 0)
            p.name = "limit";
        else if (is_ours(w, p.name))
            continue;
        /* Forms and URLSearchParams cannot write a name without a value. */
        if (is_switch && p.value && (p.value[0] == '\0' || strcmp(p.value, "1") == 0))
            p.value = NULL;
        st = osc_request_set(&w->request, parts, p.name, p.value, err);
        if (st == OSC_OK)
            osc_question_add(q, p.name, p.value);
    }
    if (!w->is_cols)
        osc_question_add(q, "format", w->request.text.format);
    return st == OSC_OK ? q->status : st;
}

/* Append the operands of the runs that W asks for to its command. */
static void add_operands(const struct osc_api_call *c, struct wanted *w)
{
    const uint32_t runs[] = {w->base, w->run};

    for (uint32_t i = w->has_base ? 0 : 1; i < 2; i++) {
        const struct osc_keeper_run *const run = osc_keeper_run_at(c->api->keeper, runs[i]);

        osc_question_print_options(&w->command, run->options);
        osc_strbuf_addc(&w->command, ' ');
        osc_operands_add(&w->command, run->paths, run->n_paths);
    }
}

/* Check what shows without a trace. */
static osc_status check(const struct wanted *w, struct osc_err *err)
{
    struct osc_asked k;
    osc_status st = OSC_OK;

    if (w->def->comparison && !w->has_base)
        return osc_fail(err, OSC_EINVAL,
                        "%s compares two runs: name the other one, as in base=RUN",
                        w->def->name);
    if (!w->def->comparison && w->has_base)
        return osc_fail(err, OSC_EINVAL, "%s does not compare runs: leave out base",
                        w->def->name);
    st = osc_asked_init_table(&k, w->def, &w->request,
                              w->is_cols ? osc_renderer_find("csv") : NULL, err);
    osc_asked_fini(&k);
    return st;
}

/* Read the query of C into W. False: C was answered. */
static bool read_query(struct osc_api_call *c, struct wanted *w)
{
    struct osc_strbuf q = {0};
    struct osc_err err = {0};
    osc_status st = osc_request_table(c->rest, &w->def, &err);

    if (st != OSC_OK) {
        osc_respond_error(c, &(struct osc_api_error){.status = 404,
                                                     .code = "unknown_table",
                                                     .message = err.message,
                                                     .what_to_do = "see the catalog",
                                                     .command = "opscope table --list"});
        return false;
    }
    w->has_base = osc_url_get(&c->url, "base") != NULL;
    if (!osc_api_find_run(c, "run", &w->run) || !osc_api_find_run(c, "base", &w->base))
        return false;
    st = read_ours(c, w, &err);
    if (st == OSC_OK)
        st = read_options(c, w, &q, &err);
    osc_question_print(&w->command, osc_strbuf_str(&q));
    osc_strbuf_fini(&q);
    if (st == OSC_OK)
        st = check(w, &err);
    if (st == OSC_OK)
        add_operands(c, w);
    else
        osc_respond_failure(c, st, &err, w->command.s);
    w->n_sorted = count_sorted(w);
    w->request.question.table = w->def->name;
    w->request.question.cancel = c->request->cancel;
    return st == OSC_OK;
}

/* --- answering ------------------------------------------------------------------- */

/* The sets that a question is about. */
struct sets {
    struct osc_set *now, *base; /* held; base only to compare */
};

/* Whether the answer to W is as long as the trace and in its order: then only the rows of the
 * window are made. */
static bool is_stream(const struct wanted *w)
{
    const struct osc_question *const q = &w->request.question;

    return w->def->stream && !q->sort && !q->where && q->limit <= 0;
}

/* Ask for a frame that has the rows from window->first on, and all that W wants. */
static osc_status ask_frame(const struct wanted *w, const struct sets *s,
                            struct osc_window *window, struct osc_frame **f,
                            struct osc_err *err)
{
    const struct osc_request *const r = &w->request;
    struct osc_question q = r->question;

    if (q.limit <= 0)
        q.limit = w->n_sorted;
    if (is_stream(w) || w->n_sorted > 0) {
        const struct osc_asking a = {.view = &r->view, .question = &q};
        struct osc_frame_sink frame = {f, window};
        const struct osc_sink sink = osc_sink_frame(&frame);

        return osc_evaluate(s->now, &a, &sink, err);
    }
    const osc_status st = s->base ? osc_compare(s->base, s->now, &r->view, &q, f, err)
                                  : osc_ask(s->now, &r->view, &q, f, err);
    *window = (struct osc_window){.n_all = st == OSC_OK ? osc_frame_rows(*f) : 0};
    return st;
}

/* Get the frame that W asks for, from those that are kept if it is there. PRINTS is what the
 * fingerprints of the runs are. */
static osc_status find_frame(struct osc_api_call *c, const struct wanted *w,
                             const struct sets *s, const char *prints,
                             struct osc_window *window, struct osc_frame **f)
{
    struct osc_strbuf key = {0}, words = {0};
    struct osc_err err = {0};

    osc_request_add_words(&words, &w->request);
    for (size_t i = 0; i < words.len; i++)
        if (words.s[i] == '\0')
            words.s[i] = '\n';
    osc_strbuf_addf(&key, "%s\n%u\n%s\n%lld\n", prints, w->run, w->def->name,
                    (long long)w->n_sorted);
    osc_strbuf_add(&key, words.s ? words.s : "", words.len);
    osc_status st = key.status != OSC_OK ? key.status : words.status;
    *f = st == OSC_OK ? osc_frames_find(&c->api->frames, key.s, &window->n_all) : NULL;
    if (*f)
        window->first = 0;
    if (st == OSC_OK && !*f) {
        st = ask_frame(w, s, window, f, &err);
        if (st == OSC_OK && !is_stream(w))
            osc_frames_keep(&c->api->frames, key.s, *f, window->n_all);
    }
    if (st != OSC_OK)
        osc_respond_failure(c, st, &err, w->command.s);
    osc_strbuf_fini(&words);
    osc_strbuf_fini(&key);
    return st;
}

/* Put the answer to W into OUT. False: C has been answered. */
static bool make_cols(struct osc_api_call *c, const struct wanted *w, const struct sets *s,
                      const char *prints, struct osc_strbuf *out)
{
    struct osc_window window = {.first = (uint64_t)w->offset, .n = (uint64_t)w->limit};
    const struct osc_err err = {0};
    struct osc_frame *f = NULL;

    if (find_frame(c, w, s, prints, &window, &f) != OSC_OK)
        return false;
    const struct osc_cols cols = {.frame = f,
                                  .def = w->def,
                                  .first = window.first,
                                  .n_all = window.n_all,
                                  .offset = (uint64_t)w->offset,
                                  .limit = (uint64_t)w->limit,
                                  .has_numbers = w->has_numbers,
                                  .has_made = w->has_made,
                                  .has_sums = w->has_sums,
                                  .command = w->command.s};
    const osc_status st = osc_cols_write(out, &cols);
    if (st != OSC_OK)
        osc_respond_failure(c, st, &err, w->command.s);
    osc_frame_release(f);
    return st == OSC_OK;
}

/* Answer with columns, and end the work on C: all bytes are there before the first is sent. */
static void answer_cols(struct osc_api_call *c, const struct wanted *w, const struct sets *s,
                        const char *prints)
{
    struct osc_strbuf out = {0};
    const bool is_made = make_cols(c, w, s, prints, &out);

    osc_api_end_work(c);
    if (is_made) {
        osc_respond_begin(c, "application/octet-stream");
        (void)osc_respond_write(c, out.s, out.len);
    }
    osc_strbuf_fini(&out);
}

/* A text on its way to the client. */
struct text {
    struct osc_api_call *call;
    const char *type;
};

static int write_text(void *ctx, const char *s, size_t len)
{
    const struct text *const t = ctx;

    if (!t->call->is_begun)
        osc_respond_begin(t->call, t->type);
    return osc_api_write(t->call, s, len);
}

/* Answer with text, which is sent while it is made, and end the work on C. */
static void answer_text(struct osc_api_call *c, const struct wanted *w, const struct sets *s)
{
    static const struct {
        const char *form, *type;
    } types[] = {{"csv", "text/csv; charset=utf-8"},
                 {"json", "application/json; charset=utf-8"},
                 {"jsonl", "application/jsonl; charset=utf-8"},
                 {"md", "text/markdown; charset=utf-8"},
                 {"arrow", "application/vnd.apache.arrow.stream"}};
    struct text t = {c, "text/plain; charset=utf-8"};
    const struct osc_request *const r = &w->request;
    struct osc_layout layout = r->text;
    struct osc_err err = {0};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].form, layout.format) == 0)
            t.type = types[i].type;
    layout.write = write_text;
    layout.ctx = &t;
    const osc_status st =
        s->base ? osc_compare_text(s->base, s->now, &r->view, &r->question, &layout, &err)
                : osc_ask_text(s->now, &r->view, &r->question, &layout, &err);
    if (st != OSC_OK)
        osc_respond_failure(c, st, &err, w->command.s);
    else if (!c->is_begun)
        osc_respond_begin(c, t.type);
    osc_api_end_work(c);
}

/* Answer W, which was read, about the traces. */
static void answer_wanted(struct osc_api_call *c, const struct wanted *w)
{
    struct osc_keeping now, base = {.fingerprint = ""};
    struct sets s = {0};
    struct osc_strbuf prints = {0};

    if (osc_api_take(c, w->run, &s.now, &now) &&
        (!w->has_base || osc_api_take_base(c, w->base, &s.base, &base))) {
        osc_strbuf_addf(&prints, "%s%s", base.fingerprint, now.fingerprint);
        if (!osc_respond_unchanged(c, prints.s ? prints.s : "") && osc_api_begin_work(c)) {
            if (w->is_cols)
                answer_cols(c, w, &s, prints.s ? prints.s : "");
            else
                answer_text(c, w, &s);
        }
    }
    osc_strbuf_fini(&prints);
    osc_set_release(s.now);
    osc_set_release(s.base);
}

static void answer_table(struct osc_api_call *c)
{
    struct wanted w = {.def = NULL};

    if (read_query(c, &w))
        answer_wanted(c, &w);
    osc_strbuf_fini(&w.command);
}

const struct osc_api_endpoint osc_api_endpoint_table = {"table", true, answer_table};
