/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stacks/flame_graph.h"

#include <string.h>

#include "base/mem.h"
#include "prose/phrase.h"

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
static void sum_up(const struct osc_stack_tree *tree, struct osc_flame_frame *sums)
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
                       const struct osc_flame_wish *wish)
{
    struct osc_flame_frame *const sums = osc_calloc(tree->n_nodes + 1, sizeof *sums);
    uint32_t *const at = osc_calloc(tree->n_nodes + 1, sizeof *at);
    osc_status st = sums && at ? OSC_OK : OSC_ENOMEM;

    if (st == OSC_OK)
        sum_up(tree, sums);
    for (uint32_t node = 1; node <= tree->n_nodes && st == OSC_OK; node++) {
        const uint32_t caller = tree->nodes[node - 1].caller;
        const bool is_it = osc_str_eq(frame_of(tree, node), osc_str_c(wish->name));

        sums[node].is_inside = is_it || sums[caller].is_inside;
        if (is_it && !sums[caller].is_inside && wish->has_callers)
            st = push_callers(to, tree, node, sums[node].total);
        if (!sums[node].is_inside || wish->has_callers)
            continue;
        st = osc_stack_tree_push(to, at[caller], frame_of(tree, node), &at[node]);
        if (st == OSC_OK)
            osc_stack_tree_add(to, at[node], value_of(&tree->nodes[node - 1]));
    }
    osc_free(sums);
    osc_free(at);
    return st;
}

/* Set matches of SUMS; each frame is looked at once. */
static osc_status find_matches(const struct osc_stack_tree *tree, struct osc_regex *regex,
                               struct osc_flame_frame *sums)
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

static osc_status choose(struct osc_flame *f, const struct osc_flame_wish *wish,
                         struct osc_err *err)
{
    const struct osc_stack_tree *const tree = f->tree;
    struct osc_flame_frame *const sums = f->frames;
    uint32_t root = 0;
    osc_status st = OSC_OK;

    if (wish->root)
        st = find_root(tree, wish->root, &root, err);
    if (st == OSC_OK && wish->regex)
        st = find_matches(tree, wish->regex, sums);
    if (st != OSC_OK)
        return st;
    sum_up(tree, sums);
    sums[0].is_in = root == 0;
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        const uint32_t caller = tree->nodes[node - 1].caller;

        sums[node].is_in = node == root || sums[caller].is_in;
        sums[node].is_inside =
            sums[node].is_in && (sums[node].matches || sums[caller].is_inside);
        if (sums[node].is_inside)
            add(&f->matched, value_of(&tree->nodes[node - 1]));
    }
    const int64_t whole = sums[root].total;
    f->least = whole / wish->pixels;
    uint32_t n = 0;
    for (uint32_t node = 1; node <= tree->n_nodes; node++)
        if (sums[node].is_in && sums[node].total > 0 && sums[node].total >= f->least)
            sums[node].shown = ++n;
    for (uint32_t node = 1; node <= tree->n_nodes; node++) {
        struct osc_flame_frame *const caller = &sums[tree->nodes[node - 1].caller];

        if (!sums[node].is_in || sums[node].shown != 0 || sums[node].total <= 0 ||
            (caller->shown == 0 && caller != sums))
            continue;
        caller->small_count++;
        add(&caller->small_total, sums[node].total);
    }
    sums[0].total = whole;
    return OSC_OK;
}

osc_status osc_flame_make(struct osc_flame *f, const struct osc_stack_tree *tree,
                          const struct osc_flame_wish *wish, struct osc_err *err)
{
    osc_status st = OSC_OK;

    *f = (struct osc_flame){.tree = tree};
    osc_stack_tree_init(&f->turned);
    f->turned.keeps_blanks = tree->keeps_blanks;
    if (wish->name) {
        st = turn(&f->turned, tree, wish);
        f->tree = &f->turned;
    }
    if (st != OSC_OK)
        return st;
    f->frames = osc_calloc(f->tree->n_nodes + 1, sizeof *f->frames);
    return f->frames ? choose(f, wish, err) : OSC_ENOMEM;
}

void osc_flame_fini(struct osc_flame *f)
{
    osc_stack_tree_fini(&f->turned);
    osc_free(f->frames);
    *f = (struct osc_flame){.tree = NULL};
}

int64_t osc_flame_self(const struct osc_flame *f, uint32_t node)
{
    return value_of(&f->tree->nodes[node - 1]);
}

#define FACT_LIST(X)                                                                  \
    X(frame, NAME, 0) /* with most of its own, */                                     \
    X(share, SHARE, 0)                                                                \
    X(ns, NS, 0)                                                                      \
    X(bytes, BYTES, 0)                                                                \
    X(n, INTEGER, 0)                                                                  \
    X(what, TEXT, 0) /* the metric counts */                                          \
    X(sentence, PHRASE,                                                               \
      "{frame?{frame} takes {share} of {ns?{ns} of |{bytes?{bytes} of |{n} }}{what} " \
      "by itself|0 {what} in these stacks}.")
OSC_PROSE(osc_flame_prose, FACT_LIST);

/* What metrics count, and what all of it is for the sentence. */
static const struct {
    const char *name, *what;
    unsigned all;
} metrics[] = {
    {"host_self_ns", "host time", FACT_ns},
    {"device_self_ns", "device time", FACT_ns},
    {"self_alloc_bytes", "allocated memory", FACT_bytes},
    {"calls", "calls", FACT_n},
};

/* Append the sentence about the frame with most of its own, of which there is VALUE. */
static void add_sentence(struct osc_strbuf *out, struct osc_str frame, int64_t value,
                         int64_t whole, const char *metric)
{
    struct osc_prose_facts facts = {.prose = &osc_flame_prose};
    size_t m = 0;

    while (metric && m + 1 < sizeof metrics / sizeof *metrics &&
           strcmp(metrics[m].name, metric) != 0)
        m++;
    osc_prose_text(&facts, FACT_what, osc_str_c(metrics[m].what));
    osc_prose_number(&facts, metrics[m].all, whole);
    osc_prose_share(&facts, FACT_share, value, whole);
    if (whole > 0)
        osc_prose_text(&facts, FACT_frame, frame);
    osc_prose_say(out, &facts, FACT_sentence);
}

osc_status osc_flame_say(const struct osc_flame *f, const char *metric, struct osc_strbuf *out)
{
    const struct osc_stack_tree *const tree = f->tree;
    int64_t *const own = osc_calloc((size_t)tree->frames.n_entries + 1, sizeof *own);
    uint32_t most = 0;

    if (!own)
        return OSC_ENOMEM;
    for (uint32_t node = 1; node <= tree->n_nodes; node++)
        if (f->frames[node].is_in)
            add(&own[tree->nodes[node - 1].frame.v], value_of(&tree->nodes[node - 1]));
    for (uint32_t frame = 1; frame <= tree->frames.n_entries; frame++)
        if (own[frame] > own[most])
            most = frame;
    add_sentence(out, osc_intern_str(&tree->frames, (osc_sid){most}), own[most],
                 f->frames[0].total, metric);
    osc_free(own);
    return out->status;
}
