/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks with their values, to be drawn as a flame graph (JSON): flame?...
 *
 *     stack, metric   as for `opscope export --format folded`, whose lines have the same sums;
 *                     the options that select (rank, steps and so on) are the command's, too
 *     root            only what is below these frames: from the outside in, ";" between them
 *     name, way       the stacks of one frame: way=callees, what it calls, or way=callers, who
 *                     calls it, the other way round; a frame inside itself counts once
 *     q               text or /regex/: which frames match
 *     px              pixels of the widest frame: what is less than one wide is left out
 *     run             which run
 *
 * The answer has one number for each frame in `caller` (the number of the frame around it, or
 * -1), `name` (an index of `names`), `self` and `total_of`, in the order in which they occur,
 * the frames around others first. `text` says in one sentence which frame has most of its own,
 * wherever it is. `matched` is the value of all stacks that have a frame that
 * matches.
 */
#include <string.h>

#include "analysis/stacks/flame_graph.h"
#include "analysis/stacks/folding.h"
#include "api/endpoints.h"
#include "ask/evaluate.h"
#include "ask/operands.h"
#include "base/mem.h"
#include "base/parse.h"
#include "codec/json.h"
#include "table/question.h"

#define PIXELS_MAX 100000

/* What a query asks for. */
struct flame {
    struct osc_folding stacks;
    struct osc_flame_wish wish; /* owns its regex */
    struct osc_request request;
    const char *q; /* or NULL */
    struct osc_strbuf *out;
    const char *command;
};

static const char *const ours[] = {"run",  "fp",  "stack", "metric", "root",
                                   "name", "way", "q",     "px"};

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            return true;
    return false;
}

enum number { CALLER, SELF, TOTAL, MATCHES };

/* Append "NAME": [...], a number of each frame that is shown. */
static void add_numbers(struct osc_strbuf *out, const char *name, enum number what,
                        const struct osc_flame *flame)
{
    const char *between = "";

    osc_strbuf_addf(out, ",\n\"%s\": [", name);
    for (uint32_t node = 1; node <= flame->tree->n_nodes; node++) {
        const struct osc_flame_frame *const frame = &flame->frames[node];
        const uint32_t caller = flame->tree->nodes[node - 1].caller;

        if (frame->shown == 0)
            continue;
        const int64_t value = what == CALLER  ? (int64_t)flame->frames[caller].shown - 1
                              : what == SELF  ? osc_flame_self(flame, node)
                              : what == TOTAL ? frame->total
                                              : frame->matches;
        osc_strbuf_addf(out, "%s%lld", between, (long long)value);
        between = ",";
    }
    osc_strbuf_addc(out, ']');
}

/* Append the names, each once, and which one each frame has. */
static osc_status add_names(struct osc_strbuf *out, const struct osc_flame *flame)
{
    const struct osc_stack_tree *const tree = flame->tree;
    uint32_t *const ids = osc_calloc((size_t)tree->frames.n_entries + 1, sizeof *ids);
    struct osc_strbuf list = {0};
    uint32_t n = 0;

    if (!ids)
        return OSC_ENOMEM;
    osc_strbuf_adds(out, ",\n\"names\": [");
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        const uint32_t frame = tree->nodes[node - 1].frame.v;

        if (flame->frames[node].shown == 0)
            continue;
        if (ids[frame] == 0) {
            osc_strbuf_adds(out, n > 0 ? "," : "");
            osc_json_quote(out, osc_intern_str(&tree->frames, (osc_sid){frame}));
            ids[frame] = ++n;
        }
        osc_strbuf_addf(&list, "%s%u", list.len > 0 ? "," : "", ids[frame] - 1);
    }
    osc_strbuf_adds(out, "],\n\"name\": [");
    osc_strbuf_add(out, list.s ? list.s : "", list.len);
    osc_strbuf_addc(out, ']');
    const osc_status st = list.status;
    osc_strbuf_fini(&list);
    osc_free(ids);
    return st;
}

