/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `info`: what a trace is, as keys and values.
 *
 * A value is text in the end, but traces are merged before that. Hidden columns hold the
 * numbers to sum, the first start and last end, or the members of a set (one row per distinct
 * item, all with the same key); finish() makes the text.
 */
#include "analysis/table_registry.h"

#include <stdio.h>
#include <string.h>

#include "analysis/census.h"
#include "analysis/remedies.h"
#include "analysis/table_columns.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "model/producer.h"

enum { KEY, ITEM, VALUE, TEXT, NUMBER, FIRST, LAST, FLAG };

static const struct osc_column columns[] = {
    OSC_COLUMN(KEY, "key", STRING, NULL, KEY, 0, OSC_RULE_FACTS,
               "Name of the fact: format, producer, counts, switches of the profiler, and "
               "meta.NAME for each member of the file beside its events."),
    OSC_COLUMN(ITEM, "item", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "A member of the set that the key counts."),
    OSC_COLUMN(VALUE, "value", STRING, NULL, FINISH, OSC_COLUMN_LONG,
               OSC_RULE_FACTS | OSC_RULE_TIME,
               "Value of the fact as text: times in ns, true or false. Lists and objects of "
               "the file are JSON, which text output cuts after 100 characters. Missing if the "
               "file does not say it; Kineto names no version of its own, for example."),
    OSC_COLUMN(TEXT, "text", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0, "A text."),
    OSC_COLUMN(NUMBER, "number", INTEGER, NULL, SUM, OSC_COLUMN_HIDDEN, 0, "A count."),
    OSC_COLUMN(FIRST, "first_ns", INTEGER, "ns", MIN, OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT, 0,
               "A point in time: the earliest."),
    OSC_COLUMN(LAST, "last_ns", INTEGER, "ns", MAX, OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT, 0,
               "With first_ns, a duration."),
    OSC_COLUMN(FLAG, "flag", BOOLEAN, NULL, OR, OSC_COLUMN_HIDDEN, 0, "A switch."),
};

static void add_key(struct osc_result *out, const char *key)
{
    osc_result_row(out);
    osc_result_str(out, KEY, osc_str_c(key));
}

static void add_text(struct osc_result *out, const char *key, struct osc_str text)
{
    add_key(out, key);
    if (text.len > 0)
        osc_result_str(out, TEXT, text);
}

static void add_count(struct osc_result *out, const char *key, uint64_t n)
{
    add_key(out, key);
    osc_result_int(out, NUMBER, (int64_t)n);
}

static void add_item(struct osc_result *out, const char *key, struct osc_str item)
{
    add_key(out, key);
    osc_result_str(out, ITEM, item);
}

static void add_number_item(struct osc_result *out, const char *key, int64_t item)
{
    char text[24];
    struct osc_strbuf b = {0};

    osc_strbuf_addi(&b, item);
    snprintf(text, sizeof text, "%s", b.s ? b.s : "");
    osc_strbuf_fini(&b);
    add_count(out, key, 0);
    add_item(out, key, osc_str_c(text));
}

static void add_flag(struct osc_result *out, const char *key, bool flag)
{
    add_key(out, key);
    osc_result_bool(out, FLAG, flag);
}

static struct osc_str meta(const struct osc_trace *t, const char *key)
{
    struct osc_str value;

    return osc_trace_meta(t, key, &value) ? value : OSC_STR("");
}

/* The start of the profiler's own span, which PyTorch writes. */
static bool find_profiler_start(const struct osc_trace *t, int64_t *start_ns)
{
    const osc_sid name = osc_strings_find(&t->strings, OSC_STR("PyTorch Profiler (0)"));

    for (uint32_t k = 1; name.v != 0 && k < t->events.n_chunks; k++) {
        const struct osc_chunk *c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (c->name[i] == name.v) {
                *start_ns = c->ts_ns[i];
                return true;
            }
        }
    }
    return false;
}

