/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/who.h"

#include "base/mem.h"

osc_status osc_pairs_add(struct osc_pairs *p, osc_sid name, osc_sid around, int64_t ns)
{
    uint32_t *const place = osc_idmap_put(&p->of, (uint64_t)name.v << 32 | around.v);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (osc_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v) != OSC_OK)
            return OSC_ENOMEM;
        p->v[p->n++] = (struct osc_pair){name, around, 0};
        *place = (uint32_t)p->n;
    }
    p->v[*place - 1].ns += ns;
    return OSC_OK;
}

struct osc_pair osc_pairs_top(const struct osc_pairs *p)
{
    struct osc_pair top = {{0}, {0}, 0};

    for (size_t i = 0; i < p->n; i++)
        top = p->v[i].ns > top.ns ? p->v[i] : top;
    return top;
}

void osc_pairs_fini(struct osc_pairs *p)
{
    osc_idmap_fini(&p->of);
    osc_free(p->v);
    *p = (struct osc_pairs){0};
}

osc_sid osc_who_called(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    osc_row row = {c->parent ? c->parent[i] : 0};

    while (row.v != 0) {
        const struct osc_chunk *const p = osc_chunk_of(&a->t->events, row);
        const uint32_t at = osc_row_place(row);

        if (!osc_kind_is_launch((enum osc_kind)p->kind[at]) &&
            !osc_row_form(a->t, p, at)->is_profiler &&
            (p->kind[at] != OSC_KIND_STEP || a->t->has_iterations))
            return (osc_sid){p->name[at]};
        row.v = p->parent[at];
    }
    return (osc_sid){0};
}

osc_row osc_who_around(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i,
                       bool (*is)(const struct osc_advice_base *a, const struct osc_chunk *c,
                                  uint32_t i))
{
    osc_row row = {c->parent ? c->parent[i] : 0};

    while (row.v != 0) {
        const struct osc_chunk *const p = osc_chunk_of(&a->t->events, row);

        if (is(a, p, osc_row_place(row)))
            break;
        row.v = p->parent[osc_row_place(row)];
    }
    return row;
}

bool osc_who_is_mark(const struct osc_advice_base *a, const struct osc_chunk *c, uint32_t i)
{
    return (c->kind[i] == OSC_KIND_ANNOTATION || c->kind[i] == OSC_KIND_SCOPE) &&
           !osc_row_form(a->t, c, i)->is_profiler;
}

bool osc_who_has_operator(const struct osc_advice_base *a, uint32_t work)
{
    return osc_advice_operator_of(a, a->f->links.works[work - 1].call).v != 0;
}

osc_sid osc_who_launched(const struct osc_advice_base *a, uint32_t work)
{
    if (work == 0)
        return (osc_sid){0};
    const struct osc_work *const w = &a->f->links.works[work - 1];
    const osc_sid caller = osc_advice_operator_of(a, w->call);
    const osc_row row = {w->row};

    if (caller.v != 0)
        return caller;
    return (osc_sid){osc_chunk_of(&a->t->events, row)->name[osc_row_place(row)]};
}

osc_sid osc_who_launched_in(const struct osc_advice_base *a, uint32_t work)
{
    const struct osc_links *const links = &a->f->links;
    const uint32_t call = work == 0 ? 0 : links->works[work - 1].call;
    osc_row row = {call == 0 ? 0 : links->calls[call - 1].row};
    osc_sid outermost = {0};

    while (row.v != 0) {
        const struct osc_chunk *const c = osc_chunk_of(&a->t->events, row);
        const uint32_t i = osc_row_place(row);
        const enum osc_kind kind = (enum osc_kind)c->kind[i];

        if (c->name[i] != 0 && (osc_who_is_mark(a, c, i) || kind == OSC_KIND_MODULE))
            return (osc_sid){c->name[i]};
        if (kind == OSC_KIND_OPERATOR)
            outermost.v = c->name[i];
        row.v = c->parent ? c->parent[i] : 0;
    }
    return outermost.v == osc_who_launched(a, work).v ? (osc_sid){0} : outermost;
}
