/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/gather.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "import/run.h"

osc_status osc_gather_add(struct osc_gathering *g, struct osc_str part,
                          const struct osc_partial_question *q, struct osc_err *err)
{
    osc_status st = osc_grow(&g->bytes, &g->cap_bytes, (size_t)g->n_parts + 1, sizeof(void *));

    if (st == OSC_OK)
        st = osc_grow(&g->parts, &g->cap_parts, (size_t)g->n_parts + 1, sizeof *g->parts);
    char *const copy = st == OSC_OK ? osc_malloc(part.len) : NULL;
    if (!copy)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    memcpy(copy, part.s, part.len);
    st = osc_partial_open(&g->parts[g->n_parts], (struct osc_str){copy, part.len}, q, err);
    if (st == OSC_OK)
        g->bytes[g->n_parts++] = copy;
    else
        osc_free(copy);
    return st;
}

osc_status osc_gather_take(struct osc_gathering *g, struct osc_gathering *from)
{
    const size_t n = (size_t)g->n_parts + from->n_parts + 1;
    osc_status st = osc_grow(&g->bytes, &g->cap_bytes, n, sizeof(void *));

    if (st == OSC_OK)
        st = osc_grow(&g->parts, &g->cap_parts, n, sizeof *g->parts);
    if (st != OSC_OK)
        return st;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        g->bytes[g->n_parts] = from->bytes[i];
        g->parts[g->n_parts] = from->parts[i];
        g->parts[g->n_parts].identity.number = g->n_parts;
        g->n_parts++;
    }
    from->n_parts = 0;
    osc_gathering_fini(from);
    return OSC_OK;
}

/* Compare by the number that a trace got when it was opened, then by path and bytes. */
static int by_number(const void *x, const void *y)
{
    const struct osc_partial *const a = *(struct osc_partial *const *)x;
    const struct osc_partial *const b = *(struct osc_partial *const *)y;
    const uint32_t len = a->bytes.len < b->bytes.len ? a->bytes.len : b->bytes.len;

    if (a->identity.number != b->identity.number)
        return a->identity.number < b->identity.number ? -1 : 1;
    const int order = osc_str_cmp(a->identity.path, b->identity.path);
    if (order != 0)
        return order;
    const int bytes = memcmp(a->bytes.s, b->bytes.s, len);
    return bytes != 0 ? bytes : (a->bytes.len > b->bytes.len) - (a->bytes.len < b->bytes.len);
}

static int by_rank(const void *x, const void *y)
{
    const struct osc_partial *const a = *(struct osc_partial *const *)x;
    const struct osc_partial *const b = *(struct osc_partial *const *)y;
    const struct osc_placing *const p = &a->identity.among, *const q = &b->identity.among;

    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    if (p->span != q->span)
        return p->span < q->span ? -1 : 1;
    if (p->piece != q->piece)
        return p->piece < q->piece ? -1 : 1;
    return by_number(x, y);
}

osc_status osc_gather_place(struct osc_gathering *g,
                            bool (*keep)(void *ctx, const struct osc_identity *id), void *ctx,
                            struct osc_err *err)
{
    struct osc_identity **const ids = osc_calloc((size_t)g->n_parts + 1, sizeof(void *));
    osc_status st = OSC_ENOMEM;
    uint32_t n = 0;

    osc_free(g->order);
    g->order = osc_calloc((size_t)g->n_parts + 1, sizeof(void *));
    if (ids && g->order) {
        for (uint32_t i = 0; i < g->n_parts; i++)
            g->order[i] = &g->parts[i];
        osc_sort(g->order, g->n_parts, sizeof(void *), by_number);
        for (uint32_t i = 0; i < g->n_parts; i++)
            ids[i] = &g->order[i]->identity;
        st = osc_run_place(ids, g->n_parts);
    }
    osc_free(ids);
    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));
    for (uint32_t i = 0; i < g->n_parts; i++) {
        if (!keep || keep(ctx, &g->order[i]->identity))
            g->order[n++] = g->order[i];
    }
    osc_sort(g->order, n, sizeof(void *), by_rank);
    g->n_ordered = n;
    return OSC_OK;
}

void osc_gathering_fini(struct osc_gathering *g)
{
    for (uint32_t i = 0; i < g->n_parts; i++)
        osc_free(g->bytes[i]);
    osc_free(g->bytes);
    osc_free(g->parts);
    osc_free(g->order);
    *g = (struct osc_gathering){0};
}
