/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/copies.h"

/* Ids of other rows are their numbers, which are below. */
#define FIRST_ID (INT64_C(1) << 32)

void osc_copies_fini(struct osc_records_copies *c)
{
    osc_free(c->ranges);
    osc_free(c->copies);
    osc_idmap_fini(&c->of_step);
    osc_idmap_fini(&c->at);
    *c = (struct osc_records_copies){0};
}

/* Add a range NAME; returns its number, or 0: see the builder's status. */
static uint32_t add_range(struct osc_records_rows *rows, osc_sid name)
{
    struct osc_records_copies *const c = &rows->copies;
    const osc_status st =
        osc_build_grow(&c->ranges, &c->cap_ranges, c->n_ranges + 1, sizeof *c->ranges);

    if (st != OSC_OK) {
        rows->builder->status = st;
        return 0;
    }
    c->ranges[c->n_ranges++] = name;
    return (uint32_t)c->n_ranges;
}

/* The number of the step that is open in T. */
static uint32_t step_of(struct osc_records_rows *rows, const struct osc_records_thread *t)
{
    const uint64_t number = rows->late.items[t->step - 1].order + 1;
    uint32_t *const place = osc_idmap_put(&rows->copies.of_step, number);

    if (!place)
        rows->builder->status = OSC_ENOMEM;
    else if (*place == 0)
        *place = add_range(rows, (osc_sid){OSC_COPIES_UNNAMED});
    return place ? *place : 0;
}

/* The place + 1 of the innermost scope around that in PLACE, from 1 on, that may have copies.
 */
static uint32_t around(const struct osc_records_thread *t, uint32_t place)
{
    const uint32_t nearest = t->open[place - 1].nearest;

    if (nearest != place)
        return nearest;
    return place > 1 ? t->open[place - 2].nearest : 0;
}

/* The same of what has not ended, in the innermost scope of T. What is found is kept, so that
 * no launch passes ended scopes again. */
static uint32_t find_nearest(struct osc_records_thread *t)
{
    uint32_t n = t->depth > 0 ? t->open[t->depth - 1].nearest : 0;
    const uint32_t first = n;

    while (n > 0 && t->open[n - 1].has_ended)
        n = around(t, n);
    for (uint32_t k = first, next; k > n; k = next) {
        next = around(t, k);
        t->open[k - 1].nearest = n;
    }
    return n;
}

uint32_t osc_copies_range(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    const uint32_t n = find_nearest(t);
    struct osc_records_open *const scope = n > 0 ? &t->open[n - 1] : NULL;

    if (t->step > 0 && (!scope || scope->step != (uint32_t)t->step)) /* the step began later */
        return step_of(rows, t);
    if (!scope)
        return 0;
    if (scope->marked == 0)
        scope->marked = add_range(rows, scope->name);
    return scope->marked;
}

uint32_t osc_copies_step(const struct osc_records_rows *rows, uint64_t step)
{
    return osc_idmap_get(&rows->copies.of_step, step);
}

void osc_copies_add(struct osc_records_rows *rows, uint32_t range, uint32_t queue,
                    int64_t start_ns, int64_t end_ns)
{
    struct osc_records_copies *const c = &rows->copies;

    if (range == 0)
        return;
    uint32_t *const place = osc_idmap_put(&c->at, (uint64_t)range << 32 | queue);
    osc_status st = place ? OSC_OK : OSC_ENOMEM;
    if (place && *place == 0) {
        st = osc_build_grow(&c->copies, &c->cap_copies, c->n_copies + 1, sizeof *c->copies);
        if (st == OSC_OK) {
            c->copies[c->n_copies++] =
                (struct osc_records_copy){range - 1, queue, start_ns, end_ns};
            *place = (uint32_t)c->n_copies;
        }
    }
    if (st != OSC_OK) {
        rows->builder->status = st;
        return;
    }
    struct osc_records_copy *const copy = &c->copies[*place - 1];
    copy->end_ns = end_ns > copy->end_ns ? end_ns : copy->end_ns;
}

void osc_copies_tell(struct osc_records_rows *rows, struct osc_arguments *args, uint32_t range)
{
    osc_arguments_int(rows->builder, args,
                      rows->builder->loading->keys[OSC_ARG_KEY_EXTERNAL_ID], FIRST_ID + range);
}
