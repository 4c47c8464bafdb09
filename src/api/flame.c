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

#include "analysis/words.h"
#include "api/endpoints.h"
#include "ask/operands.h"
#include "ask/set.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/percent.h"
#include "base/regex.h"
#include "base/shell.h"
#include "codec/json.h"
#include "export/exporters.h"
#include "export/folded.h"

#define PIXELS_MAX 100000

/* What a query asks for. */
struct flame {
    struct osc_export x;
    struct osc_request request;
    const char *root, *name, *q; /* or NULL */
    bool has_callers;
    int64_t pixels;
    struct osc_regex *regex; /* owned; or NULL */
    struct osc_strbuf *out;
    const char *command;
};

/* For each stack of the tree, by its number. */
struct sums {
    int64_t total;
    int64_t small_total; /* of frames that it calls and that are left out */
    uint32_t small_count;
    uint32_t shown; /* its number in the answer + 1 */
    bool is_in, matches, is_inside;
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

/* Saturates. */
static void add(int64_t *to, int64_t value)
{
    if (__builtin_add_overflow(*to, value, to))
        *to = INT64_MAX;
}

/* Lines of the file have no stacks that took nothing. */
static int64_t value_of(const struct osc_stack_node *node)
{
    return node->value > 0 ? node->value : 0;
}

static struct osc_str frame_of(const struct osc_stack_tree *tree, uint32_t node)
{
    return osc_intern_str(&tree->frames, tree->nodes[node - 1].frame);
}

/* --- choosing -------------------------------------------------------------------- */

static bool is_child(const struct osc_stack_tree *tree, uint32_t node, uint32_t caller,
                     struct osc_str frame)
{
    return tree->nodes[node - 1].caller == caller && osc_str_eq(frame_of(tree, node), frame);
}

/* Find the stack with the frames of PATH. OSC_EFORMAT: there is none. */
static osc_status find_root(const struct osc_stack_tree *tree, const char *path, uint32_t *root,
                            struct osc_err *err)
{
    uint32_t caller = 0, node = 1;

    for (const char *s = path; s;) {
        const char *const end = strchr(s, ';');
        const struct osc_str frame = {s, (uint32_t)(end ? (size_t)(end - s) : strlen(s))};

        while (node <= tree->n_nodes && !is_child(tree, node, caller, frame))
            node++;
        if (node > tree->n_nodes)
            return osc_fail(err, OSC_EFORMAT, "no stack begins with %s", path);
        caller = node++;
        s = end ? end + 1 : NULL;
    }
    *root = caller;
    return OSC_OK;
}

/* Find the totals of all stacks. */
static void sum_up(const struct osc_stack_tree *tree, struct sums *sums)
{
    for (uint32_t node = (uint32_t)tree->n_nodes; node > 0; node--) {
        add(&sums[node].total, value_of(&tree->nodes[node - 1]));
        add(&sums[tree->nodes[node - 1].caller].total, sums[node].total);
    }
}

/* Push what NODE of TREE, an outermost frame of the name, is called by, the other way round. */
static osc_status push_callers(struct osc_stack_tree *to, const struct osc_stack_tree *tree,
                               uint32_t node, int64_t total)
{
    uint32_t at = 0;
    osc_status st = OSC_OK;

    for (; node != 0 && st == OSC_OK; node = tree->nodes[node - 1].caller)
        st = osc_stack_tree_push(to, at, frame_of(tree, node), &at);
    if (st == OSC_OK)
        osc_stack_tree_add(to, at, total);
    return st;
}

/* Make TO of TREE: callers or callees of the frame NAME. */
static osc_status turn(struct osc_stack_tree *to, const struct osc_stack_tree *tree,
                       const struct flame *f)
{
    struct sums *const sums = osc_calloc(tree->n_nodes + 1, sizeof *sums);
    uint32_t *const at = osc_calloc(tree->n_nodes + 1, sizeof *at);
    osc_status st = sums && at ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK)
        sum_up(tree, sums);
    for (uint32_t node = 1; node <= tree->n_nodes && st == OSC_OK; node++) {
        const uint32_t caller = tree->nodes[node - 1].caller;
        const bool is_it = osc_str_eq(frame_of(tree, node), osc_str_c(f->name));

        sums[node].is_inside = is_it || sums[caller].is_inside;
        if (is_it && !sums[caller].is_inside && f->has_callers)
            st = push_callers(to, tree, node, sums[node].total);
        if (!sums[node].is_inside || f->has_callers)
            continue;
        st = osc_stack_tree_push(to, at[caller], frame_of(tree, node), &at[node]);
        if (st == OSC_OK)
            osc_stack_tree_add(to, at[node], value_of(&tree->nodes[node - 1]));
    }
    osc_free(sums);
    osc_free(at);
    return st;
}

