/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/enclosing_ranges.h"

#include "base/mem.h"
#include "base/sort.h"

/* An operation on a line. */
struct op {
    int64_t start_ns, end_ns;
    int64_t covered_ns; /* by the operations directly in it */
    uint32_t track, row;
    uint32_t parent;          /* index of the one around it; its own: none */
    bool is_repeat, is_whole; /* WHOLE: what is in it are parts of it */
};

/* Those around others first. */
static int compare_ops(const void *a, const void *b)
{
    const struct op *const x = a, *const y = b;

    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int compare_rows(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static bool is_op(const struct osc_trace *t, const bool *is_line, const struct osc_chunk *k,
                  uint32_t i)
{
    return is_line[k->track[i]] && k->dur_ns[i] > 0 &&
           osc_shape_is_range((enum osc_form_shape)osc_row_form(t, k, i)->shape);
}

/* The operations of T, in the order of the file; NULL with *N 0: none. */
static osc_status collect(const struct osc_trace *t, const bool *is_line, struct op **ops,
                          size_t *n)
{
    size_t cap = 0;

    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            if (!is_op(t, is_line, k, i))
                continue;
            if (osc_grow(ops, &cap, *n + 1, sizeof **ops) != OSC_OK)
                return OSC_ENOMEM;
            (*ops)[(*n)++] = (struct op){.start_ns = k->ts_ns[i],
                                         .end_ns = k->ts_ns[i] + k->dur_ns[i],
                                         .track = k->track[i],
                                         .row = k->first_row + i};
        }
    }
    return OSC_OK;
}

/* Add NS to what is covered of O: parts that overlap cover no more than all of it. */
static void cover(struct op *o, int64_t ns)
{
    const int64_t left_ns = o->end_ns - o->start_ns - o->covered_ns;

    o->covered_ns += ns < left_ns ? ns : left_ns;
}

/* Find what is around each of the N operations OPS, and how much of it they cover. */
static void nest(struct op *ops, size_t n)
{
    uint32_t top = 0; /* the innermost that may hold the next one */

    for (uint32_t i = 0; i < n; i++) {
        struct op *const o = &ops[i];

        while (i > 0 && ops[top].parent != top &&
               (ops[top].track != o->track || ops[top].end_ns < o->end_ns))
            top = ops[top].parent;
        o->parent = i;
        if (i > 0 && ops[top].track == o->track && ops[top].end_ns >= o->end_ns) {
            o->parent = top;
            cover(&ops[top], o->end_ns - o->start_ns);
        }
        top = i;
    }
}

/* Mark the repeats among the N operations OPS; return how many. */
static size_t mark(struct op *ops, size_t n)
{
    size_t n_repeats = 0;

    for (size_t i = 0; i < n; i++) {
        struct op *const o = &ops[i];
        const struct op *const around = &ops[o->parent];
        const int64_t dur_ns = o->end_ns - o->start_ns;

        o->is_whole = o->covered_ns < dur_ns - o->covered_ns;
        if (around != o && around->is_whole)
            o->is_repeat = o->is_whole = true;
        else
            o->is_repeat = !o->is_whole;
        n_repeats += o->is_repeat;
    }
    return n_repeats;
}

osc_status osc_enclosing_ranges_find(const struct osc_trace *t, const bool *is_line,
                                     struct osc_enclosing_ranges *r)
{
    struct op *ops = NULL;
    size_t n = 0;
    osc_status st;

    *r = (struct osc_enclosing_ranges){0};
    st = collect(t, is_line, &ops, &n);
    if (st == OSC_OK && n > 0) {
        osc_sort(ops, n, sizeof *ops, compare_ops);
        nest(ops, n);
        r->rows = osc_malloc((mark(ops, n) + 1) * sizeof *r->rows);
        if (!r->rows)
            st = OSC_ENOMEM;
        for (size_t i = 0; i < n && st == OSC_OK; i++) {
            if (ops[i].is_repeat)
                r->rows[r->n++] = ops[i].row;
        }
        if (st == OSC_OK)
            osc_sort(r->rows, r->n, sizeof *r->rows, compare_rows);
    }
    osc_free(ops);
    return st;
}

void osc_enclosing_ranges_fini(struct osc_enclosing_ranges *r)
{
    osc_free(r->rows);
    *r = (struct osc_enclosing_ranges){0};
}
