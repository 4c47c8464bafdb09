/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice/straggler.h"

#include "analysis/ranks/late.h"
#include "analysis/ranks/rank_run.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/wide.h"

/* Where the parts of a block are from. */
struct from {
    struct osc_rank_place place;
    bool is_there;
};

/* The length of the kept steps of all ranks of RUN in the span of WHO but WHO. */
static int64_t kept_of_others(const struct osc_rank_run *run, struct osc_rank_place who)
{
    osc_wide ns = 0;

    for (size_t f = 0; f < run->n_files; f++) {
        const struct osc_rank_file *const file = &run->files[f];

        if (file->span != who.span || file->rank == who.rank || file->is_beside)
            continue;
        for (size_t i = 0; i < file->part.n_steps; i++)
            ns += file->part.steps[i].end_ns - file->part.steps[i].start_ns;
    }
    return osc_wide_nearest(ns);
}

/* Set what S says of the rank WHO. */
static void describe(struct osc_straggler *s, const struct osc_rank_run *run,
                     struct osc_rank_place who)
{
    s->impact_ns = osc_result_get_int(&s->rows, s->row, osc_column_stragglers_caused_wait_ns);
    s->n_last = osc_result_get_int(&s->rows, s->row, osc_column_stragglers_times_last);
    s->kept_ns = kept_of_others(run, who);
    /* Several collectives may wait at the same time. */
    if (s->impact_ns > s->kept_ns && s->kept_ns > 0)
        s->impact_ns = s->kept_ns;
    osc_late_say(&s->rows, s->row, false, &s->text);
    if (s->text.len > 0)
        s->text.s[0] = 'R';
    osc_strbuf_addc(&s->text, '.');
}

/* Which of the N blocks has the rows of WHO; with --merge the only one. */
static uint32_t block_of(const struct from *from, uint32_t n, struct osc_rank_place who)
{
    for (uint32_t b = 0; b < n; b++) {
        if (from[b].is_there && from[b].place.rank == who.rank &&
            from[b].place.span == who.span)
            return b;
    }
    return 0;
}

/* Whether another rank than that of F is in its span of RUN. */
static bool has_others(const struct osc_rank_run *run, const struct osc_rank_file *f)
{
    for (size_t i = 0; i < run->n_files; i++) {
        if (run->files[i].span == f->span && run->files[i].rank != f->rank)
            return true;
    }
    return false;
}

/* Add the collectives of F in kept steps to *WAITED. */
static osc_status add_wait(const struct osc_rank_file *f, struct osc_waited *waited)
{
    uint32_t *const order = osc_calloc(f->part.n_calls + 1, sizeof *order);
    struct osc_rank_moved moved = {0};
    size_t n = 0;

    if (!order)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < f->part.n_calls; i++) {
        if (f->part.calls[i].step != 0 && !f->is_beside)
            order[n++] = i;
    }
    const osc_status st = osc_rank_measure(f, order, n, &moved);
    waited->ns = osc_wide_nearest((osc_wide)waited->ns + moved.all_ns - moved.real_ns);
    waited->of_ns = osc_wide_nearest((osc_wide)waited->of_ns + moved.all_ns);
    waited->of_ns += waited->of_ns == 0; /* that there are none is known, too */
    osc_free(order);
    return st;
}

static osc_status find(struct osc_straggler *s, struct osc_result *const *blocks,
                       const struct from *from, uint32_t n, const struct osc_options *o)
{
    struct osc_rank_run run = {0};
    osc_status st = osc_rank_run_open(&run, &s->rows);

    for (size_t f = 0; f < run.n_files && st == OSC_OK; f++) {
        const struct osc_rank_place who = {run.files[f].rank, run.files[f].span};

        if (has_others(&run, &run.files[f]))
            st = add_wait(&run.files[f], &s->waited[block_of(from, n, who)]);
    }
    if (st == OSC_OK)
        st = osc_table_stragglers.mapping->finish(&s->rows, o, NULL);
    if (st == OSC_OK && osc_late_find(&s->rows, &s->row)) {
        const struct osc_rank_place who = {
            (int32_t)osc_result_get_int(&s->rows, s->row, osc_column_stragglers_rank),
            (int32_t)osc_result_get_int(&s->rows, s->row, osc_column_stragglers_span)};

        s->block = blocks[block_of(from, n, who)];
        describe(s, &run, who);
        st = s->text.status;
    }
    osc_rank_run_fini(&run);
    return st;
}

osc_status osc_straggler_find(struct osc_straggler *s, struct osc_result *const *blocks,
                              uint32_t n, const struct osc_options *o, struct osc_err *err)
{
    struct from *const from = osc_calloc((size_t)n + 1, sizeof *from);

    s->waited = osc_calloc((size_t)n + 1, sizeof *s->waited);
    if (!from || !s->waited) {
        osc_free(from);
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    }
    for (uint32_t b = 0; b < n; b++) {
        for (uint64_t i = 0; i < blocks[b]->n_rows && !from[b].is_there; i++) {
            from[b].is_there = osc_rank_is_part(blocks[b], i);
            if (from[b].is_there)
                from[b].place = osc_rank_place_of(blocks[b], i);
        }
    }
    osc_result_init(&s->rows, &osc_table_stragglers);
    osc_status st = osc_rank_take(blocks, n, &s->rows);
    if (st == OSC_OK && s->rows.n_rows > 1)
        st = find(s, blocks, from, n, o);
    osc_free(from);
    return st == OSC_OK ? st : osc_fail(err, st, "advice: %s", osc_status_text(st));
}

void osc_straggler_fini(struct osc_straggler *s)
{
    if (s->rows.def)
        osc_result_fini(&s->rows);
    osc_strbuf_fini(&s->text);
    osc_free(s->waited);
    *s = (struct osc_straggler){0};
}

struct osc_str osc_straggler_operator(const struct osc_straggler *s)
{
    return osc_result_get_str(&s->rows, s->row, osc_column_stragglers_operator);
}
