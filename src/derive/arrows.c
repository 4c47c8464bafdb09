/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/arrows.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "derive/args.h"
#include "derive/keymap.h"

/* Used while arrows are numbered. */
struct numbering {
    struct osc_idmap names;                 /* id of an arrow -> number */
    struct osc_idmap keys[OSC_ARROW_KINDS]; /* category and that number -> arrow + 1 */
    uint32_t n_names;
};

static bool is_arrow(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    return osc_shape_is_arrow((enum osc_form_shape)t->forms[c->form[i]].shape);
}

/*
 * The address of the number for the arrow of record I; NULL: out of memory. Records without
 * an id are one arrow.
 */
static uint32_t *find_number(struct numbering *n, const struct osc_trace *t,
                             const struct osc_chunk *c, uint32_t i, bool *has_id)
{
    const struct osc_form *const form = &t->forms[c->form[i]];
    int64_t id = 0;

    *has_id = osc_args_flow_id(t, c, i, &id);
    uint32_t *const name = osc_idmap_put(&n->names, *has_id ? (uint64_t)id : UINT64_C(1) << 63);
    if (!name)
        return NULL;
    if (*name == 0)
        *name = ++n->n_names;
    return osc_idmap_put(&n->keys[form->arrow], (uint64_t)form->category.v << 32 | *name);
}

static uint8_t end_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    return t->forms[c->form[i]].shape == OSC_SHAPE_ARROW_FROM ? OSC_ARROW_STARTS
                                                              : OSC_ARROW_LEADS;
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
        bool has_id;
        uint32_t *const number = find_number(n, t, c, i, &has_id);
        if (!number)
            return OSC_ENOMEM;
        if (*number == 0)
            *number = ++a->n;
        a->of_record[c->first_row + i] = *number;
        a->n_records[*number - 1]++;
        a->ends[*number - 1] |= !has_id ? OSC_ARROW_COUNTED : end_of(t, c, i);
        span->first_ns = c->ts_ns[i] < span->first_ns ? c->ts_ns[i] : span->first_ns;
        span->last_ns = c->ts_ns[i] > span->last_ns ? c->ts_ns[i] : span->last_ns;
    }
    return OSC_OK;
}

/* Count the arrows that lack an end, each where its first record is. */
static void count_open_arrows(struct osc_trace *t, struct osc_arrows *a)
{
    const struct osc_store *const s = &t->others;
    struct osc_tally no_start = {0}, no_end = {0};

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const uint32_t arrow = a->of_record[c->first_row + i];

            if (arrow == 0)
                continue;
            if (a->ends[arrow - 1] == OSC_ARROW_LEADS)
                osc_tally_add(&no_start, c->ts_ns[i]);
            else if (a->ends[arrow - 1] == OSC_ARROW_STARTS)
                osc_tally_add(&no_end, c->ts_ns[i]);
            a->ends[arrow - 1] |= OSC_ARROW_COUNTED;
        }
    }
    osc_findings_add_tally(&t->findings, OSC_FINDING_arrow_no_start, &no_start);
    osc_findings_add_tally(&t->findings, OSC_FINDING_arrow_no_end, &no_end);
}

osc_status osc_arrows_make(struct osc_trace *t, struct osc_arrows *a)
{
    const struct osc_store *const s = &t->others;
    struct numbering n = {.n_names = 0};
    osc_status st = OSC_OK;

    *a = (struct osc_arrows){
        .of_record = osc_calloc((size_t)s->n_rows + 1, sizeof *a->of_record),
        .n_records = osc_calloc((size_t)s->n_rows + 1, sizeof *a->n_records),
        .ends = osc_calloc((size_t)s->n_rows + 1, sizeof *a->ends),
        .spans = osc_calloc((size_t)s->n_chunks + 1, sizeof *a->spans),
    };
    if (!a->of_record || !a->n_records || !a->ends || !a->spans)
        st = OSC_ENOMEM;
    for (uint32_t k = 1; k < s->n_chunks && st == OSC_OK; k++)
        st = number_chunk(t, &n, a, k);
    osc_idmap_fini(&n.names);
    for (size_t k = 0; k < OSC_ARROW_KINDS; k++)
        osc_idmap_fini(&n.keys[k]);
    if (st == OSC_OK)
        count_open_arrows(t, a);
    return st;
}

void osc_arrows_fini(struct osc_arrows *a)
{
    osc_free(a->of_record);
    osc_free(a->n_records);
    osc_free(a->ends);
    osc_free(a->spans);
    *a = (struct osc_arrows){0};
}

/* --- both ends ------------------------------------------------------------------------ */

struct pairing {
    const struct osc_trace *t;
    uint8_t *shapes;          /* owned; by form: enum osc_form_shape of the wanted arrows, or
                               * 0 */
    int64_t *salts;           /* owned; by form: keeps ids of categories apart */
    struct osc_keymap starts; /* id of an arrow -> row of its start */
    struct osc_arrow_pairs *pairs;
};

/*
 * Whether the arrows of FORM, which launch, tell more than the ids of calls and work. Kineto
 * draws them by those ids.
 */
static bool tells_more(const struct osc_trace *t, const struct osc_form *form)
{
    static const char *const of_kineto[] = {"ac2g", "async", "async_cpu_to_gpu"};
    const struct osc_str category = osc_trace_str(t, form->category);

    for (size_t i = 0; i < sizeof of_kineto / sizeof *of_kineto; i++) {
        if (!osc_form_is_neutral(form) && osc_str_eq(category, osc_str_c(of_kineto[i])))
            return false;
    }
    return true;
}