/* The years 2000 to 2100, in nanoseconds since 1970. */
#define YEAR_2000_NS (INT64_C(946684800) * 1000000000)
#define YEAR_2100_NS (INT64_C(4102444800) * 1000000000)

/* Whether UNIX_NS can be the time of a wall clock. Other clocks count from the start of the
 * machine or of the program, or from 1601. */
static bool is_wall_clock(int64_t unix_ns)
{
    return unix_ns >= YEAR_2000_NS && unix_ns < YEAR_2100_NS;
}

static void add_origin(const struct osc_trace *t, const struct osc_options *o,
                       struct osc_result *out)
{
    int64_t start_ns;

    const enum osc_producer producer = (enum osc_producer)t->producer;
    const bool is_ours = osc_trace_is_ours(t);
    add_text(out, "format", osc_trace_str(t, t->format));
    add_text(out, "producer", osc_str_c(osc_producer_text(producer)));
    add_text(out, "dialect", osc_str_c(osc_dialect_text(osc_producer_dialect(producer))));
    add_text(out, "producer_version", is_ours ? meta(t, "opscope_version") : OSC_STR(""));
    add_text(out, "torch_version", osc_trace_torch_version(t));
    add_text(out, "opscope_version", OSC_STR(OSC_VERSION));

    add_key(out, "origin_unix_ns");
    if (t->events.n_rows > 0 && is_wall_clock(t->origin_ns + t->base_ns))
        osc_result_int(out, FIRST, t->origin_ns + t->base_ns);
    add_key(out, "profiler_start_ns");
    if (find_profiler_start(t, &start_ns))
        osc_result_int(out, FIRST, start_ns - t->origin_ns);
    add_key(out, "duration_ns");
    osc_result_int(out, NUMBER, 0); /* unless another merged trace has events */
    if (t->events.n_rows > 0) {
        osc_result_int(out, FIRST, t->min_ts_ns - t->origin_ns);
        osc_result_int(out, LAST, osc_selection_end(o->selection, t) - t->origin_ns);
    }
}

/* Add an item for each device. */
static osc_status add_devices(const struct osc_trace *t, struct osc_result *out)
{
    struct osc_idmap seen = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        const struct osc_track *track = &t->tracks[i];
        uint32_t *is_known;

        if (track->n_events == 0 || track->device.v == 0)
            continue;
        is_known = osc_idmap_put(&seen, track->device.v);
        if (!is_known)
            st = OSC_ENOMEM;
        else if (*is_known == 0)
            add_item(out, "devices", osc_trace_str(t, track->device));
        if (is_known)
            *is_known = 1;
    }
    osc_idmap_fini(&seen);
    return st;
}

/* Add the item KEY "RANK HOST PID TID": spans of one rank have the same. */
static void add_place_item(const struct osc_trace *t, const char *key, struct osc_str pid,
                           struct osc_str tid, struct osc_result *out)
{
    struct osc_strbuf text = {0};
    struct osc_str host;

    osc_strbuf_addi(&text, t->rank);
    osc_strbuf_addc(&text, ' ');
    if (osc_trace_meta(t, "host_name", &host))
        osc_strbuf_addstr(&text, host);
    osc_strbuf_addc(&text, ' ');
    osc_strbuf_addstr(&text, pid);
    osc_strbuf_addc(&text, ' ');
    osc_strbuf_addstr(&text, tid);
    if (text.status == OSC_OK)
        add_item(out, key, (struct osc_str){text.s, (uint32_t)text.len});
    else
        out->status = text.status;
    osc_strbuf_fini(&text);
}

/* Add an item for each host thread with events, without the pseudo threads of Kineto, and for
 * each process of one. */
static osc_status add_threads(const struct osc_trace *t, struct osc_result *out)
{
    struct osc_idmap seen = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        const struct osc_track *const track = &t->tracks[i];
        const struct osc_str pid = osc_trace_str(t, track->pid);

        if (!osc_census_has_thread(track))
            continue;
        add_place_item(t, "threads", pid, osc_trace_str(t, track->tid), out);
        uint32_t *const process = osc_idmap_put(&seen, track->process);
        if (!process)
            st = OSC_ENOMEM;
        else if (*process == 0)
            add_place_item(t, "processes", pid, OSC_STR(""), out);
        if (process)
            *process = 1;
    }
    osc_idmap_fini(&seen);
    return st;
}

