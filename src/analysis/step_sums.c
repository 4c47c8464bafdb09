/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/step_sums.h"

#include "base/mem.h"
#include "derive/facts.h"

/* Whether the range NODE may be named as the one that grew. */
static bool is_candidate(const struct osc_step_sums *s, uint32_t node,
                         const struct osc_chunk *c, uint32_t i)
{
    const uint8_t flags = s->f->tree.flags[node - 1];

    return (flags & (OSC_NODE | OSC_NODE_MERGED)) == OSC_NODE && c->step[i] != 0 &&
           ((flags & OSC_NODE_ROW) || c->kind[i] == OSC_KIND_DATALOADER);
}

/* Whether the time in ranges of KIND alone is in the class other. */
static bool is_in_other(uint8_t kind)
{
    return kind == OSC_KIND_SCOPE || kind == OSC_KIND_PYTHON || kind == OSC_KIND_MODULE;
}

/* Whether row I of C is what the program marked, or a function of Python, on the thread of its
 * step. */
static bool is_marked(const struct osc_step_sums *s, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const form = osc_row_form(s->t, c, i);
    const uint8_t kind = c->kind[i];

    return c->step[i] != 0 && c->track[i] == s->t->steps[c->step[i] - 1].track.v &&
           !form->is_device && !form->is_profiler &&
           (is_in_other(kind) || kind == OSC_KIND_ANNOTATION ||
            kind == OSC_KIND_COMMUNICATION || kind == OSC_KIND_DATALOADER ||
            kind == OSC_KIND_OPTIMIZER);
}

osc_status osc_step_sums_add(struct osc_step_sums *s, const struct osc_chunk *c, uint32_t i,
                             enum osc_step_side side, int64_t ns)
{
    const uint32_t row = osc_row_at(c, i).v;
    uint32_t *const place = osc_idmap_put(&s->places, (uint64_t)c->name[i] << 32 | c->step[i]);

    if (!place || osc_grow(&s->all, &s->cap, s->n + 1, sizeof *s->all) != OSC_OK)
        return OSC_ENOMEM;
    if (*place == 0) {
        s->all[s->n++] = (struct osc_step_sum){
            .name = c->name[i], .step = c->step[i], .first_row = row, .is_in_other = true};
        *place = (uint32_t)s->n;
    }
    struct osc_step_sum *const sum = &s->all[*place - 1];
    sum->ns[side] += ns;
    sum->n_calls[side]++;
    sum->is_in_other = sum->is_in_other && is_in_other(c->kind[i]);
    sum->first_row = row < sum->first_row ? row : sum->first_row;
    return OSC_OK;
}

/* Parents stand before their children, so go backwards. */
osc_status osc_step_sums_host(struct osc_step_sums *s)
{
    const uint32_t n = s->f->order.n_rows;
    const struct osc_optree *const tree = &s->f->tree;
    const size_t bytes = ((size_t)n + 1) * sizeof(int64_t);
    int64_t *const below_ns = osc_pages_alloc(bytes); /* by node: time of its children */
    osc_status st = below_ns ? OSC_OK : OSC_ENOMEM;

    for (uint32_t node = n; node > 0 && st == OSC_OK; node--) {
        const osc_row row = {s->f->order.rows[node - 1]};
        const struct osc_chunk *const c = osc_chunk_of(&s->t->events, row);
        const uint32_t i = osc_row_place(row);
        const uint8_t flags = tree->flags[node - 1];

        if (flags & OSC_NODE_MERGED)
            continue;
        if (flags & OSC_NODE)
            below_ns[tree->parent[node - 1]] += c->dur_ns[i];
        if (is_candidate(s, node, c, i))
            st = osc_step_sums_add(s, c, i, OSC_STEP_HOST, c->dur_ns[i] - below_ns[node]);
        else if (is_marked(s, c, i))
            st = osc_step_sums_add(s, c, i, OSC_STEP_HOST, c->self_ns[i]);
    }
    osc_pages_free(below_ns, bytes);
    return st;
}

osc_status osc_step_sums_device(struct osc_step_sums *s)
{
    const struct osc_links *const links = &s->f->links;
    osc_status st = OSC_OK;

    for (size_t n = 0; n < links->n_works && st == OSC_OK; n++) {
        const uint32_t call = links->works[n].call;
        const uint32_t node =
            call == 0 ? 0 : osc_optree_owner(&s->f->tree, links->calls[call - 1].node);
        if (node == 0)
            continue;
        const osc_row work = {links->works[n].row}, op = {s->f->order.rows[node - 1]};
        const struct osc_chunk *const c = osc_chunk_of(&s->t->events, op);
        const uint32_t i = osc_row_place(op);

        if (is_candidate(s, node, c, i))
            st = osc_step_sums_add(
                s, c, i, OSC_STEP_DEVICE,
                osc_chunk_of(&s->t->events, work)->dur_ns[osc_row_place(work)]);
    }
    return st;
}

void osc_step_sums_fini(struct osc_step_sums *s)
{
    osc_free(s->all);
    osc_idmap_fini(&s->places);
}