/* --- writing --------------------------------------------------------------------- */

/* Set matches of SUMS; each frame is looked at once. */
static osc_status find_matches(const struct osc_stack_tree *tree, struct osc_regex *regex,
                               struct sums *sums)
{
    enum { UNKNOWN, NO, YES };
    uint8_t *const known = osc_calloc((size_t)tree->frames.n_entries + 1, sizeof *known);
    osc_status st = OSC_OK;

    if (!known)
        return OSC_ENOMEM;
    for (uint32_t node = 1; node <= tree->n_nodes && st == OSC_OK; node++) {
        uint8_t *const k = &known[tree->nodes[node - 1].frame.v];

        if (*k == UNKNOWN) {
            *k = osc_regex_has(regex, frame_of(tree, node)) ? YES : NO;
            st = osc_mem_is_cancelled() ? OSC_ECANCELED : OSC_OK;
        }
        sums[node].matches = *k == YES;
    }
    osc_free(known);
    return st;
}

static osc_status begin_numbers(const struct osc_stack_tree *tree, const struct flame *f,
                                struct sums *sums, int64_t *matched, struct osc_err *err)
{
    uint32_t root = 0;
    osc_status st = OSC_OK;

    if (f->root)
        st = find_root(tree, f->root, &root, err);
    if (st == OSC_OK && f->regex)
        st = find_matches(tree, f->regex, sums);
    if (st != OSC_OK)
        return st;
    sum_up(tree, sums);
    sums[0].is_in = root == 0;
    *matched = 0;
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        const uint32_t caller = tree->nodes[node - 1].caller;

        sums[node].is_in = node == root || sums[caller].is_in;
        sums[node].is_inside =
            sums[node].is_in && (sums[node].matches || sums[caller].is_inside);
        if (sums[node].is_inside)
            add(matched, value_of(&tree->nodes[node - 1]));
    }
    const int64_t whole = sums[root].total;
    uint32_t n = 0;
    for (uint32_t node = 1; node <= tree->n_nodes; node++)
        if (sums[node].is_in && sums[node].total > 0 && sums[node].total >= whole / f->pixels)
            sums[node].shown = ++n;
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        struct sums *const caller = &sums[tree->nodes[node - 1].caller];

        if (!sums[node].is_in || sums[node].shown != 0 || sums[node].total <= 0 ||
            (caller->shown == 0 && caller != sums))
            continue;
        caller->small_count++;
        add(&caller->small_total, sums[node].total);
    }
    sums[0].total = whole;
    return OSC_OK;
}

enum number { CALLER, SELF, TOTAL, MATCHES };

/* Append "NAME": [...], a number of each frame that is shown. */
static void add_numbers(struct osc_strbuf *out, const char *name, enum number what,
                        const struct osc_stack_tree *tree, const struct sums *sums)
{
    const char *between = "";

    osc_strbuf_addf(out, ",\n\"%s\": [", name);
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        const struct osc_stack_node *const n = &tree->nodes[node - 1];

        if (sums[node].shown == 0)
            continue;
        const int64_t value = what == CALLER  ? (int64_t)sums[n->caller].shown - 1
                              : what == SELF  ? value_of(n)
                              : what == TOTAL ? sums[node].total
                                              : sums[node].matches;
        osc_strbuf_addf(out, "%s%lld", between, (long long)value);
        between = ",";
    }
    osc_strbuf_addc(out, ']');
}

