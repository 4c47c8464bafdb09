/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `siblings`: all ranges of one name, the longest first, and where each of them stands among
 * those of its kind. A name is asked for by itself, by a pattern, or by an event that has it.
 */
#include "analysis/table_registry.h"

#include "analysis/args_json.h"
#include "analysis/range_name.h"
#include "analysis/range_place.h"
#include "analysis/shared_options.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/facts.h"

enum { ID, RANK, THREAD, STEP, START, DUR, PERCENTILE, NAME, ARGS, KIND, PLACE, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(ID, "id", INTEGER, NULL, FIRST, 0, 0,
               "Number of the event in its file, as in the table events."),
    OSC_COLUMN(RANK, "rank", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, OSC_RULE_NAMES,
               "Rank whose file has the event."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Thread of the event, or queue of a device."),
    OSC_COLUMN(STEP, "step", INTEGER, NULL, FIRST, 0, OSC_RULE_STEPS,
               "Number of the step that the event belongs to; missing if there is none."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Start of the event, from the origin of all files."),
    OSC_COLUMN(DUR, "dur_ns", INTEGER, "ns", FIRST, 0, 0, "Its duration."),
    OSC_COLUMN(PERCENTILE, "percentile_ratio", NUMBER, "ratio", FINISH, 0, OSC_RULE_RANGES,
               "Ranges of the same name, kind and place (see ranges) that took no longer / all "
               "of them."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Name by which the event counts, as in the table ranges."),
    OSC_COLUMN(ARGS, "args", STRING, NULL, FIRST, 0, 0,
               "All arguments as JSON text, in the order and with the types of the file."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Kind of the event, in the vocabulary of table events."),
    OSC_COLUMN(PLACE, "place", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0, OSC_RANGE_PLACE_HELP),
};

/* What the rows have in common. */
struct wanted {
    uint32_t name;          /* osc_range_name_find(); 0 with a pattern: names that fit it */
    struct osc_str pattern; /* a name, or the begin of names and '*' */
    bool has_rest;          /* kind and place count, too */
    uint8_t kind;
    enum osc_range_place place;
};

/* Set W to what the event number ID of T has; false: it is none, or no range. */
static bool find_event(const struct osc_trace *t, int64_t id, struct wanted *w)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        if (id < c->first_row || id - c->first_row >= c->n_rows)
            continue;
        const uint32_t i = (uint32_t)(id - c->first_row);
        if (!osc_range_has_ended(t, c, i))
            return false;
        *w = (struct wanted){.name = osc_range_name_of(t, c, i),
                             .has_rest = true,
                             .kind = c->kind[i],
                             .place = osc_range_place_of(t, c, i)};
        return true;
    }
    return false;
}

/* Whether row I of C is one of W. */
static bool is_wanted(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                      const struct wanted *w)
{
    if (!osc_range_has_ended(t, c, i))
        return false;
    if (w->pattern.len > 0)
        return osc_str_fits(osc_row_name(t, c, i), w->pattern) ||
               osc_str_fits(osc_range_name_text(t, osc_range_name_of(t, c, i)), w->pattern);
    return osc_range_has_name(t, c, i, w->name) &&
           (!w->has_rest || (c->kind[i] == w->kind && osc_range_place_of(t, c, i) == w->place));
}

static void add_row(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                    struct osc_args_json *args, struct osc_result *out)
{
    osc_result_row(out);
    osc_result_int(out, ID, (int64_t)c->first_row + i);
    osc_result_int(out, RANK, t->rank);
    osc_result_str(out, THREAD, osc_trace_str(t, t->tracks[c->track[i]].tid));
    if (c->step && c->step[i])
        osc_result_int(out, STEP, t->steps[c->step[i] - 1].ordinal);
    osc_result_int(out, START, c->ts_ns[i] - t->origin_ns);
    osc_result_int(out, DUR, c->dur_ns[i]);
    osc_result_str(out, NAME, osc_range_name_text(t, osc_range_name_of(t, c, i)));
    if (osc_args_json_write(args, t, c, i))
        osc_result_str(out, ARGS, (struct osc_str){args->text.s, (uint32_t)args->text.len});
    osc_result_str(out, KIND, osc_str_c(osc_kind_text((enum osc_kind)c->kind[i])));
    osc_result_str(out, PLACE, osc_range_place_text(osc_range_place_of(t, c, i)));
}

static void add_rows(const struct osc_trace *t, const struct wanted *w, struct osc_result *out)
{
    struct osc_args_json args = {0};

    for (uint32_t k = 1; k < t->events.n_chunks && out->status == OSC_OK; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (is_wanted(t, c, i, w))
                add_row(t, c, i, &args, out);
        }
    }
    if (args.text.status != OSC_OK)
        out->status = args.text.status;
    osc_args_json_fini(&args);
}

/* Add the ranges called NAME, or if there are none, those whose names fit it as a pattern. */
static void add_named(const struct osc_trace *t, struct osc_str name, struct osc_result *out)
{
    const uint32_t exact = osc_range_name_find(t, name);

    if (exact != 0)
        add_rows(t, &(struct wanted){.name = exact}, out);
    if (out->n_rows == 0 && name.len > 0 && name.s[name.len - 1] == '*')
        add_rows(t, &(struct wanted){.pattern = name}, out);
    if (out->n_rows == 0)
        osc_result_why_empty(out, "no range of that name has ended; a '*' at the end of a name "
                                  "stands for all that begin so");
}

static const struct osc_table_option option_name = {
    .name = "name",
    .kind = OSC_OPTION_TEXT,
    .argument = "NAME",
    .help = "only ranges called NAME; if there are none, 'NAME*' is all that begin so",
};

static const struct osc_table_option option_event = {
    .name = "event",
    .kind = OSC_OPTION_WHOLE,
    .argument = "ID",
    .help = "only ranges called as the event ID of table events",
    .expected = "not an id: a whole number from 0",
};

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const struct osc_option_value *const event = osc_option_get(o, &option_event);
    const char *const name = osc_option_text(o, &option_name);
    struct wanted w = {0};

