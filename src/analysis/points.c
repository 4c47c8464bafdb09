/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `points`: what has no duration, by name and thread: instants, samples of counters, ranges
 * that never ended. Each event is either here or in `ranges`.
 */
#include "analysis/table_registry.h"

#include <string.h>

#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    NAME,
    KIND,
    SERIES,
    PROCESS,
    PROCESS_NAME,
    THREAD,
    THREAD_NAME,
    EVENTS,
    FIRST,
    LAST,
    LEAST,
    MOST,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_NAMES,
               "Name of the events as the file has it."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, KEY, 0, OSC_RULE_KINDS,
               "Kind of the events, in the vocabulary of table events."),
    OSC_COLUMN(
        SERIES, "series", STRING, NULL, KEY, OSC_COLUMN_OPTIONAL, 0,
        "Series of the counter: the name of its value. Missing for other events. Present "
        "if the file has counters."),
    OSC_COLUMN(PROCESS, "process", STRING, NULL, KEY, 0, OSC_RULE_NAMES,
               "Process of the events, as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES,
               "Name of the process: the last process_name in the metadata of the file."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, KEY, 0, OSC_RULE_NAMES,
               "Thread of the events, as the file names it."),
    OSC_COLUMN(THREAD_NAME, "thread_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Name of the thread: the last thread_name in the metadata of the file."),
    OSC_COLUMN(EVENTS, "events", INTEGER, NULL, SUM, 0, 0,
               "Number of events. A sample of a counter with several series is one of each."),
    OSC_COLUMN(FIRST, "first_ns", INTEGER, "ns", MIN, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Time of the first event, from the origin."),
    OSC_COLUMN(LAST, "last_ns", INTEGER, "ns", MAX, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Time of the last event, from the origin."),
    OSC_COLUMN(
        LEAST, "min_value", NUMBER, NULL, MIN, OSC_COLUMN_OPTIONAL, 0,
        "Smallest value of the counter; missing if none is a number. Present if the file "
        "has counters."),
    OSC_COLUMN(MOST, "max_value", NUMBER, NULL, MAX, OSC_COLUMN_OPTIONAL, 0,
               "Largest value of the counter; missing if none is a number. Present if the file "
               "has counters."),
};

/* Events with equal keys are one row; no padding: its bytes are hashed. */
struct key {
    uint32_t name;   /* osc_sid */
    uint32_t track;  /* osc_track_id */
    uint32_t series; /* osc_sid */
    uint32_t kind;
};

struct group {
    struct key key;
    uint64_t n_events;
    int64_t first_ns, last_ns;
    double least, most;
    bool has_value;
};

/* Groups that are found without their key being hashed: counters are sampled in turn. */
#define N_RECENT 64

struct sums {
    const struct osc_trace *t;
    struct group *groups; /* owned; in the order of the file */
    size_t n_groups, cap_groups;
    struct osc_intern keys; /* key i belongs to group i - 1 */
    struct osc_arena arena;
    uint32_t recent[N_RECENT]; /* group of the last event whose key is here */
};

/* The series of the counter in row I of C, and its value: those of its only argument. */
static osc_sid series_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                         double *value, bool *has_value)
{
    const struct osc_form *const f = &t->forms[c->form[i]];

    for (uint32_t k = 0; k < f->n_slots; k++) {
        if (f->slots[k].is_member)
            continue;
        const struct osc_arg arg = osc_row_slot(t, c, i, k);

        *has_value = osc_arg_double(t, &arg, value) && *value == *value;
        return f->slots[k].key;
    }
    *has_value = false;
    return (osc_sid){0};
}

static void add_value(struct group *g, double value)
{
    g->least = !g->has_value || value < g->least ? value : g->least;
    g->most = !g->has_value || value > g->most ? value : g->most;
    g->has_value = true;
}

