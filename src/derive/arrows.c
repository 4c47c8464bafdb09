/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/arrows.h"

#include "base/idmap.h"
#include "base/mem.h"

/* Numbers of arrows while they are given out. */
struct numbering {
    struct osc_idmap names; /* id of a flow -> number */
    struct osc_idmap keys;  /* category and that number -> arrow + 1 */
    uint32_t n_names;
};

static bool is_arrow(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const uint8_t ph = t->forms[c->form[i]].ph;

    return ph == 's' || ph == 't' || ph == 'f';
}

/* The place for the number of the arrow of record I, or NULL. */
static uint32_t *find_number(struct numbering *n, const struct osc_trace *t,
                             const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const form = &t->forms[c->form[i]];
    struct osc_arg arg;
    int64_t number = 0;
    uint64_t id = UINT64_C(1) << 63; /* none */

    /* Texts are told apart from numbers by the highest bit. */
    if (osc_row_arg_int(t, c, i, OSC_ARG_KEY_FLOW_ID, &number))
        id = (uint64_t)number & INT64_MAX;
    else if (osc_row_arg(t, c, i, OSC_ARG_KEY_FLOW_ID, &arg) && arg.type == OSC_ARG_STRING)
        id = (uint64_t)arg.sid.v | UINT64_C(1) << 63;
    uint32_t *const name = osc_idmap_put(&n->names, id);
    if (!name)
        return NULL;
    if (*name == 0)
        *name = ++n->n_names;
    return osc_idmap_put(&n->keys, (uint64_t)form->category.v << 32 | *name);
}

/* Number the arrows of chunk K. */
static osc_status number_chunk(const struct osc_trace *t, struct numbering *n,
                               struct osc_arrows *a, uint32_t k)
{
    const struct osc_chunk *const c = t->others.chunks[k];
    struct osc_arrow_span *const span = &a->spans[k];

    *span = (struct osc_arrow_span){INT64_MAX, INT64_MIN, false};
    for (uint32_t i = 0; i < c->n_rows; i++) {
        if (!is_arrow(t, c, i)) {
            span->has_others = true;
            continue;
        }
        uint32_t *const number = find_number(n, t, c, i);
        if (!number)
            return OSC_ENOMEM;
        if (*number == 0)
            *number = ++a->n;
        a->of_record[c->first_row + i] = *number;
        a->n_records[*number - 1]++;
        span->first_ns = c->ts_ns[i] < span->first_ns ? c->ts_ns[i] : span->first_ns;
        span->last_ns = c->ts_ns[i] > span->last_ns ? c->ts_ns[i] : span->last_ns;
    }
    return OSC_OK;
}

osc_status osc_arrows_make(const struct osc_trace *t, struct osc_arrows *a)
{
    const struct osc_store *const s = &t->others;
    struct numbering n = {.n_names = 0};
    osc_status st = OSC_OK;

    *a = (struct osc_arrows){
        .of_record = osc_calloc((size_t)s->n_rows + 1, sizeof *a->of_record),
        .n_records = osc_calloc((size_t)s->n_rows + 1, sizeof *a->n_records),
        .spans = osc_calloc((size_t)s->n_chunks + 1, sizeof *a->spans),
    };
    if (!a->of_record || !a->n_records || !a->spans)
        st = OSC_ENOMEM;
    for (uint32_t k = 1; k < s->n_chunks && st == OSC_OK; k++)
        st = number_chunk(t, &n, a, k);
    osc_idmap_fini(&n.names);
    osc_idmap_fini(&n.keys);
    return st;
}

void osc_arrows_fini(struct osc_arrows *a)
{
    osc_free(a->of_record);
    osc_free(a->n_records);
    osc_free(a->spans);
    *a = (struct osc_arrows){0};
}