    if (event && o->n_traces > 1)
        return osc_fail(err, OSC_EINVAL,
                        "--event: each of %u ranks or spans has an event %lld; choose one with "
                        "--rank and --span, or use --name",
                        o->n_traces, (long long)event->number);
    if (event && !find_event(t, event->number, &w))
        osc_result_why_empty(out, "no range has that id");
    else if (event)
        add_rows(t, &w, out);
    else if (name)
        add_named(t, osc_str_c(name), out);
    else
        osc_result_why_empty(out, "nothing is asked for: name ranges with --name NAME, or one "
                                  "of them with --event ID");
    return out->status;
}

static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    (void)from;
    for (uint64_t i = 0; i < part->n_rows; i++)
        osc_result_set_int(part, i, RANK, to->rank);
    return part->status;
}

/* --- all traces --------------------------------------------------------------------------- */

struct row {
    uint64_t index;
    uint32_t kind, place, name; /* osc_sid of the result */
    int64_t dur_ns;
};

static bool are_siblings(const struct row *a, const struct row *b)
{
    return a->kind == b->kind && a->place == b->place && a->name == b->name;
}

static int by_duration(const void *x, const void *y)
{
    const struct row *const a = x, *const b = y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->dur_ns > b->dur_ns) - (a->dur_ns < b->dur_ns);
}

/* Set the ratios of the N rows V, which are of one kind, place and name. */
static void rank_rows(struct osc_result *r, const struct row *v, uint64_t n)
{
    for (uint64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].dur_ns == v[i].dur_ns; end++)
            ;
        for (uint64_t k = i; k < end; k++)
            osc_result_set_num(r, v[k].index, PERCENTILE, (double)end / (double)n);
    }
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    struct row *const v = osc_malloc((r->n_rows + 1) * sizeof *v);

    (void)o;
    if (!v)
        return osc_fail(err, OSC_ENOMEM, "siblings: out of memory");
    for (uint64_t i = 0; i < r->n_rows; i++)
        v[i] =
            (struct row){i, osc_result_get_sid(r, i, KIND).v, osc_result_get_sid(r, i, PLACE).v,
                         osc_result_get_sid(r, i, NAME).v, osc_result_get_int(r, i, DUR)};
    osc_sort(v, r->n_rows, sizeof *v, by_duration);
    for (uint64_t i = 0, n; i < r->n_rows; i += n) {
        for (n = 1; i + n < r->n_rows && are_siblings(&v[i], &v[i + n]); n++)
            ;
        rank_rows(r, &v[i], n);
    }
    osc_free(v);
    return r->status;
}

static const struct osc_table_option *const options[] = {&option_name, &option_event, NULL};

const struct osc_table_def osc_table_siblings = {
    .name = "siblings",
    .help = "All ranges of one name or pattern of names, the longest first.",
    .source = "ranges of the file that have ended, synchronous or not.",
    .rules = OSC_RULE_RANGES,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .sorted_by = DUR + 1,
    .options = options,
    OSC_MAPS(.facts = OSC_FACT_STEPS, .map = map, .place = place, .finish = finish),
};