/* Mark the forms of the wanted arrows; *IS_ANY: there are some. */
static osc_status find_forms(struct pairing *p, enum osc_arrow_kind kind, bool is_bound,
                             bool *is_any)
{
    struct osc_idmap categories = {0}; /* -> number, from 1 */
    osc_status st = OSC_OK;
    uint32_t n = 0;

    for (uint32_t f = 0; f < p->t->n_forms && st == OSC_OK; f++) {
        const struct osc_form *const form = &p->t->forms[f];

        if (form->arrow != kind || (is_bound && !tells_more(p->t, form)) ||
            (form->shape != OSC_SHAPE_ARROW_FROM && form->shape != OSC_SHAPE_ARROW_TO))
            continue;
        uint32_t *const number = osc_idmap_put(&categories, form->category.v);
        if (!number) {
            st = OSC_ENOMEM;
            break;
        }
        if (*number == 0)
            *number = ++n;
        p->shapes[f] = form->shape;
        if (is_bound)
            p->salts[f] = (int64_t)((uint64_t)(*number - 1) << 56);
        *is_any = true;
    }
    osc_idmap_fini(&categories);
    return st;
}

/* The id of the arrow of record I, which is one of its category. */
static bool id_of(const struct pairing *p, const struct osc_chunk *c, uint32_t i, int64_t *id)
{
    if (!osc_args_flow_id(p->t, c, i, id))
        return false;
    *id ^= p->salts[c->form[i]];
    return true;
}

/* Find the range of the ids of arrow starts, to size their map. */
static osc_status measure(struct pairing *p, const struct osc_chunk *c, uint32_t i,
                          struct osc_keyrange *ids)
{
    int64_t id;

    if (id_of(p, c, i, &id))
        osc_keyrange_add(ids, id);
    return OSC_OK;
}

static osc_status note_start(struct pairing *p, const struct osc_chunk *c, uint32_t i,
                             struct osc_keyrange *ids)
{
    int64_t id;

    (void)ids;
    if (!id_of(p, c, i, &id))
        return OSC_OK;
    uint32_t *const place = osc_keymap_put(&p->starts, id);
    if (!place)
        return OSC_ENOMEM;
    *place = *place == 0 ? osc_row_at(c, i).v : *place;
    return OSC_OK;
}

static osc_status add_pair(struct pairing *p, const struct osc_chunk *c, uint32_t i,
                           struct osc_keyrange *ids)
{
    struct osc_arrow_pairs *const a = p->pairs;
    int64_t id;

    (void)ids;
    if (!id_of(p, c, i, &id))
        return OSC_OK;
    const osc_row from = {osc_keymap_get(&p->starts, id)};
    if (from.v == 0)
        return OSC_OK;
    if (a->n == a->cap && osc_grow(&a->v, &a->cap, a->n + 1, sizeof *a->v) != OSC_OK)
        return OSC_ENOMEM;
    a->v[a->n++] = (struct osc_arrow_pair){from, osc_row_at(c, i)};
    return OSC_OK;
}

/* Call FN for each record of the wanted arrows that has SHAPE. */
static osc_status each_record(struct pairing *p, enum osc_form_shape shape,
                              osc_status (*fn)(struct pairing *p, const struct osc_chunk *c,
                                               uint32_t i, struct osc_keyrange *ids),
                              struct osc_keyrange *ids)
{
    const struct osc_store *const s = &p->t->others;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < s->n_chunks; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++)
            st = p->shapes[c->form[i]] == shape ? fn(p, c, i, ids) : OSC_OK;
    }
    return st;
}

osc_status osc_arrow_pairs_make(const struct osc_trace *t, enum osc_arrow_kind kind,
                                bool is_bound, struct osc_arrow_pairs *pairs)
{
    struct pairing p = {.t = t, .pairs = pairs};
    struct osc_keyrange ids = {0};
    bool is_any = false;
    osc_status st = OSC_ENOMEM;

    *pairs = (struct osc_arrow_pairs){0};
    p.shapes = osc_calloc((size_t)t->n_forms + 1, sizeof *p.shapes);
    p.salts = osc_calloc((size_t)t->n_forms + 1, sizeof *p.salts);
    if (p.shapes && p.salts)
        st = find_forms(&p, kind, is_bound, &is_any);
    if (st == OSC_OK && is_any) {
        st = each_record(&p, OSC_SHAPE_ARROW_FROM, measure, &ids);
        osc_keymap_init(&p.starts, &ids);
        if (st == OSC_OK)
            st = each_record(&p, OSC_SHAPE_ARROW_FROM, note_start, NULL);
        if (st == OSC_OK)
            st = each_record(&p, OSC_SHAPE_ARROW_TO, add_pair, NULL);
    }
    osc_keymap_fini(&p.starts);
    osc_free(p.shapes);
    osc_free(p.salts);
    if (st != OSC_OK)
        osc_arrow_pairs_fini(pairs);
    return st;
}

void osc_arrow_pairs_fini(struct osc_arrow_pairs *pairs)
{
    osc_free(pairs->v);
    *pairs = (struct osc_arrow_pairs){0};
}