static void add_counts(const struct osc_trace *t, const struct osc_census *c,
                       struct osc_result *out)
{
    add_count(out, "events", t->events.n_rows);
    add_count(out, "threads", 0);
    add_count(out, "processes", 0);
    if (add_threads(t, out) != OSC_OK)
        out->status = OSC_ENOMEM;
    add_count(out, "devices", 0);
    if (add_devices(t, out) != OSC_OK)
        out->status = OSC_ENOMEM;
    add_number_item(out, "ranks", t->rank);
    add_number_item(out, "spans", t->span);
    add_count(out, "steps", t->has_iterations ? 0 : c->n_steps);
    if (t->has_iterations)
        add_count(out, "iterations", c->n_steps);
}

static void add_flags(const struct osc_trace *t, const struct osc_census *c,
                      struct osc_result *out)
{
    const bool has_memory = c->by_kind[OSC_KIND_ALLOC] + c->by_kind[OSC_KIND_FREE] > 0;

    add_flag(out, "record_shapes", osc_trace_flag(t, "record_shapes", c->has_shapes));
    add_flag(out, "profile_memory", osc_trace_flag(t, "profile_memory", has_memory));
    add_flag(out, "with_stack", osc_trace_flag(t, "with_stack", c->has_stacks));
    add_flag(out, "with_modules", osc_trace_flag(t, "with_modules", c->has_modules));
    add_flag(out, "with_flops", osc_trace_flag(t, "with_flops", false));
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_strbuf key = {0};
    struct osc_census census;
    osc_status st = osc_census_add(t, &census);

    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));
    add_origin(t, o, out);
    add_counts(t, &census, out);
    add_flags(t, &census, out);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        osc_strbuf_clear(&key);
        osc_strbuf_adds(&key, "meta.");
        osc_strbuf_addstr(&key, osc_trace_str(t, t->metas[i].key));
        osc_result_row(out);
        osc_result_str(out, KEY, (struct osc_str){key.s, (uint32_t)key.len});
        osc_result_str(out, TEXT, osc_trace_str(t, t->metas[i].value));
    }
    st = key.status != OSC_OK ? key.status : out->status;
    osc_strbuf_fini(&key);
    return st;
}

static void set_number_item(struct osc_result *r, uint64_t i, int64_t item)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addi(&text, item);
    if (text.status == OSC_OK)
        osc_result_set_str(r, i, ITEM, (struct osc_str){text.s, (uint32_t)text.len});
    else
        r->status = text.status;
    osc_strbuf_fini(&text);
}

/* Write RANK before the rest of item I, which names a thread or process. */
static void set_rank_of_item(struct osc_result *r, uint64_t i, int64_t rank)
{
    const struct osc_str item = osc_result_get_str(r, i, ITEM);
    const char *const rest = memchr(item.s, ' ', item.len);
    struct osc_strbuf text = {0};

    osc_strbuf_addi(&text, rank);
    osc_strbuf_add(&text, rest, item.len - (size_t)(rest - item.s));
    if (text.status == OSC_OK)
        osc_result_set_str(r, i, ITEM, (struct osc_str){text.s, (uint32_t)text.len});
    else
        r->status = text.status;
    osc_strbuf_fini(&text);
}

static void set_origin(struct osc_result *r, uint64_t i, int64_t unix_ns)
{
    if (is_wall_clock(unix_ns))
        osc_result_set_int(r, i, FIRST, unix_ns);
    else
        osc_result_set_missing(r, i, FIRST);
}

/* Whether the trace of PART has events: only then its duration has an end. */
static bool has_events(const struct osc_result *part)
{
    for (uint64_t i = 0; i < part->n_rows; i++) {
        if (osc_str_eq(osc_result_get_str(part, i, KEY), OSC_STR("duration_ns")))
            return osc_result_has(part, i, LAST);
    }
    return false;
}

