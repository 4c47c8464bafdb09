/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/strays.h"

#include "base/mem.h"

/* How far an end looks for its scope without a map of all that are open. */
#define NEAR_DEPTH 256u

/* The open scope of T whose token is TOKEN, in place number PLACE, from 1 on; NULL: it is not
 * that. */
static struct osc_records_open *at_place(const struct osc_records_thread *t, uint32_t place,
                                         uint32_t token)
{
    struct osc_records_open *const scope =
        place > 0 && place <= t->depth ? &t->open[place - 1] : NULL;

    return scope && scope->token == token && !scope->has_ended ? scope : NULL;
}

/* Make the map of the open scopes of T anew. */
static osc_status make_places(struct osc_records_thread *t)
{
    osc_idmap_fini(&t->places);
    for (uint32_t i = 0; i < t->depth; i++) {
        uint32_t *const place = osc_idmap_put(&t->places, t->open[i].token);

        if (!place)
            return OSC_ENOMEM;
        *place = i + 1;
    }
    return OSC_OK;
}

void osc_strays_opened(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    uint32_t *place;

    if (t->places.n_used / 2 > t->depth + NEAR_DEPTH) { /* most are over */
        const osc_status st = make_places(t);

        if (st != OSC_OK)
            rows->builder->status = st;
        return;
    }
    place = osc_idmap_put(&t->places, t->open[t->depth - 1].token);
    if (place)
        *place = t->depth;
    else
        rows->builder->status = OSC_ENOMEM;
}

/* The open scope of T whose token is TOKEN; NULL: none is. */
static struct osc_records_open *find_open(struct osc_records_rows *rows,
                                          struct osc_records_thread *t, uint32_t token)
{
    for (uint32_t i = t->depth; i > 0 && t->depth - i < NEAR_DEPTH; i--) {
        struct osc_records_open *const scope = at_place(t, i, token);

        if (scope)
            return scope;
    }
    if (t->depth <= NEAR_DEPTH)
        return NULL;
    if (t->places.n_used == 0) {
        const osc_status st = make_places(t);

        if (st != OSC_OK)
            rows->builder->status = st;
    }
    return at_place(t, osc_idmap_get(&t->places, token), token);
}

/* SCOPE of T has ended at TS_NS and is not known to be the innermost. Its row ends once those
 * of scopes in it have, so that ends are in the order of nesting. */
static void mark_ended(struct osc_records_thread *t, struct osc_records_open *scope,
                       int64_t ts_ns)
{
    scope->has_ended = true;
    scope->ended_ns = ts_ns;
    t->n_ended++;
}

void osc_strays_add(struct osc_records_rows *rows, struct osc_records_thread *t, uint32_t token,
                    int64_t ts_ns)
{
    struct osc_records_open *const scope = find_open(rows, t, token);

    if (scope) {
        mark_ended(t, scope, ts_ns);
        return;
    }
    const osc_status st = osc_build_grow(&rows->strays, &rows->cap_strays, rows->n_strays + 1,
                                         sizeof *rows->strays);

    if (st == OSC_OK)
        rows->strays[rows->n_strays++] = (struct osc_records_stray){token, ts_ns};
    else
        rows->builder->status = st;
}

/* Where an open scope is. */
struct open_place {
    struct osc_records_thread *thread;
    uint32_t depth; /* from 0 on */
};

/* The places of all open scopes that have not ended, whose numbers + 1 are in BY_TOKEN. */
struct open_places {
    struct osc_idmap by_token; /* token + 1 -> index in v + 1 */
    struct open_place *v;
    size_t n, cap;
};

/* Note where scopes of T are open: another thread may end them by their token. */
static osc_status add_places(struct open_places *p, struct osc_records_thread *t)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < t->depth && st == OSC_OK; k++) {
        uint32_t *at;

        if (t->open[k].has_ended)
            continue;
        st = osc_build_grow(&p->v, &p->cap, p->n + 1, sizeof *p->v);
        if (st != OSC_OK)
            break;
        at = osc_idmap_put(&p->by_token, (uint64_t)t->open[k].token + 1);
        if (!at)
            return OSC_ENOMEM;
        p->v[p->n++] = (struct open_place){t, k};
        *at = (uint32_t)p->n;
    }
    return st;
}

/* STRAY ends what is open at one of the places P. */
static void end_stray(struct osc_records_rows *rows, const struct open_places *p,
                      const struct osc_records_stray *stray)
{
    const uint32_t at = osc_idmap_get(&p->by_token, (uint64_t)stray->token + 1);

    if (at == 0 || !p->v)
        return;
    struct osc_records_thread *const t = p->v[at - 1].thread;
    struct osc_records_open *const scope = &t->open[p->v[at - 1].depth];
    if (scope->has_ended)
        return;
    mark_ended(t, scope, stray->ts_ns);
    scope->is_counted = true;
    osc_findings_add(&rows->builder->findings, OSC_FINDING_crossed_thread, OSC_NO_OFFSET,
                     stray->ts_ns);
}

void osc_strays_end(struct osc_records_rows *rows)
{
    struct open_places places = {.n = 0};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < rows->n_threads && rows->n_strays > 0 && st == OSC_OK; i++)
        st = add_places(&places, &rows->threads[i]);
    for (size_t i = 0; i < rows->n_strays && st == OSC_OK; i++)
        end_stray(rows, &places, &rows->strays[i]);
    if (st != OSC_OK)
        rows->builder->status = st;
    osc_idmap_fini(&places.by_token);
    osc_free(places.v);
}

void osc_strays_fini(struct osc_records_rows *rows)
{
    osc_free(rows->strays);
    rows->strays = NULL;
}
