/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/compare.h"

#include <string.h>

#include "base/mem.h"

struct osc_view osc_compare_view(const struct osc_view *view, bool is_base)
{
    struct osc_view side = view ? *view : (struct osc_view){.ranks = NULL};

    if (is_base && side.base_ranks)
        side.ranks = side.base_ranks;
    if (is_base && side.base_spans)
        side.spans = side.base_spans;
    side.base_ranks = side.base_spans = NULL;
    return side;
}

uint32_t osc_compare_sides(const struct osc_table_def *def)
{
    uint32_t bits = 0;

    for (const uint32_t *s = def->comparison->sides; *s < OSC_SIDES; s++)
        bits |= 1u << *s;
    return bits;
}

void osc_digests_fini(struct osc_digests *d)
{
    for (uint32_t s = 0; s < OSC_SIDES; s++) {
        if (d->of[s].def)
            osc_result_fini(&d->of[s]);
    }
    osc_free(d->sources);
    osc_arena_fini(&d->arena);
    *d = (struct osc_digests){0};
}

/* Keep in D what K, which was answered, says about its files, besides its rows. */
static osc_status keep_sources(struct osc_digests *d, const struct osc_asked *k)
{
    const struct osc_sheet *const sheet = &k->answer.sheet;

    if (d->sources)
        return OSC_OK;
    d->sources = osc_calloc((size_t)sheet->n_sources + 1, sizeof *d->sources);
    if (!d->sources)
        return OSC_ENOMEM;
    for (; d->n_sources < sheet->n_sources; d->n_sources++) {
        const struct osc_str path = sheet->sources[d->n_sources];
        const char *const copy = osc_arena_dup(&d->arena, path.s, path.len);

        if (!copy)
            return OSC_ENOMEM;
        d->sources[d->n_sources] = (struct osc_str){copy, path.len};
    }
    if (sheet->torch_version) {
        d->torch_version =
            osc_arena_dup(&d->arena, sheet->torch_version, strlen(sheet->torch_version));
        return d->torch_version ? OSC_OK : OSC_ENOMEM;
    }
    return OSC_OK;
}

static osc_status take_side(void *ctx, const struct osc_evaluated *e, struct osc_err *err)
{
    const struct osc_side_sink *const to = ctx;
    struct osc_result *const rows = &to->all->of[to->side];

    (void)err;
    osc_result_init(rows, e->asked->def);
    osc_result_move(rows, &e->asked->answer.blocks[0].result);
    to->all->files = e->files;
    return keep_sources(to->all, e->asked);
}

struct osc_sink osc_sink_side(struct osc_side_sink *to)
{
    return (struct osc_sink){.take = take_side, .ctx = to};
}

/* The questions for digests. */
struct digesting {
    struct osc_asked all[OSC_SIDES], *asked[OSC_SIDES];
    enum osc_side sides[OSC_SIDES];
    size_t n;
};

/* Ask R about VIEW. */
static osc_status init_questions(struct digesting *g, const struct osc_request *r,
                                 const struct osc_view *view, uint32_t sides,
                                 struct osc_err *err)
{
    struct osc_request own = {
        .how = r->how, .view = *view, .question = {.limit = -1, .merge = 1}};
    osc_status st = OSC_OK;

    for (uint32_t s = 0; s < OSC_SIDES && st == OSC_OK; s++) {
        if (!(sides >> s & 1))
            continue;
        struct osc_asked *const k = &g->all[g->n];
        st = osc_asked_init_table(k, osc_side_defs[s], &own, osc_renderer_find("csv"), err);
        osc_request_follow(&r->question, osc_side_defs[s], &k->options);
        g->asked[g->n] = k;
        g->sides[g->n++] = (enum osc_side)s;
    }
    return st;
}

osc_status osc_digests_load(struct osc_digests *d, const struct osc_load *o,
                            const struct osc_request *r, uint32_t sides, struct osc_err *err)
{
    struct digesting g = {.n = 0};
    struct osc_set *set = NULL;
    osc_status st = init_questions(&g, r, o->view, sides, err);

    *d = (struct osc_digests){0};
    if (st == OSC_OK)
        st = osc_set_load_to_ask(&set, o, g.asked, g.n, err);
    for (size_t i = 0; i < g.n && st == OSC_OK; i++) {
        struct osc_side_sink side = {d, g.sides[i]};
        const struct osc_sink sink = osc_sink_side(&side);

        st = osc_evaluate_opened(set, g.asked[i], &sink, err);
        if (st != OSC_OK)
            st = osc_loaded_fail(osc_set_loaded(set), NULL, st, "comparing", err);
    }
    if (st == OSC_OK)
        d->has_failed = osc_set_loaded(set)->has_failed;
    for (size_t i = 0; i < g.n; i++)
        osc_asked_fini(g.asked[i]); /* they borrow the traces */
    osc_set_release(set);
    return st;
}

/* Both lists of files, one after the other. */
static osc_status join_sources(struct osc_compared *c)
{
    const uint32_t n = c->base->n_sources;

    if (c->sources)
        return OSC_OK; /* earlier questions use them */
    c->sources = osc_calloc((size_t)n + c->new_->n_sources + 1, sizeof *c->sources);
    for (uint32_t i = 0; i < n && c->sources; i++)
        c->sources[i] = c->base->sources[i];
    for (uint32_t i = 0; i < c->new_->n_sources && c->sources; i++)
        c->sources[n + i] = c->new_->sources[i];
    return c->sources ? OSC_OK : OSC_ENOMEM;
}

void osc_compared_fini(struct osc_compared *c)
{
    osc_free(c->sources);
    c->sources = NULL;
}

osc_status osc_compare_run(struct osc_asked *k, struct osc_compared *c, struct osc_err *err)
{
    const struct osc_comparison *const how = k->def->comparison;
    const struct osc_result *base[OSC_SIDES], *new_[OSC_SIDES];
    struct osc_result rows;
    osc_status st = join_sources(c);

    for (uint32_t i = 0; how->sides[i] < OSC_SIDES; i++) {
        base[i] = &c->base->of[how->sides[i]];
        new_[i] = &c->new_->of[how->sides[i]];
    }
    osc_result_init(&rows, k->def);
    if (st == OSC_OK)
        st = how->compare(base, new_, &k->options, &rows, err);
    k->query.ready = &rows;
    if (st == OSC_OK)
        st = osc_query_run(&k->query, &k->answer, err);
    k->query.ready = NULL;
    osc_result_fini(&rows);
    k->answer.sheet.sources = c->sources;
    k->answer.sheet.n_sources = c->base->n_sources + c->new_->n_sources;
    k->answer.sheet.torch_version = c->new_->torch_version;
    if (st != OSC_OK && err && err->message[0] == '\0')
        (void)osc_fail(err, st, "%s", osc_status_text(st));
    return st;
}
