/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/copies.h"

#include "import/build/typed.h"

void osc_copies_fini(struct osc_records_copies *c)
{
    osc_free(c->ranges);
    osc_free(c->copies);
    osc_idmap_fini(&c->of_step);
    osc_idmap_fini(&c->at);
    *c = (struct osc_records_copies){0};
}

/* Add a range NAME; returns its number, or 0: see the builder's status. */
static uint32_t add_range(struct osc_records_rows *rows, osc_sid name, int64_t number)
{
    struct osc_records_copies *const c = &rows->copies;
    const osc_status st =
        osc_build_grow(&c->ranges, &c->cap_ranges, c->n_ranges + 1, sizeof *c->ranges);

    if (st != OSC_OK) {
        rows->builder->status = st;
        return 0;
    }
    c->ranges[c->n_ranges++] = (struct osc_records_marked){name, number};
    return (uint32_t)c->n_ranges;
}

static bool is_marked(const struct osc_records_open *scope)
{
    return scope->kind == OSC_SCOPE_ANNOTATION || scope->kind == OSC_SCOPE_OPTIMIZER ||
           scope->kind == OSC_SCOPE_DATALOADER;
}

/* The number of the row of SCOPE, from 1; 0: unknown. Its row is held back if it IS_HELD. */
static int64_t number_of(const struct osc_builder *b, const struct osc_records_open *scope,
                         bool is_held)
{
    const struct osc_columns *const c = &b->events;
    int64_t before = c->n_rows_done;

    if (b->loading->keep.is_on)
        return 0;
    if (is_held)
        return osc_build_events_so_far(b) + 1;
    if (!scope->chunk)
        return 0;
    for (size_t k = c->n_done; scope->chunk != c->chunk && k-- > 0;) {
        before -= c->done[k]->n_rows;
        if (c->done[k] == scope->chunk)
            break;
    }
    return before + scope->row + 1;
}

/* The number of the step that is open in T. */
static uint32_t step_of(struct osc_records_rows *rows, const struct osc_records_thread *t)
{
    const uint64_t number = rows->late.items[t->step - 1].order + 1;
    uint32_t *const place = osc_idmap_put(&rows->copies.of_step, number);

    if (!place)
        rows->builder->status = OSC_ENOMEM;
    else if (*place == 0)
        *place = add_range(rows, (osc_sid){0}, 0);
    return place ? *place : 0;
}

uint32_t osc_copies_range(struct osc_records_rows *rows, struct osc_records_thread *t)
{
    uint32_t n = t->depth;

    while (n > 0 && (!is_marked(&t->open[n - 1]) || t->open[n - 1].has_ended))
        n--;
    struct osc_records_open *const scope = n > 0 ? &t->open[n - 1] : NULL;

    if (t->step > 0 && (!scope || scope->step != (uint32_t)t->step)) /* the step began later */
        return step_of(rows, t);
    if (!scope)
        return 0;
    if (scope->marked == 0)
        scope->marked = add_range(
            rows, scope->name,
            number_of(rows->builder, scope,
                      n == t->depth && t->held.kind == OSC_RECORD_BEGIN + scope->kind));
    return scope->marked;
}

void osc_copies_step(struct osc_records_rows *rows, uint64_t step, osc_sid name)
{
    const uint32_t range = osc_idmap_get(&rows->copies.of_step, step);
    const struct osc_builder *const b = rows->builder;

    if (range > 0)
        rows->copies.ranges[range - 1] = (struct osc_records_marked){
            name, b->loading->keep.is_on ? 0 : osc_build_events_so_far(b)};
}

void osc_copies_add(struct osc_records_rows *rows, uint32_t range, osc_track_id track,
                    int64_t start_ns, int64_t end_ns)
{
    struct osc_records_copies *const c = &rows->copies;

    if (range == 0)
        return;
    uint32_t *const place = osc_idmap_put(&c->at, (uint64_t)range << 32 | track.v);
    osc_status st = place ? OSC_OK : OSC_ENOMEM;
    if (place && *place == 0) {
        st = osc_build_grow(&c->copies, &c->cap_copies, c->n_copies + 1, sizeof *c->copies);
        if (st == OSC_OK) {
            c->copies[c->n_copies++] =
                (struct osc_records_copy){range - 1, track, start_ns, end_ns};
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

void osc_copies_build(struct osc_records_rows *rows)
{
    const struct osc_records_copies *const c = &rows->copies;
    struct osc_arguments args = {0};

    for (size_t i = 0; i < c->n_copies && rows->builder->status == OSC_OK; i++) {
        const struct osc_records_copy *const copy = &c->copies[i];
        const struct osc_records_marked *const range = &c->ranges[copy->range];
        struct osc_record r = {.shape = OSC_SHAPE_RANGE,
                               .kind = OSC_KIND_ANNOTATION,
                               .is_device = true,
                               .name = range->name,
                               .track = copy->track,
                               .ts_ns = copy->start_ns - 1,
                               .dur_ns = copy->end_ns - copy->start_ns + 2};

        if (range->name.v == 0) /* a step that never ended is none */
            continue;
        if (range->number > 0)
            osc_arguments_int(rows->builder, &args,
                              rows->builder->loading->keys[OSC_ARG_KEY_EXTERNAL_ID],
                              range->number);
        osc_build_event(rows->builder, &r, &args);
        osc_arguments_clear(&args);
    }
    osc_arguments_fini(&args);
}