/* Append the frames that are left out, where they are wide enough together. */
static void add_small(struct osc_strbuf *out, const struct osc_flame *flame)
{
    static const char *const names[] = {"small_caller", "small_count", "small_total"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *between = "";

        osc_strbuf_addf(out, ",\n\"%s\": [", names[i]);
        for (uint32_t node = 0; node <= flame->tree->n_nodes; node++) {
            const struct osc_flame_frame *const s = &flame->frames[node];

            if (s->small_count == 0 || s->small_total < flame->least)
                continue;
            osc_strbuf_addf(out, "%s%lld", between,
                            i == 0   ? (long long)s->shown - 1
                            : i == 1 ? (long long)s->small_count
                                     : (long long)s->small_total);
            between = ",";
        }
        osc_strbuf_addc(out, ']');
    }
}

/* Append the sentence about what is drawn, quoted. */
static osc_status add_text(struct osc_strbuf *out, const struct osc_flame *flame,
                           const char *metric)
{
    struct osc_strbuf text = {0};
    const osc_status st = osc_flame_say(flame, metric, &text);

    osc_strbuf_adds(out, ",\n\"text\": ");
    osc_json_quote(out, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len});
    osc_strbuf_fini(&text);
    return st;
}

static osc_status write_flame(const struct osc_flame *flame, const struct flame *f)
{
    struct osc_strbuf *const out = f->out;

    osc_strbuf_addf(out, "{\"total\": %lld, \"matched\": ", (long long)flame->frames[0].total);
    if (f->wish.regex)
        osc_strbuf_addf(out, "%lld", (long long)flame->matched);
    else
        osc_strbuf_adds(out, "null");
    osc_strbuf_addf(out, ", \"stacks\": %zu, \"command\": ", flame->tree->n_nodes);
    osc_json_quote(out, osc_str_c(f->command));
    osc_status st = add_text(out, flame, f->stacks.metric);
    add_numbers(out, "caller", CALLER, flame);
    add_numbers(out, "self", SELF, flame);
    add_numbers(out, "total_of", TOTAL, flame);
    if (f->wish.regex)
        add_numbers(out, "matches", MATCHES, flame);
    add_small(out, flame);
    st = st == OSC_OK ? add_names(out, flame) : st;
    osc_strbuf_adds(out, "}\n");
    return st == OSC_OK ? out->status : st;
}

/* A sink of traces. */
static osc_status take(void *ctx, const struct osc_evaluated *e, struct osc_err *err)
{
    struct flame *const f = ctx;
    struct osc_stack_tree tree;
    struct osc_flame flame = {.tree = NULL};
    uint64_t n_lines;

    f->stacks.traces = e->chosen->traces;
    f->stacks.n_traces = e->chosen->n_traces;
    osc_stack_tree_init(&tree);
    tree.keeps_blanks = true;
    osc_status st = osc_folding_make(&f->stacks, &tree, &n_lines, err);
    if (st == OSC_OK)
        st = osc_flame_make(&flame, &tree, &f->wish, err);
    if (st == OSC_OK)
        st = write_flame(&flame, f);
    osc_flame_fini(&flame);
    osc_stack_tree_fini(&tree);
    return st;
}

/* --- asking ---------------------------------------------------------------------- */

static osc_status open_regex(struct flame *f, struct osc_err *err)
{
    const size_t n = f->q ? strlen(f->q) : 0;
    const bool is_regex = n >= 2 && f->q[0] == '/' && f->q[n - 1] == '/';

    if (n == 0)
        return OSC_OK;
    return osc_regex_open(&f->wish.regex,
                          is_regex ? (struct osc_str){f->q + 1, (uint32_t)n - 2}
                                   : (struct osc_str){f->q, (uint32_t)n},
                          !is_regex, err);
}

/* The number of pixels that TEXT says. */
static osc_status read_pixels(struct flame *f, const char *text, struct osc_err *err)
{
    f->wish.pixels = 2000;
    if (text && !osc_parse_whole(text, 1, PIXELS_MAX, &f->wish.pixels))
        return osc_fail(err, OSC_EINVAL, "px: '%s' is not a number from 1 to %d", text,
                        PIXELS_MAX);
    return OSC_OK;
}