static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    const bool is_empty = !has_events(part);

    for (uint64_t i = 0; i < part->n_rows; i++) {
        const struct osc_str key = osc_result_get_str(part, i, KEY);
        const bool is_item = osc_result_has(part, i, ITEM);

        if (osc_str_eq(key, OSC_STR("origin_unix_ns")) && !is_empty)
            set_origin(part, i, to->origin_ns + to->base_ns);
        else if (is_item && osc_str_eq(key, OSC_STR("ranks")))
            set_number_item(part, i, to->rank);
        else if (is_item && osc_str_eq(key, OSC_STR("spans")))
            set_number_item(part, i, to->span);
        else if (is_item && from->rank != to->rank &&
                 (osc_str_eq(key, OSC_STR("threads")) || osc_str_eq(key, OSC_STR("processes"))))
            set_rank_of_item(part, i, to->rank);
    }
    return part->status;
}

/* Write the text of row I, which has N_ITEMS items. False: it has none. */
static bool write_value(const struct osc_result *r, uint64_t i, uint64_t n_items,
                        struct osc_strbuf *out)
{
    osc_strbuf_clear(out);
    if (osc_result_has(r, i, TEXT))
        osc_strbuf_addstr(out, osc_result_get_str(r, i, TEXT));
    else if (osc_result_has(r, i, FLAG))
        osc_strbuf_adds(out, osc_result_get_bool(r, i, FLAG) ? "true" : "false");
    else if (osc_result_has(r, i, LAST))
        osc_strbuf_addi(out, osc_result_get_int(r, i, LAST) - osc_result_get_int(r, i, FIRST));
    else if (osc_result_has(r, i, NUMBER))
        osc_strbuf_addi(out, osc_result_get_int(r, i, NUMBER) + (int64_t)n_items);
    else if (osc_result_has(r, i, FIRST))
        osc_strbuf_addi(out, osc_result_get_int(r, i, FIRST));
    else
        return false;
    return true;
}

/* Count the rows that are items of each key. A result holds the bytes of a key once. */
static osc_status count_items(const struct osc_result *r, struct osc_idmap *n_items)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
        uint32_t *n;

        if (!osc_result_has(r, i, ITEM))
            continue;
        n = osc_idmap_put(n_items, (uintptr_t)osc_result_get_str(r, i, KEY).s);
        if (!n)
            return OSC_ENOMEM;
        ++*n;
    }
    return OSC_OK;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    bool *keep = osc_calloc(r->n_rows ? r->n_rows : 1, sizeof *keep);
    struct osc_idmap n_items = {0};
    struct osc_strbuf text = {0};

    (void)o;
    if (!keep || count_items(r, &n_items) != OSC_OK) {
        r->status = osc_fail(err, OSC_ENOMEM, "out of memory");
        goto out;
    }
    for (uint64_t i = 0; i < r->n_rows; i++) {
        keep[i] = !osc_result_has(r, i, ITEM);
        if (!keep[i])
            continue;
        const uintptr_t key = (uintptr_t)osc_result_get_str(r, i, KEY).s;
        if (write_value(r, i, osc_idmap_get(&n_items, key), &text))
            osc_result_set_str(r, i, VALUE, (struct osc_str){text.s, (uint32_t)text.len});
    }
    osc_result_keep(r, keep);
    if (text.status != OSC_OK)
        r->status = text.status;
out:
    osc_strbuf_fini(&text);
    osc_idmap_fini(&n_items);
    osc_free(keep);
    return r->status;
}

/* See table_columns.h. */
const uint32_t osc_column_info_key = KEY, osc_column_info_value = VALUE;

const struct osc_table_def osc_table_info = {
    .name = "info",
    .help = "What a trace is: origin, counts, switches of the profiler, metadata.",
    .source = "the members of the file beside its events, and the events.",
    .rules = OSC_RULE_FACTS,
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    OSC_MAPS(.map = map, .place = place, .finish = finish),
};
