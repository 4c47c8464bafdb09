/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/iterations.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "base/wide.h"

#define ITERATIONS_MIN 3u

/* An annotation of the host. */
struct range {
    uint32_t row, track;
    int64_t start_ns, end_ns;
};

/* Ranges of one thread whose names are alike. */
struct series {
    uint32_t n;
    int64_t last_ns;            /* end of the last one */
    osc_wide total_ns, gaps_ns; /* of the ranges; between them, while recording */
};

/* An instant at which the recording paused or went on. */
struct change {
    int64_t at_ns;
    uint32_t row;
    bool is_pause;
};

/* When the recording was paused; BEFORE_NS: the time of all pauses before. */
struct pause {
    int64_t from_ns, to_ns;
    osc_wide before_ns;
};

struct finding {
    struct osc_trace *t;
    struct range *ranges; /* owned */
    size_t n_ranges, cap_ranges;
    struct osc_idmap patterns; /* name -> pattern */
    struct osc_intern texts;   /* pattern i is text i */
    struct osc_arena arena;
    struct osc_idmap at;   /* track and pattern -> index + 1 */
    struct series *series; /* owned; in order of the first range */
    uint32_t *series_of;   /* owned; by range: index + 1; 0: inside another one */
    size_t n_series, cap_series;
    struct change *changes; /* owned */
    size_t n_changes, cap_changes;
    struct pause *pauses; /* owned; in order of time */
    size_t n_pauses;
};

/* Note the change in row I of C, if it is one. The names are those that the reader of
 * recordings makes. */
static osc_status add_change(struct finding *f, const struct osc_chunk *c, uint32_t i,
                             osc_sid paused, osc_sid resumed)
{
    const bool is_pause = c->name[i] == paused.v;

    if (c->dur_ns[i] != OSC_NO_DUR || c->name[i] == 0 || !(is_pause || c->name[i] == resumed.v))
        return OSC_OK;
    if (osc_grow(&f->changes, &f->cap_changes, f->n_changes + 1, sizeof *f->changes) != OSC_OK)
        return OSC_ENOMEM;
    f->changes[f->n_changes++] = (struct change){c->ts_ns[i], osc_row_at(c, i).v, is_pause};
    return OSC_OK;
}

static int by_time(const void *x, const void *y)
{
    const struct change *const a = x, *const b = y;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Make pauses of the changes: each lasts until the recording goes on. */
static osc_status find_pauses(struct finding *f)
{
    bool is_open = false;
    osc_wide before_ns = 0;

    f->pauses = osc_calloc(f->n_changes + 1, sizeof *f->pauses);
    if (!f->pauses)
        return OSC_ENOMEM;
    if (f->n_changes > 1)
        osc_sort(f->changes, f->n_changes, sizeof *f->changes, by_time);
    for (size_t k = 0; k < f->n_changes; k++) {
        struct pause *const p = &f->pauses[f->n_pauses];

        if (f->changes[k].is_pause && !is_open)
            *p = (struct pause){f->changes[k].at_ns, f->changes[k].at_ns, before_ns};
        is_open = is_open || f->changes[k].is_pause;
        if (f->changes[k].is_pause || !is_open)
            continue;
        p->to_ns = f->changes[k].at_ns;
        before_ns += p->to_ns - p->from_ns;
        f->n_pauses++;
        is_open = false;
    }
    return OSC_OK;
}

/* How long the recording was paused before AT_NS. */
static osc_wide paused_before(const struct finding *f, int64_t at_ns)
{
    size_t n = 0, end = f->n_pauses; /* pauses that begin before */

    OSC_BISECT(n, end, k, f->pauses[k].from_ns < at_ns);
    if (n == 0)
        return 0;
    const struct pause *const p = &f->pauses[n - 1];

    return p->before_ns + ((osc_wide)(at_ns < p->to_ns ? at_ns : p->to_ns) - p->from_ns);
}

static osc_status collect(struct finding *f)
{
    const struct osc_trace *const t = f->t;
    const osc_sid paused = osc_strings_find(&t->strings, OSC_STR("recording paused"));
    const osc_sid resumed = osc_strings_find(&t->strings, OSC_STR("recording resumed"));

    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            const struct osc_form *const form = osc_row_form(t, c, i);

            if (add_change(f, c, i, paused, resumed) != OSC_OK)
                return OSC_ENOMEM;
            if (c->kind[i] != OSC_KIND_ANNOTATION || form->is_device || form->is_profiler ||
                !osc_shape_is_range((enum osc_form_shape)form->shape) ||
                c->dur_ns[i] == OSC_NO_DUR || c->dur_ns[i] == 0)
                continue;
            if (osc_grow(&f->ranges, &f->cap_ranges, f->n_ranges + 1, sizeof *f->ranges) !=
                OSC_OK)
                return OSC_ENOMEM;
            f->ranges[f->n_ranges++] =
                (struct range){osc_row_at(c, i).v, c->track[i], c->ts_ns[i], osc_row_end(c, i)};
        }
    }
    return OSC_OK;
}