static osc_status read_query(const struct osc_api_call *c, struct flame *f, struct osc_err *err)
{
    const char *const way = osc_url_get(&c->url, "way");
    osc_status st = read_pixels(f, osc_url_get(&c->url, "px"), err);

    f->stacks.stack = osc_url_get(&c->url, "stack");
    f->stacks.metric = osc_url_get(&c->url, "metric");
    f->wish.root = osc_url_get(&c->url, "root");
    f->wish.name = osc_url_get(&c->url, "name");
    f->q = osc_url_get(&c->url, "q");
    f->wish.root = f->wish.root && f->wish.root[0] != '\0' ? f->wish.root : NULL;
    f->wish.name = f->wish.name && f->wish.name[0] != '\0' ? f->wish.name : NULL;
    f->wish.has_callers = way && strcmp(way, "callers") == 0;
    if (st == OSC_OK && way && !f->wish.has_callers && strcmp(way, "callees") != 0)
        st = osc_fail(err, OSC_EINVAL, "way: '%s' is neither callers nor callees", way);
    for (unsigned i = 0; i < c->url.n_pairs && st == OSC_OK; i++) {
        const struct osc_url_pair *const p = &c->url.pairs[i];

        if (!is_ours(p->name))
            st = osc_request_set(&f->request, OSC_PART_VIEW, p->name, p->value, err);
    }
    return st == OSC_OK ? open_regex(f, err) : st;
}

/* The command that writes the same stacks. */
static void write_command(const struct osc_api_call *c, const struct flame *f, uint32_t run,
                          struct osc_strbuf *out)
{
    const struct osc_keeper_run *const r = osc_keeper_run_at(c->api->keeper, run);

    struct osc_strbuf q = {0};

    osc_strbuf_adds(out, "opscope export ");
    osc_operands_add(out, r->paths, r->n_paths);
    osc_strbuf_addstr(&q, r->options);
    osc_question_add_view(&q, &f->request.view, "ns");
    if (f->stacks.stack)
        osc_question_add(&q, "stack", f->stacks.stack);
    if (f->stacks.metric)
        osc_question_add(&q, "metric", f->stacks.metric);
    osc_question_print_options(out, osc_strbuf_str(&q));
    osc_strbuf_adds(out, " -o stacks.folded");
    osc_strbuf_fini(&q);
}

static osc_status ask(struct osc_api_call *c, struct flame *f, struct osc_set *set,
                      struct osc_err *err)
{
    const struct osc_question q = {.cancel = c->request->cancel};
    const struct osc_asking asking = {.view = &f->request.view, .question = &q};
    struct osc_sink sink = {OSC_SINK_TRACES, .take = take, .ctx = f};
    osc_status st = osc_folding_facts(&f->stacks, &sink.facts, err);

    if (st == OSC_OK)
        st = osc_evaluate(set, &asking, &sink, err);
    return st;
}

static void answer(struct osc_api_call *c, struct flame *f, uint32_t run)
{
    struct osc_strbuf out = {0}, command = {0};
    struct osc_keeping kept;
    struct osc_err err = {0};
    struct osc_set *set;

    write_command(c, f, run, &command);
    f->command = command.s ? command.s : "";
    f->out = &out;
    if (osc_api_take(c, run, &set, &kept)) {
        if (!osc_respond_unchanged(c, kept.fingerprint) && osc_api_begin_work(c)) {
            const osc_status st = ask(c, f, set, &err);

            osc_api_end_work(c);
            if (st == OSC_OK)
                osc_respond_json(c, &out);
            else if (st == OSC_EFORMAT)
                osc_respond_error(c, &(struct osc_api_error){
                                         .status = 404,
                                         .code = "no_stacks",
                                         .message = err.message,
                                         .what_to_do = "choose other stacks or another metric",
                                         .command = command.s});
            else
                osc_respond_failure(c, st, &err, command.s);
        }
        osc_set_release(set);
    }
    f->out = NULL;
    f->command = NULL;
    osc_strbuf_fini(&out);
    osc_strbuf_fini(&command);
}

static void answer_flame(struct osc_api_call *c)
{
    struct flame f = {.wish.pixels = 1};
    struct osc_err err = {0};
    uint32_t run;

    if (osc_api_find_run(c, "run", &run)) {
        const osc_status st = read_query(c, &f, &err);

        if (st == OSC_OK)
            answer(c, &f, run);
        else
            osc_respond_failure(c, st, &err, NULL);
    }
    osc_regex_close(f.wish.regex);
}

const struct osc_api_endpoint osc_api_endpoint_flame = {"flame", false, answer_flame};