/* Append the names, each once, and which one each frame has. */
static osc_status add_names(struct osc_strbuf *out, const struct osc_stack_tree *tree,
                            const struct sums *sums)
{
    uint32_t *const ids = osc_calloc((size_t)tree->frames.n_entries + 1, sizeof *ids);
    struct osc_strbuf list = {0};
    uint32_t n = 0;

    if (!ids)
        return OSC_ENOMEM;
    osc_strbuf_adds(out, ",\n\"names\": [");
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        const uint32_t frame = tree->nodes[node - 1].frame.v;

        if (sums[node].shown == 0)
            continue;
        if (ids[frame] == 0) {
            osc_strbuf_adds(out, n > 0 ? "," : "");
            osc_json_quote(out, frame_of(tree, node));
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
static void add_small(struct osc_strbuf *out, const struct osc_stack_tree *tree,
                      const struct sums *sums, int64_t least)
{
    static const char *const names[] = {"small_caller", "small_count", "small_total"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *between = "";

        osc_strbuf_addf(out, ",\n\"%s\": [", names[i]);
        for (uint32_t node = 0; node <= tree->n_nodes; node++) {
            const struct sums *const s = &sums[node];

            if (s->small_count == 0 || s->small_total < least)
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

/* What metrics count, in a sentence. */
static const struct {
    const char *name, *what;
    void (*add)(struct osc_strbuf *out, int64_t v); /* NULL: a number */
} metrics[] = {
    {"host_self_ns", "host time", osc_words_time},
    {"device_self_ns", "device time", osc_words_time},
    {"self_alloc_bytes", "allocated memory", osc_words_bytes},
    {"calls", "calls", NULL},
};

/* Append the sentence about the frame with most of its own, of which there is VALUE. */
static void add_sentence(struct osc_strbuf *out, struct osc_str frame, int64_t value,
                         int64_t whole, const char *metric)
{
    size_t m = 0;

    while (metric && m + 1 < sizeof metrics / sizeof *metrics &&
           strcmp(metrics[m].name, metric) != 0)
        m++;
    if (whole <= 0) {
        osc_strbuf_addf(out, "0 %s in these stacks.", metrics[m].what);
        return;
    }
    osc_words_name(out, frame);
    osc_strbuf_adds(out, " takes ");
    osc_percent_add(out, (double)value / (double)whole, 1);
    osc_strbuf_adds(out, " of ");
    if (metrics[m].add)
        metrics[m].add(out, whole);
    else
        osc_strbuf_addf(out, "%lld", (long long)whole);
    osc_strbuf_addf(out, " %s%s by itself.", metrics[m].add ? "of " : "", metrics[m].what);
}

/* Append the sentence about what is drawn of TREE, quoted. */
static osc_status add_text(struct osc_strbuf *out, const struct osc_stack_tree *tree,
                           const struct sums *sums, const char *metric)
{
    int64_t *const own = osc_calloc((size_t)tree->frames.n_entries + 1, sizeof *own);
    struct osc_strbuf text = {0};
    uint32_t most = 0;

    if (!own)
        return OSC_ENOMEM;
    for (uint32_t node = 1; node <= tree->n_nodes; node++)
        if (sums[node].is_in)
            add(&own[tree->nodes[node - 1].frame.v], value_of(&tree->nodes[node - 1]));
    for (uint32_t frame = 1; frame <= tree->frames.n_entries; frame++)
        if (own[frame] > own[most])
            most = frame;
    add_sentence(&text, osc_intern_str(&tree->frames, (osc_sid){most}), own[most],
                 sums[0].total, metric);
    osc_strbuf_adds(out, ",\n\"text\": ");
    osc_json_quote(out, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len});
    const osc_status st = text.status;
    osc_strbuf_fini(&text);
    osc_free(own);
    return st;
}

static osc_status write_tree(const struct osc_stack_tree *tree, const struct flame *f,
                             struct osc_err *err)
{
    struct sums *const sums = osc_calloc(tree->n_nodes + 1, sizeof *sums);
    struct osc_strbuf *const out = f->out;
    int64_t matched;
    osc_status st = sums ? begin_numbers(tree, f, sums, &matched, err) : OSC_ENOMEM;

    if (st == OSC_OK) {
        osc_strbuf_addf(out, "{\"total\": %lld, \"matched\": ", (long long)sums[0].total);
        if (f->regex)
            osc_strbuf_addf(out, "%lld", (long long)matched);
        else
            osc_strbuf_adds(out, "null");
        osc_strbuf_addf(out, ", \"stacks\": %zu, \"command\": ", tree->n_nodes);
        osc_json_quote(out, osc_str_c(f->command));
        st = add_text(out, tree, sums, f->x.metric);
        add_numbers(out, "caller", CALLER, tree, sums);
        add_numbers(out, "self", SELF, tree, sums);
        add_numbers(out, "total_of", TOTAL, tree, sums);
        if (f->regex)
            add_numbers(out, "matches", MATCHES, tree, sums);
        add_small(out, tree, sums, sums[0].total / f->pixels);
        st = st == OSC_OK ? add_names(out, tree, sums) : st;
        osc_strbuf_adds(out, "}\n");
    }
    osc_free(sums);
    return st == OSC_OK ? out->status : st;
}

static osc_status use(void *ctx, const struct osc_chosen *chosen, struct osc_err *err)
{
    struct flame *const f = ctx;
    struct osc_stack_tree tree, turned;

    f->x.traces = chosen->traces;
    f->x.n_traces = chosen->n_traces;
    osc_stack_tree_init(&tree);
    osc_stack_tree_init(&turned);
    tree.keeps_blanks = turned.keeps_blanks = true;
    osc_status st = osc_folded_make(&f->x, &tree, err);
    if (st == OSC_OK && f->name)
        st = turn(&turned, &tree, f);
    if (st == OSC_OK)
        st = write_tree(f->name ? &turned : &tree, f, err);
    osc_stack_tree_fini(&tree);
    osc_stack_tree_fini(&turned);
    return st;
}

/* --- asking ---------------------------------------------------------------------- */

static osc_status open_regex(struct flame *f, struct osc_err *err)
{
    const size_t n = f->q ? strlen(f->q) : 0;
    const bool is_regex = n >= 2 && f->q[0] == '/' && f->q[n - 1] == '/';

    if (n == 0)
        return OSC_OK;
    return osc_regex_open(&f->regex,
                          is_regex ? (struct osc_str){f->q + 1, (uint32_t)n - 2}
                                   : (struct osc_str){f->q, (uint32_t)n},
                          !is_regex, err);
}

/* The number of pixels that TEXT says. */
static osc_status read_pixels(struct flame *f, const char *text, struct osc_err *err)
{
    f->pixels = 2000;
    if (text && !osc_parse_whole(text, 1, PIXELS_MAX, &f->pixels))
        return osc_fail(err, OSC_EINVAL, "px: '%s' is not a number from 1 to %d", text,
                        PIXELS_MAX);
    return OSC_OK;
}

static osc_status read_query(const struct osc_api_call *c, struct flame *f, struct osc_err *err)
{
    const char *const way = osc_url_get(&c->url, "way");
    osc_status st = read_pixels(f, osc_url_get(&c->url, "px"), err);

    f->x.stack = osc_url_get(&c->url, "stack");
    f->x.metric = osc_url_get(&c->url, "metric");
    f->root = osc_url_get(&c->url, "root");
    f->name = osc_url_get(&c->url, "name");
    f->q = osc_url_get(&c->url, "q");
    f->root = f->root && f->root[0] != '\0' ? f->root : NULL;
    f->name = f->name && f->name[0] != '\0' ? f->name : NULL;
    f->has_callers = way && strcmp(way, "callers") == 0;
    if (st == OSC_OK && way && !f->has_callers && strcmp(way, "callees") != 0)
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

    osc_strbuf_addf(out, "opscope export%s ", r->options ? r->options : "");
    osc_operands_add(out, &f->request.view, r->paths, r->n_paths);
    osc_operands_add_selection(out, &f->request.view);
    if (f->x.stack) {
        osc_strbuf_adds(out, " --stack ");
        osc_shell_add_word(out, f->x.stack);
    }
    if (f->x.metric) {
        osc_strbuf_adds(out, " --metric ");
        osc_shell_add_word(out, f->x.metric);
    }
    osc_strbuf_adds(out, " -o stacks.folded");
}

static osc_status ask(struct osc_api_call *c, struct flame *f, struct osc_set *set,
                      struct osc_err *err)
{
    struct osc_set_using with = {.use = use, .ctx = f};
    osc_status st = osc_export_folded.facts(&f->x, &with.facts, err);

    if (st == OSC_OK)
        st = osc_set_use(set, &f->request.view, &with, c->request->cancel, err);
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
    struct flame f = {.pixels = 1};
    struct osc_err err = {0};
    uint32_t run;

    if (osc_api_find_run(c, "run", &run)) {
        const osc_status st = read_query(c, &f, &err);

        if (st == OSC_OK)
            answer(c, &f, run);
        else
            osc_respond_failure(c, st, &err, NULL);
    }
    osc_regex_close(f.regex);
}

const struct osc_api_endpoint osc_api_endpoint_flame = {"flame", false, answer_flame};