static int by_place(const void *x, const void *y, void *ctx)
{
    const struct range *const a = x, *const b = y;
    const struct osc_track *const tracks = ctx;

    if (a->track != b->track) /* ids of tracks differ from run to run */
        return tracks[a->track].first_event.v < tracks[b->track].first_event.v ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Write NAME with # for each number and without what stands in brackets. */
static void write_pattern(struct osc_strbuf *out, struct osc_str name)
{
    unsigned depth = 0;
    bool is_number = false;

    osc_strbuf_clear(out);
    for (uint32_t i = 0; i < name.len; i++) {
        const char c = name.s[i];
        const bool is_digit = c >= '0' && c <= '9';

        if (c == '(' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == ']' || c == '}') && depth > 0)
            depth--;
        else if (depth == 0 && !is_digit)
            osc_strbuf_addc(out, c);
        else if (depth == 0 && !is_number)
            osc_strbuf_addc(out, '#');
        is_number = depth == 0 && is_digit;
    }
}

/* The pattern of the string NAME, from 1. */
static osc_status pattern_of(struct finding *f, uint32_t name, struct osc_strbuf *text,
                             uint32_t *pattern)
{
    uint32_t *const place = osc_idmap_put(&f->patterns, name);
    osc_sid id;

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        write_pattern(text, osc_trace_str(f->t, (osc_sid){name}));
        if (text->status != OSC_OK)
            return text->status;
        const osc_status st = osc_intern_add(
            &f->texts, (struct osc_str){text->s ? text->s : "", (uint32_t)text->len}, &id);
        if (st != OSC_OK)
            return st;
        *place = id.v;
    }
    *pattern = *place;
    return OSC_OK;
}

static osc_status add_to_series(struct finding *f, const struct range *r, uint32_t pattern,
                                uint32_t *index)
{
    uint32_t *const place = osc_idmap_put(&f->at, (uint64_t)r->track << 32 | pattern);

    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (osc_grow(&f->series, &f->cap_series, f->n_series + 1, sizeof *f->series) != OSC_OK)
            return OSC_ENOMEM;
        f->series[f->n_series++] = (struct series){.last_ns = r->start_ns};
        *place = (uint32_t)f->n_series;
    }
    struct series *const s = &f->series[*place - 1];

    s->n++;
    s->gaps_ns += (osc_wide)r->start_ns - s->last_ns -
                  (paused_before(f, r->start_ns) - paused_before(f, s->last_ns));
    s->last_ns = r->end_ns;
    s->total_ns += r->end_ns - r->start_ns;
    *index = *place;
    return OSC_OK;
}

/* Group the ranges, which are sorted, leaving out those inside another one. */
static osc_status group(struct finding *f)
{
    struct osc_strbuf text = {0};
    osc_status st = OSC_OK;
    uint32_t track = 0;
    int64_t until_ns = 0;

    f->series_of = osc_calloc(f->n_ranges + 1, sizeof *f->series_of);
    if (!f->series_of)
        return OSC_ENOMEM;
    for (size_t i = 0; i < f->n_ranges && st == OSC_OK; i++) {
        const struct range *const r = &f->ranges[i];
        const osc_row row = {r->row};
        uint32_t pattern;

        if (r->track == track && r->start_ns < until_ns)
            continue;
        track = r->track;
        until_ns = r->end_ns;
        st = pattern_of(f, osc_chunk_of(&f->t->events, row)->name[osc_row_place(row)], &text,
                        &pattern);
        if (st == OSC_OK)
            st = add_to_series(f, r, pattern, &f->series_of[i]);
    }
    osc_strbuf_fini(&text);
    return st;
}

/* The number of the series that are iterations, from 1; 0: none are. */
static uint32_t choose(const struct finding *f)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < f->n_series; i++) {
        const struct series *const s = &f->series[i];

        if (s->n >= ITERATIONS_MIN && s->total_ns >= 4 * s->gaps_ns &&
            (best == 0 || s->total_ns > f->series[best - 1].total_ns))
            best = i + 1;
    }
    return best;
}

osc_status osc_iterations_mark(struct osc_trace *t)
{
    struct finding f = {.t = t};

    f.texts.arena = &f.arena;
    f.texts.seed = osc_hash_seed();
    /* Only by its name a range of the legacy profiler is no operator. */
    osc_status st = t->producer == OSC_PRODUCER_TORCH_LEGACY ? OSC_OK : collect(&f);
    if (st == OSC_OK && f.n_ranges >= ITERATIONS_MIN)
        st = find_pauses(&f);
    if (st == OSC_OK && f.n_ranges >= ITERATIONS_MIN) {
        osc_sort_with(f.ranges, f.n_ranges, sizeof *f.ranges, by_place, t->tracks);
        st = group(&f);
    }
    const uint32_t best = st == OSC_OK ? choose(&f) : 0;
    for (size_t i = 0; best != 0 && i < f.n_ranges; i++) {
        const osc_row row = {f.ranges[i].row};

        if (f.series_of[i] == best)
            t->events.chunks[row.v >> OSC_CHUNK_SHIFT]->kind[osc_row_place(row)] =
                OSC_KIND_STEP;
    }
    t->has_iterations = best != 0;
    osc_free(f.ranges);
    osc_free(f.series);
    osc_free(f.series_of);
    osc_free(f.changes);
    osc_free(f.pauses);
    osc_idmap_fini(&f.patterns);
    osc_idmap_fini(&f.at);
    osc_intern_fini(&f.texts);
    osc_arena_fini(&f.arena);
    return st;
}
