/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ranges`: every range that has ended, of any kind and producer, by kind and name, or kind. Of
 * asynchronous ranges there is no forest, so they have no self time.
 */
#include "analysis/table_registry.h"

#include <math.h>
#include <string.h>

#include "analysis/range_name.h"
#include "analysis/range_place.h"
#include "analysis/sampled.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/wide.h"
#include "derive/facts.h"
#include "table/buckets.h"

enum {
    NAME,
    KIND,
    CATEGORY,
    PROCESS,
    PROCESS_NAME,
    THREAD,
    THREAD_NAME,
    DEVICE,
    TRACK,
    STEP,
    PLACE,
    CALLS,
    TOTAL,
    SELF,
    SELF_RATIO,
    OUTER,
    MEAN,
    MEDIAN,
    P99,
    MIN,
    MAX,
    STD,
    IS_MARKED,
    STEP_CALLS,
    STEP_SELF,
    BUCKETS,
    SQUARES_LOW,
    SQUARES_MIDDLE,
    SQUARES_HIGH,
    N_COLUMNS
};

/* What rows can be grouped by. */
enum { BY_PROCESS, BY_THREAD, BY_TRACK, BY_CATEGORY, BY_STEP, BY_KIND };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, OSC_COLUMN_SYMBOL | OSC_COLUMN_OPTIONAL,
               OSC_RULE_NAMES,
               "Name of the ranges as the file has it; steps, whose names differ by a number, "
               "are ProfilerStep*, or step in a recording of a program without PyTorch. Not "
               "shown with --group-by kind."),
    OSC_COLUMN(
        KIND, "kind", STRING, NULL, KEY, 0, OSC_RULE_KINDS,
        "Kind of the ranges, in the vocabulary of table events: scope is what no rule "
        "gives another kind. With --group-by kind, its ranges are one row whatever their "
        "names.",
        .grouping = "kind"),
    OSC_COLUMN(CATEGORY, "category", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_KINDS,
               "Category as the file has it: member cat; of recordings of opscope, which have "
               "none unless the program names one, the same as kind. Present with --group-by "
               "category.",
               .grouping = "category"),
    OSC_COLUMN(PROCESS, "process", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_NAMES,
               "Process of the ranges, or the device for device work, as the file names it. "
               "Present with --group-by process, thread or track.",
               .grouping = "process"),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_NAMES,
               "Name of the process: the last process_name in the metadata of the file. "
               "Present with process."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_NAMES,
               "Thread of the ranges, or the stream for device work, as the file names it. "
               "Present with --group-by thread or track.",
               .grouping = "thread"),
    OSC_COLUMN(THREAD_NAME, "thread_name", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL,
               OSC_RULE_NAMES,
               "Name of the thread: the last thread_name in the metadata of the file. Present "
               "with thread."),
    OSC_COLUMN(DEVICE, "device", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_DEVICES,
               "Device that did the work; missing for ranges of the host. Present with "
               "--group-by track."),
    OSC_COLUMN(TRACK, "track", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Number of the thread or queue in table tracks of its file. Present with "
               "--group-by track.",
               .grouping = "track"),
    OSC_COLUMN(STEP, "step", INTEGER, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_STEPS,
               "Number of the step in which the ranges start, or, for device work, in which it "
               "was launched; missing outside steps. Present with --group-by step.",
               .grouping = "step"),
    OSC_COLUMN(PLACE, "place", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, OSC_RULE_RANGES,
               OSC_RANGE_PLACE_HELP " Not shown with --group-by thread or track."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, 0,
               "Number of ranges that have ended; of a sampled name, of its calls."),
    OSC_COLUMN(TOTAL, "total_ns", INTEGER, "ns", SUM, 0, 0,
               "Sum of the durations. Ranges within each other, or at the same time on several "
               "threads, count each time."),
    OSC_COLUMN(SELF, "self_ns", INTEGER, "ns", SUM, 0, OSC_RULE_RANGES | OSC_RULE_FOREST,
               "Sum over the synchronous ranges of their duration - durations of their "
               "children; missing if all are asynchronous."),
    OSC_COLUMN(SELF_RATIO, "self_ratio", NUMBER, "ratio", FINISH, OSC_COLUMN_DEEP, 0,
               "self_ns / the sum of self_ns of all rows, before --where and --limit; missing "
               "where that is not above 0."),
    OSC_COLUMN(
        OUTER, "outer_ns", INTEGER, "ns", SUM, OSC_COLUMN_DEEP, 0,
        "total_ns, but where synchronous ranges of the row are within or over each other "
        "on a thread, their time counts once."),
    OSC_COLUMN(MEAN, "mean_ns", NUMBER, "ns", FINISH, 0, 0, "total_ns / calls."),
    OSC_COLUMN(MEDIAN, "median_ns", INTEGER, "ns", FINISH, 0, 0,
               "Duration that half of the ranges do not exceed, from buckets: within 1/16 of "
               "it, and exact for one call."),
    OSC_COLUMN(P99, "p99_ns", INTEGER, "ns", FINISH, 0, 0,
               "Duration that 99 of 100 ranges do not exceed, from buckets: within 1/16 of it, "
               "and exact for one call."),
    OSC_COLUMN(MIN, "min_ns", INTEGER, "ns", MIN, OSC_COLUMN_DEEP, 0, "Shortest duration."),
    OSC_COLUMN(MAX, "max_ns", INTEGER, "ns", MAX, 0, 0, "Longest duration."),
    OSC_COLUMN(STD, "std_ns", NUMBER, "ns", FINISH, OSC_COLUMN_DEEP, 0,
               "Standard deviation of the durations: the root of the sum of (duration - "
               "mean)^2 / (calls - 1); 0 for one call."),
    OSC_COLUMN(IS_MARKED, "is_marked", BOOLEAN, NULL, OR, OSC_COLUMN_HIDDEN, 0,
               "Whether the program marked the ranges, and not as steps or synchronous "
               "operators."),
    OSC_COLUMN(STEP_CALLS, "step_calls", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Of calls, those of synchronous ranges in steps."),
    OSC_COLUMN(STEP_SELF, "step_self_ns", INTEGER, "ns", SUM, OSC_COLUMN_HIDDEN, 0,
               "Of self_ns, that of ranges in steps."),
    OSC_COLUMN(BUCKETS, "buckets", STRING, NULL, BUCKETS, OSC_COLUMN_HIDDEN, 0,
               "How many durations lie in which bucket."),
    OSC_COLUMN(SQUARES_LOW, "squares_low", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "Sum of the squares of the durations: the lowest 42 bits."),
    OSC_COLUMN(SQUARES_MIDDLE, "squares_middle", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "The next 42 bits."),
    OSC_COLUMN(SQUARES_HIGH, "squares_high", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0,
               "All bits above."),
};

/* A sum of squares is cut into columns of this many bits, so that parts can be added; from
 * SQUARES_MAX on it is unknown. */
#define PIECE_BITS  42
#define PIECE       ((INT64_C(1) << PIECE_BITS) - 1)
#define SQUARES_MAX ((osc_wide)1 << (3 * PIECE_BITS))

/* A category that no form has: the source has none, and the word of the kind stands for it. */
#define NO_CATEGORIES UINT32_MAX

/* Ranges with equal keys are one row. What is not grouped by is 0; no padding: its bytes are
 * hashed. */
struct key {
    uint32_t name; /* osc_range_name_of() */
    uint32_t kind;
    uint32_t category; /* osc_sid, or NO_CATEGORIES */
    uint32_t process;  /* osc_sid */
    uint32_t track;    /* osc_track_id */
    uint32_t step;     /* number of the step + 1 */
    uint32_t place;    /* enum osc_range_place */
};

/* Groups that are found without their key being hashed: most ranges have the name and kind of
 * few. */
#define N_RECENT 1024

struct group {
    struct key key;
    uint32_t track;                   /* of the first range */
    uint64_t n_rows, n_calls, n_sync; /* of a sampled name there are fewer rows than calls */
    uint64_t n_step_calls;
    osc_wide total_ns, self_ns, step_self_ns, outer_ns, squares;
    int64_t min_ns, max_ns;
    uint32_t last_track; /* on which the time before UNTIL_NS counts already */
    int64_t until_ns;
    bool is_marked;
};

/* Zeroed, it is empty. */
struct sums {
    const struct osc_trace *t;
    const struct osc_options *o;
    struct group *groups; /* owned; in the order of the file */
    size_t n_groups, cap_groups;
    struct osc_intern keys; /* key i belongs to group i - 1 */
    struct osc_arena arena;
    uint32_t recent[N_RECENT]; /* group of the last range whose name is here */
    uint32_t *group_of;        /* owned; by number of the row: of ranges that have ended */
    uint16_t *buckets;         /* owned; of each range, group after group */
    uint32_t *calls;           /* owned; of each range, likewise; NULL: 1 */
    size_t n_ranges;
};

static struct key key_of(const struct sums *s, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const form = &s->t->forms[c->form[i]];
    const bool has_none = form->category.v == 0 && osc_form_is_neutral(form);
    struct key key = {.name = osc_is_grouped(s->o, BY_KIND) ? 0 : osc_range_name_of(s->t, c, i),
                      .kind = c->kind[i],
                      .place = osc_range_place_of(s->t, c, i)};

    if (osc_is_grouped(s->o, BY_CATEGORY))
        key.category = has_none ? NO_CATEGORIES : form->category.v;
    if (osc_is_grouped(s->o, BY_PROCESS))
        key.process = s->t->tracks[c->track[i]].pid.v;
    if (osc_is_grouped(s->o, BY_THREAD) || osc_is_grouped(s->o, BY_TRACK))
        key.track = c->track[i];
    if (osc_is_grouped(s->o, BY_STEP) && c->step && c->step[i])
        key.step = s->t->steps[c->step[i] - 1].ordinal + 1;
    return key;
}

/* The number of the group of row I of C, from 0. */
static osc_status find_group(struct sums *s, const struct osc_chunk *c, uint32_t i,
                             uint32_t *group)
{
    const struct key key = key_of(s, c, i);
    uint32_t *const recent = &s->recent[(key.name ^ key.kind << 5 ^ key.place << 9) % N_RECENT];
    osc_sid id;

    if (s->groups && memcmp(&s->groups[*recent].key, &key, sizeof key) == 0) {
        *group = *recent;
        return OSC_OK;
    }
    const osc_status st =
        osc_intern_add(&s->keys, (struct osc_str){(const char *)&key, sizeof key}, &id);

    if (st != OSC_OK)
        return st;
    *group = id.v - 1;
    *recent = *group;
    if (*group < s->n_groups)
        return OSC_OK;
    if (osc_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups) != OSC_OK)
        return OSC_ENOMEM;
    s->groups[s->n_groups++] =
        (struct group){.key = key, .track = c->track[i], .min_ns = INT64_MAX};
    return OSC_OK;
}

/* Whether FORM is what programs write to name a part of their own work. Of operators only
 * asynchronous ones, which have no self time in the table of operators. */
static bool is_marked(const struct osc_form *form, enum osc_kind kind)
{
    return !form->is_frame && !form->is_profiler &&
           (kind == OSC_KIND_ANNOTATION || kind == OSC_KIND_MODULE || kind == OSC_KIND_SCOPE ||
            kind == OSC_KIND_COMMUNICATION || kind == OSC_KIND_DATALOADER ||
            kind == OSC_KIND_OPTIMIZER ||
            (kind == OSC_KIND_OPERATOR && form->shape == OSC_SHAPE_ASYNC));
}

static bool is_in_step(const struct osc_chunk *c, uint32_t i)
{
    return c->step && c->step[i];
}

static void add_range(struct group *g, const struct osc_trace *t, const struct osc_chunk *c,
                      uint32_t i)
{
    const struct osc_form *const form = &t->forms[c->form[i]];
    const int64_t dur_ns = c->dur_ns[i];
    const uint32_t calls = osc_sampled_calls(t, c, i);

    g->n_rows++;
    g->n_calls += calls;
    g->total_ns += (osc_wide)dur_ns * calls;
    g->squares += (osc_wide)dur_ns * dur_ns * calls;
    if (g->squares > SQUARES_MAX)
        g->squares = SQUARES_MAX;
    g->min_ns = dur_ns < g->min_ns ? dur_ns : g->min_ns;
    g->max_ns = dur_ns > g->max_ns ? dur_ns : g->max_ns;
    g->is_marked |=
        g->key.place == OSC_PLACE_HOST && is_marked(form, (enum osc_kind)c->kind[i]);
    if (c->parent && osc_shape_is_range((enum osc_form_shape)form->shape)) {
        g->n_sync++;
        g->self_ns += (osc_wide)c->self_ns[i] * calls;
        if (is_in_step(c, i)) {
            g->n_step_calls += calls;
            g->step_self_ns += (osc_wide)c->self_ns[i] * calls;
        }
    } else {
        g->outer_ns += (osc_wide)dur_ns * calls;
    }
}

/* Sum up all ranges, and note the group of each. */
static osc_status sum_ranges(struct sums *s)
{
    const struct osc_store *const events = &s->t->events;

    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            uint32_t group = 0;

            if (!osc_range_has_ended(s->t, c, i))
                continue;
            const osc_status st = find_group(s, c, i, &group);
            if (st != OSC_OK)
                return st;
            add_range(&s->groups[group], s->t, c, i);
            s->group_of[c->first_row + i] = group;
            s->n_ranges++;
        }
    }
    return OSC_OK;
}

/* Sum up the time of synchronous ranges that no earlier one of their group covers. Those of a
 * track come one after the other, by their start. */
static void sum_outer(struct sums *s)
{
    const struct osc_order *const o = &osc_trace_facts(s->t)->order;

    for (uint32_t at = 0; at < o->n_rows; at++) {
        const osc_row row = {o->rows[at]};
        const struct osc_chunk *const c = osc_chunk_of(&s->t->events, row);
        const uint32_t i = osc_row_place(row);
        const int64_t end_ns = osc_row_end(c, i);
        int64_t start_ns = c->ts_ns[i];

        if (!osc_range_has_ended(s->t, c, i))
            continue;
        struct group *const g = &s->groups[s->group_of[c->first_row + i]];
        if (g->last_track == c->track[i] && g->until_ns > start_ns)
            start_ns = g->until_ns;
        if (end_ns > start_ns)
            g->outer_ns += (osc_wide)(end_ns - start_ns) * osc_sampled_calls(s->t, c, i);
        if (g->last_track != c->track[i] || end_ns > g->until_ns)
            g->until_ns = end_ns;
        g->last_track = c->track[i];
    }
}

/* Row I of C stands for several calls: take the time of those that were not recorded from its
 * parent. */
static osc_status take_from_parent(struct sums *s, const struct osc_chunk *c, uint32_t i)
{
    const osc_row parent = {c->parent[i]};
    const struct osc_chunk *const of = osc_chunk_of(&s->t->events, parent);
    const uint32_t at = osc_row_place(parent);
    uint32_t group = 0;

    if (!osc_range_has_ended(s->t, of, at))
        return OSC_OK;
    const osc_status st = find_group(s, of, at, &group);

    if (st != OSC_OK)
        return st;
    const osc_wide taken_ns = (osc_wide)c->dur_ns[i] * (osc_sampled_calls(s->t, c, i) - 1) *
                              osc_sampled_calls(s->t, of, at);
    s->groups[group].self_ns -= taken_ns;
    if (is_in_step(of, at))
        s->groups[group].step_self_ns -= taken_ns;
    return OSC_OK;
}

/* The same of all such rows. The groups of all ranges are there. */
static osc_status take_from_parents(struct sums *s)
{
    const struct osc_store *const events = &s->t->events;
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < events->n_chunks && osc_sampled_any(s->t); k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; c->parent && i < c->n_rows && st == OSC_OK; i++)
            if (c->parent[i] != 0 && osc_range_has_ended(s->t, c, i) &&
                osc_sampled_calls(s->t, c, i) > 1)
                st = take_from_parent(s, c, i);
    }
    return st;
}

/* Find the bucket of each range; those of a group stand together. */
static osc_status sort_buckets(struct sums *s)
{
    const struct osc_store *const events = &s->t->events;
    size_t *const next = osc_calloc(s->n_groups + 1, sizeof *next);
    const bool is_sampled = osc_sampled_any(s->t);

    s->buckets = osc_malloc((s->n_ranges + 1) * sizeof *s->buckets);
    if (is_sampled)
        s->calls = osc_malloc((s->n_ranges + 1) * sizeof *s->calls);
    if (!next || !s->buckets || (is_sampled && !s->calls)) {
        osc_free(next);
        return OSC_ENOMEM;
    }
    for (size_t g = 1; g < s->n_groups; g++)
        next[g] = next[g - 1] + s->groups[g - 1].n_rows;
    for (uint32_t k = 1; k < events->n_chunks; k++) {
        const struct osc_chunk *const c = events->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (!osc_range_has_ended(s->t, c, i))
                continue;
            const size_t at = next[s->group_of[c->first_row + i]]++;

            s->buckets[at] = (uint16_t)osc_bucket_of(c->dur_ns[i]);
            if (is_sampled)
                s->calls[at] = osc_sampled_calls(s->t, c, i);
        }
    }
    osc_free(next);
    return OSC_OK;
}

/* Write the counts of the N buckets from AT on to TEXT. */
static void write_buckets(const struct sums *s, size_t at, size_t n, struct osc_strbuf *text)
{
    uint64_t counts[OSC_BUCKETS] = {0};

    osc_strbuf_clear(text);
    for (size_t i = 0; i < n; i++)
        counts[s->buckets[at + i]] += s->calls ? s->calls[at + i] : 1;
    for (uint32_t b = 0; b < OSC_BUCKETS; b++) {
        if (counts[b] > 0)
            osc_buckets_put(text, b, counts[b]);
    }
}

static void set_sid(const struct sums *s, struct osc_result *out, uint32_t column, osc_sid id)
{
    if (id.v != 0)
        osc_result_str(out, column, osc_trace_str(s->t, id));
}

/* The cells that --group-by adds. */
static void add_places(const struct sums *s, const struct group *g, struct osc_result *out)
{
    const struct osc_options *const o = s->o;
    const struct osc_track *const track = &s->t->tracks[g->track];

    if (osc_is_grouped(o, BY_CATEGORY) && g->key.category == NO_CATEGORIES)
        osc_result_str(out, CATEGORY, osc_str_c(osc_kind_text((enum osc_kind)g->key.kind)));
    else if (osc_is_grouped(o, BY_CATEGORY))
        set_sid(s, out, CATEGORY, (osc_sid){g->key.category});
    if (osc_is_grouped(o, BY_PROCESS) || osc_is_grouped(o, BY_THREAD) ||
        osc_is_grouped(o, BY_TRACK)) {
        /* PyTorch itself writes "", so an empty text is not a missing one. */
        osc_result_str(out, PROCESS, osc_trace_str(s->t, track->pid));
        set_sid(s, out, PROCESS_NAME, s->t->processes[track->process].name);
    }
    if (osc_is_grouped(o, BY_THREAD) || osc_is_grouped(o, BY_TRACK)) {
        osc_result_str(out, THREAD, osc_trace_str(s->t, track->tid));
        set_sid(s, out, THREAD_NAME, track->name);
    }
    if (osc_is_grouped(o, BY_TRACK)) {
        set_sid(s, out, DEVICE, track->is_queue ? track->device : (osc_sid){0});
        osc_result_int(out, TRACK, track->order);
    }
    if (osc_is_grouped(o, BY_STEP) && g->key.step > 0)
        osc_result_int(out, STEP, (int64_t)g->key.step - 1);
}

static void add_row(const struct sums *s, const struct group *g, struct osc_str buckets,
                    struct osc_result *out)
{
    osc_result_row(out);
    if (!osc_is_grouped(s->o, BY_KIND))
        osc_result_str(out, NAME, osc_range_name_text(s->t, g->key.name));
    osc_result_str(out, KIND, osc_str_c(osc_kind_text((enum osc_kind)g->key.kind)));
    add_places(s, g, out);
    osc_result_str(out, PLACE, osc_range_place_text((enum osc_range_place)g->key.place));
    /* A thread or queue tells it itself. */
    if (osc_range_place_matters((enum osc_range_place)g->key.place,
                                (enum osc_kind)g->key.kind) &&
        !osc_is_grouped(s->o, BY_THREAD) && !osc_is_grouped(s->o, BY_TRACK))
        osc_result_show(out, PLACE);
    osc_result_int(out, CALLS, (int64_t)g->n_calls);
    osc_result_int(out, TOTAL, osc_wide_nearest(g->total_ns));
    if (g->n_sync > 0)
        osc_result_int(out, SELF, osc_wide_nearest(g->self_ns));
    osc_result_int(out, OUTER, osc_wide_nearest(g->outer_ns));
    osc_result_int(out, MIN, g->min_ns);
    osc_result_int(out, MAX, g->max_ns);
    osc_result_bool(out, IS_MARKED, g->is_marked);
    osc_result_int(out, STEP_CALLS, (int64_t)g->n_step_calls);
    osc_result_int(out, STEP_SELF, osc_wide_nearest(g->step_self_ns));
    osc_result_str(out, BUCKETS, buckets);
    osc_result_int(out, SQUARES_LOW, (int64_t)(g->squares & PIECE));
    osc_result_int(out, SQUARES_MIDDLE, (int64_t)(g->squares >> PIECE_BITS & PIECE));
    osc_result_int(out, SQUARES_HIGH, (int64_t)(g->squares >> 2 * PIECE_BITS));
}

static void show_columns(const struct osc_options *o, struct osc_result *out)
{
    const bool has_thread = osc_is_grouped(o, BY_THREAD) || osc_is_grouped(o, BY_TRACK);
    const bool has_process = osc_is_grouped(o, BY_PROCESS) || has_thread;
    const bool shown[N_COLUMNS] = {[NAME] = !osc_is_grouped(o, BY_KIND),
                                   [CATEGORY] = osc_is_grouped(o, BY_CATEGORY),
                                   [PROCESS] = has_process,
                                   [PROCESS_NAME] = has_process,
                                   [THREAD] = has_thread,
                                   [THREAD_NAME] = has_thread,
                                   [DEVICE] = osc_is_grouped(o, BY_TRACK),
                                   [TRACK] = osc_is_grouped(o, BY_TRACK),
                                   [STEP] = osc_is_grouped(o, BY_STEP)};

    for (uint32_t c = 0; c < N_COLUMNS; c++) {
        if (shown[c])
            osc_result_show(out, c);
    }
}

static osc_status add_rows(const struct sums *s, struct osc_result *out)
{
    struct osc_strbuf text = {0};
    size_t at = 0;

    for (size_t g = 0; g < s->n_groups && text.status == OSC_OK; g++) {
        write_buckets(s, at, s->groups[g].n_rows, &text);
        at += s->groups[g].n_rows;
        add_row(s, &s->groups[g], (struct osc_str){text.s, (uint32_t)text.len}, out);
    }
    const osc_status st = text.status == OSC_OK ? out->status : text.status;
    osc_strbuf_fini(&text);
    return st;
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const size_t bytes = ((size_t)t->events.n_rows + 1) * sizeof(uint32_t);
    struct sums s = {.t = t, .o = o};

    s.keys.arena = &s.arena;
    s.keys.seed = osc_hash_seed();
    s.group_of = osc_pages_alloc(bytes);
    osc_status st = s.group_of ? sum_ranges(&s) : OSC_ENOMEM;
    if (st == OSC_OK)
        st = take_from_parents(&s);
    if (st == OSC_OK) {
        sum_outer(&s);
        st = sort_buckets(&s);
    }
    if (st == OSC_OK) {
        show_columns(o, out);
        st = add_rows(&s, out);
    }
    if (st == OSC_OK && s.n_groups == 0)
        osc_result_why_empty(out, "no ranges: no event of the trace has a duration");
    osc_pages_free(s.group_of, bytes);
    osc_free(s.buckets);
    osc_free(s.calls);
    osc_free(s.groups);
    osc_intern_fini(&s.keys);
    osc_arena_fini(&s.arena);
    if (st == OSC_OK)
        st = out->status;
    return st == OSC_OK ? st : osc_fail(err, st, "ranges: %s", osc_status_text(st));
}

/* Find the median and the 99th percentile of row I; neither is outside its durations. */
static osc_status find_quantiles(struct osc_result *r, uint64_t i)
{
    const int64_t least = osc_result_get_int(r, i, MIN), most = osc_result_get_int(r, i, MAX);
    const struct {
        uint32_t column;
        unsigned part, whole;
    } quantiles[] = {{MEDIAN, 1, 2}, {P99, 99, 100}};
    struct osc_buckets b = {0};
    const osc_status st = osc_buckets_add(&b, osc_result_get_str(r, i, BUCKETS));

    for (size_t q = 0; q < sizeof quantiles / sizeof *quantiles && st == OSC_OK; q++) {
        const int64_t ns = osc_buckets_quantile(&b, quantiles[q].part, quantiles[q].whole);

        osc_result_set_int(r, i, quantiles[q].column,
                           ns < least  ? least
                           : ns > most ? most
                                       : ns);
    }
    osc_buckets_fini(&b);
    return st;
}

/* The sum of squares of row I. */
static osc_wide squares_of(const struct osc_result *r, uint64_t i)
{
    const osc_wide high = osc_result_get_int(r, i, SQUARES_HIGH);

    if (high > PIECE)
        return SQUARES_MAX;
    return (high << 2 * PIECE_BITS) +
           ((osc_wide)osc_result_get_int(r, i, SQUARES_MIDDLE) << PIECE_BITS) +
           osc_result_get_int(r, i, SQUARES_LOW);
}

/*
 * The standard deviation of N durations with this sum and sum of SQUARES. Integers as long as
 * possible: durations are large and differ by little.
 */
static double deviation(int64_t n, int64_t total_ns, osc_wide squares)
{
    if (n < 2)
        return 0;
    const int64_t mean_ns = total_ns / n;
    const osc_wide rest = total_ns % n;
    /* Sum of (duration - mean_ns)^2, of which the mean is not exact. */
    const osc_wide sum = squares - mean_ns * ((osc_wide)total_ns + rest);
    const double pairs = (double)n * (double)(n - 1);

    if (sum < SQUARES_MAX / n)
        return sqrt((double)(sum * n - rest * rest) / pairs);
    return sqrt((double)sum / (double)(n - 1));
}

static void set_self_ratios(struct osc_result *r)
{
    osc_wide sum_ns = 0;

    for (uint64_t i = 0; i < r->n_rows; i++)
        if (osc_result_has(r, i, SELF))
            sum_ns += osc_result_get_int(r, i, SELF);
    for (uint64_t i = 0; i < r->n_rows && sum_ns > 0; i++)
        if (osc_result_has(r, i, SELF))
            osc_result_set_num(r, i, SELF_RATIO,
                               (double)osc_result_get_int(r, i, SELF) / (double)sum_ns);
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    (void)o;
    set_self_ratios(r);
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t n = osc_result_get_int(r, i, CALLS);
        const int64_t total_ns = osc_result_get_int(r, i, TOTAL);
        const osc_wide squares = squares_of(r, i);
        const osc_status st = find_quantiles(r, i);

        if (st != OSC_OK)
            return osc_fail(err, st, "ranges: %s", osc_status_text(st));
        if (n < 1)
            continue;
        osc_result_set_num(r, i, MEAN, (double)total_ns / (double)n);
        if (squares < SQUARES_MAX && total_ns < INT64_MAX)
            osc_result_set_num(r, i, STD, deviation(n, total_ns, squares));
    }
    return r->status;
}

/* Only device work has names of C++ functions. */
static bool is_symbol(const struct osc_result *r, uint64_t row)
{
    return osc_kind_is_device_work(osc_kind_of_text(osc_result_get_str(r, row, KIND)));
}

static const char *const groupings[] = {[BY_PROCESS] = "process",
                                        [BY_THREAD] = "thread",
                                        [BY_TRACK] = "track",
                                        [BY_CATEGORY] = "category",
                                        [BY_STEP] = "step",
                                        [BY_KIND] = "kind",
                                        NULL};

/* See table_columns.h. */
const uint32_t osc_column_ranges_name = NAME, osc_column_ranges_kind = KIND,
               osc_column_ranges_calls = CALLS, osc_column_ranges_total_ns = TOTAL,
               osc_column_ranges_self_ns = SELF, osc_column_ranges_outer_ns = OUTER,
               osc_column_ranges_mean_ns = MEAN, osc_column_ranges_place = PLACE,
               osc_column_ranges_is_marked = IS_MARKED,
               osc_column_ranges_step_calls = STEP_CALLS,
               osc_column_ranges_step_self_ns = STEP_SELF;

const struct osc_table_def osc_table_ranges = {
    .name = "ranges",
    .help = "Calls and time of every range, of any kind and producer, by kind and name.",
    .source = "ranges of the file that have ended, synchronous or not.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .sorted_by = TOTAL + 1,
    .groupings = groupings,
    OSC_MAPS(.facts = OSC_FACT_FOREST | OSC_FACT_STEPS, .map = map, .finish = finish),
    .is_symbol = is_symbol,
};