/* The number of the group of KEY, from 0. */
static osc_status find_group(struct sums *s, const struct key *key, uint32_t *group)
{
    uint32_t *const recent = &s->recent[(key->name ^ key->series ^ key->track) % N_RECENT];
    osc_sid id;

    *group = *recent;
    if (s->groups && memcmp(&s->groups[*recent].key, key, sizeof *key) == 0)
        return OSC_OK;
    const osc_status st =
        osc_intern_add(&s->keys, (struct osc_str){(const char *)key, sizeof *key}, &id);
    if (st != OSC_OK)
        return st;
    *group = *recent = id.v - 1;
    if (*group < s->n_groups)
        return OSC_OK;
    if (osc_grow(&s->groups, &s->cap_groups, s->n_groups + 1, sizeof *s->groups) != OSC_OK)
        return OSC_ENOMEM;
    s->groups[s->n_groups++] =
        (struct group){.key = *key, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    return OSC_OK;
}

/* Count row I of C. */
static osc_status count(struct sums *s, const struct osc_chunk *c, uint32_t i)
{
    struct key key = {.name = c->name[i], .track = c->track[i], .kind = c->kind[i]};
    bool has_value = false;
    double value = 0;
    uint32_t group;

    if (s->t->forms[c->form[i]].shape == OSC_SHAPE_COUNTER)
        key.series = series_of(s->t, c, i, &value, &has_value).v;
    const osc_status st = find_group(s, &key, &group);
    if (st != OSC_OK)
        return st;
    struct group *const g = &s->groups[group];
    g->n_events++;
    g->first_ns = c->ts_ns[i] < g->first_ns ? c->ts_ns[i] : g->first_ns;
    g->last_ns = c->ts_ns[i] > g->last_ns ? c->ts_ns[i] : g->last_ns;
    if (has_value)
        add_value(g, value);
    return OSC_OK;
}

static osc_status count_all(struct sums *s)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 1; k < s->t->events.n_chunks; k++) {
        const struct osc_chunk *const c = s->t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows && st == OSC_OK; i++)
            st = c->dur_ns[i] == OSC_NO_DUR ? count(s, c, i) : OSC_OK;
    }
    return st;
}

static void show(struct osc_result *out, uint32_t column, const struct osc_trace *t, osc_sid id)
{
    if (id.v == 0)
        return;
    osc_result_str(out, column, osc_trace_str(t, id));
    osc_result_show(out, column);
}

static void add_row(const struct osc_trace *t, const struct group *g, struct osc_result *out)
{
    const struct osc_track *const track = &t->tracks[g->key.track];

    osc_result_row(out);
    osc_result_str(out, NAME, osc_trace_str(t, (osc_sid){g->key.name}));
    osc_result_str(out, KIND, osc_str_c(osc_kind_text((enum osc_kind)g->key.kind)));
    show(out, SERIES, t, (osc_sid){g->key.series});
    osc_result_str(out, PROCESS, osc_trace_str(t, track->pid));
    show(out, PROCESS_NAME, t, t->processes[track->process].name);
    osc_result_str(out, THREAD, osc_trace_str(t, track->tid));
    show(out, THREAD_NAME, t, track->name);
    osc_result_int(out, EVENTS, (int64_t)g->n_events);
    osc_result_int(out, FIRST, g->first_ns - t->origin_ns);
    osc_result_int(out, LAST, g->last_ns - t->origin_ns);
    if (!g->has_value)
        return;
    osc_result_num(out, LEAST, g->least);
    osc_result_num(out, MOST, g->most);
    osc_result_show(out, LEAST);
    osc_result_show(out, MOST);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct sums s = {.t = t};

    (void)o;
    s.keys.arena = &s.arena;
    s.keys.seed = osc_hash_seed();
    osc_status st = count_all(&s);
    for (size_t g = 0; g < s.n_groups && st == OSC_OK; g++)
        add_row(t, &s.groups[g], out);
    if (st == OSC_OK && s.n_groups == 0)
        osc_result_why_empty(out, "no points: each event of the trace has a duration");
    osc_free(s.groups);
    osc_intern_fini(&s.keys);
    osc_arena_fini(&s.arena);
    if (st == OSC_OK)
        st = out->status;
    return st == OSC_OK ? st : osc_fail(err, st, "points: %s", osc_status_text(st));
}

/* See table_columns.h. */
const uint32_t osc_column_points_name = NAME, osc_column_points_kind = KIND,
               osc_column_points_series = SERIES, osc_column_points_process = PROCESS,
               osc_column_points_process_name = PROCESS_NAME, osc_column_points_thread = THREAD,
               osc_column_points_thread_name = THREAD_NAME, osc_column_points_events = EVENTS,
               osc_column_points_first_ns = FIRST, osc_column_points_last_ns = LAST;

const struct osc_table_def osc_table_points = {
    .name = "points",
    .help = "Instants, samples of counters and ranges that never ended, by name and thread.",
    .source = "events of the file that have no duration.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sort_words = &osc_torch_words,
    .sorted_by = EVENTS + 1,
    OSC_MAPS(.map = map),
};
