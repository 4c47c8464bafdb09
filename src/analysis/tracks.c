/* SPDX-License-Identifier: Apache-2.0 */
/* `tracks`: threads and device queues, numbered by their first event. */
#include "analysis/tracks.h"

#include "analysis/busy.h"
#include "analysis/shared_options.h"
#include "analysis/table_columns.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/derive.h"
#include "derive/select.h"
#include "table/pieces.h"

enum {
    TRACK,
    KIND,
    NAME,
    PARENT,
    PROCESS_NAME,
    THREAD,
    PROCESS_LABELS,
    EVENTS,
    BUSY,
    BUSY_RATIO,
    WHOLE,
    DEVICE_BUSY,
    DEVICE_EVENTS,
    FIRST,
    PIECE_OF
};

static const struct osc_column columns[] = {
    OSC_COLUMN(TRACK, "track", INTEGER, NULL, FIRST, 0, 0,
               "Number of the track within its file, in order of first events, from 0."),
    OSC_COLUMN(KIND, "kind", STRING, NULL, FIRST, 0, 0,
               "thread; queue: a stream of a device; or summary: repeats the time of others."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Name of the track: the last thread_name in the metadata of the file."),
    OSC_COLUMN(PARENT, "parent", STRING, NULL, FIRST, 0, OSC_RULE_NAMES | OSC_RULE_DEVICES,
               "Process that a thread belongs to, or device that a queue belongs to."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "Name of the process in which the file has the track."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "Thread, or stream of a device, as the file names it."),
    OSC_COLUMN(PROCESS_LABELS, "process_labels", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES, "What the file says of that process in process_labels."),
    OSC_COLUMN(EVENTS, "events", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of events on the track: ranges, instants, and samples of counters."),
    OSC_COLUMN(BUSY, "busy_ns", INTEGER, "ns", FIRST, 0, 0,
               "Time in which at least one range of the track runs. Of a queue kernels, copies "
               "and memsets count. Of a thread the steps and the ranges that the program "
               "marked count only if it has no others, and asynchronous ranges only if it has "
               "nothing else; Ray's worker_idle never counts. Time after --to does not count. "
               "Missing without such ranges, and for a summary."),
    OSC_COLUMN(
        BUSY_RATIO, "busy_ratio", NUMBER, "ratio", FIRST, 0, 0,
        "busy_ns / time from the first start to the last end of all events, or to --to if "
        "that is earlier."),
    OSC_COLUMN(WHOLE, "whole_ns", INTEGER, "ns", FIRST, OSC_COLUMN_HIDDEN, 0,
               "From the first start to the last end of all events, or to --to."),
    OSC_COLUMN(DEVICE_BUSY, "device_busy_ns", INTEGER, "ns", FIRST, OSC_COLUMN_HIDDEN, 0,
               "At one queue of each device: time in which any of its queues is busy."),
    OSC_COLUMN(DEVICE_EVENTS, "device_events", INTEGER, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "There: number of events on all of its queues."),
    OSC_COLUMN(FIRST, "first_ns", INTEGER, "ns", FIRST, OSC_COLUMN_HIDDEN | OSC_COLUMN_MOMENT,
               0, "First start of all events, of which whole_ns is the length."),
    OSC_COLUMN(PIECE_OF, "piece_of", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Process of which the file is a piece."),
};

static int compare_tracks(const void *a, const void *b, void *ctx)
{
    const struct osc_track *tracks = ctx;
    const uint32_t x = tracks[*(const uint32_t *)a].first_event.v;
    const uint32_t y = tracks[*(const uint32_t *)b].first_event.v;

    return (x > y) - (x < y);
}

osc_status osc_tracks_in_order(const struct osc_trace *t, uint32_t **order, uint32_t *n)
{
    uint32_t *ids = osc_malloc((t->n_tracks ? t->n_tracks : 1) * sizeof *ids);

    *n = 0;
    *order = ids;
    if (!ids)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        if (t->tracks[i].n_events > 0)
            ids[(*n)++] = i;
    }
    osc_sort_with(ids, *n, sizeof *ids, compare_tracks, t->tracks);
    return OSC_OK;
}

static void add_busy(struct osc_result *out, int64_t busy_ns, int64_t whole_ns)
{
    if (busy_ns == OSC_NEVER_BUSY)
        return;
    osc_result_int(out, BUSY, busy_ns);
    if (whole_ns > 0)
        osc_result_num(out, BUSY_RATIO, (double)busy_ns / (double)whole_ns);
}

static void add_device(struct osc_result *out, const struct osc_busy *busy, uint32_t track)
{
    if (busy->device_ns[track] == OSC_NEVER_BUSY)
        return;
    osc_result_int(out, DEVICE_BUSY, busy->device_ns[track]);
    osc_result_int(out, DEVICE_EVENTS, (int64_t)busy->device_events[track]);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    const int64_t end_ns = osc_selection_end(o->selection, t);
    const int64_t whole_ns = end_ns - t->min_ts_ns;
    struct osc_strbuf piece_of = {0};
    struct osc_busy busy = {0};
    uint32_t n = 0, *order = NULL;
    osc_status st = osc_tracks_in_order(t, &order, &n);

    if (st == OSC_OK)
        st = osc_busy_make(t, end_ns, &busy);
    if (st != OSC_OK) {
        osc_free(order);
        return osc_fail(err, st, "%s", osc_status_text(st));
    }
    osc_piece_of(t, &piece_of);
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_track *track = &t->tracks[order[i]];
        const osc_sid parent = track->is_queue ? track->device : track->pid;

        osc_result_row(out);
        osc_result_int(out, TRACK, i);
        osc_result_str(out, KIND,
                       track->is_queue     ? OSC_STR("queue")
                       : track->is_summary ? OSC_STR("summary")
                                           : OSC_STR("thread"));
        if (track->name.v)
            osc_result_str(out, NAME, osc_trace_str(t, track->name));
        if (parent.v)
            osc_result_str(out, PARENT, osc_trace_str(t, parent));
        if (t->processes[track->process].name.v) {
            osc_result_str(out, PROCESS_NAME,
                           osc_trace_str(t, t->processes[track->process].name));
            osc_result_show(out, PROCESS_NAME);
        }
        if (track->name.v == 0)
            osc_result_show(out, THREAD);
        osc_result_str(out, THREAD, osc_trace_str(t, track->tid));
        if (t->processes[track->process].labels.v)
            osc_result_str(out, PROCESS_LABELS,
                           osc_trace_str(t, t->processes[track->process].labels));
        osc_result_int(out, EVENTS, track->n_events);
        add_busy(out, busy.track_ns[order[i]], whole_ns);
        osc_result_int(out, WHOLE, whole_ns);
        osc_result_int(out, FIRST, t->min_ts_ns - t->origin_ns);
        if (piece_of.len > 0)
            osc_result_str(out, PIECE_OF, (struct osc_str){piece_of.s, (uint32_t)piece_of.len});
        add_device(out, &busy, order[i]);
    }
    if (out->n_rows == 0)
        osc_result_why_empty(out, "no events");
    osc_busy_fini(&busy);
    osc_free(order);
    if (piece_of.status != OSC_OK)
        out->status = piece_of.status;
    osc_strbuf_fini(&piece_of);
    return out->status;
}

/* --- pieces of one process ------------------------------------------------- */

static bool join_tracks(struct osc_result *r, uint64_t to, uint64_t row)
{
    osc_pieces_fill(r, to, row, NAME);
    osc_pieces_fill(r, to, row, PROCESS_NAME);
    osc_pieces_fill(r, to, row, PROCESS_LABELS);
    osc_pieces_add(r, to, row, EVENTS);
    osc_pieces_add(r, to, row, BUSY);
    return true;
}

/* Let one queue of a device stand for it. */
static bool join_devices(struct osc_result *r, uint64_t to, uint64_t row)
{
    osc_pieces_add(r, to, row, DEVICE_BUSY);
    osc_pieces_add(r, to, row, DEVICE_EVENTS);
    osc_result_set_missing(r, row, DEVICE_BUSY);
    osc_result_set_missing(r, row, DEVICE_EVENTS);
    return false;
}

/* Let TO, the first row of a process, span the events of ROW, too. */
static bool extend(struct osc_result *r, uint64_t to, uint64_t row)
{
    const int64_t a = osc_result_get_int(r, to, FIRST), b = osc_result_get_int(r, row, FIRST);
    const int64_t a_end = a + osc_result_get_int(r, to, WHOLE);
    const int64_t b_end = b + osc_result_get_int(r, row, WHOLE);
    const int64_t first = a < b ? a : b;

    osc_result_set_int(r, to, FIRST, first);
    osc_result_set_int(r, to, WHOLE, (a_end > b_end ? a_end : b_end) - first);
    return false;
}

static bool copy_span(struct osc_result *r, uint64_t to, uint64_t row)
{
    osc_result_set_int(r, row, WHOLE, osc_result_get_int(r, to, WHOLE));
    return false;
}

static void set_ratios(struct osc_result *r)
{
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t whole_ns = osc_result_get_int(r, i, WHOLE);

        if (osc_result_has(r, i, PIECE_OF) && osc_result_has(r, i, BUSY) && whole_ns > 0)
            osc_result_set_num(r, i, BUSY_RATIO,
                               (double)osc_result_get_int(r, i, BUSY) / (double)whole_ns);
    }
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct {
        struct osc_piece_key key;
        bool (*join)(struct osc_result *r, uint64_t to, uint64_t row);
    } steps[] = {{{.of = PIECE_OF}, extend},
                 {{.of = PIECE_OF}, copy_span},
                 {{PIECE_OF, {KIND, PARENT, THREAD}, 3}, join_tracks},
                 {{PIECE_OF, {KIND, PARENT}, 2}, join_devices}};
    osc_status st = OSC_OK;

    (void)o;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && st == OSC_OK; i++)
        st = osc_pieces_join(r, &steps[i].key, steps[i].join);
    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));
    set_ratios(r);
    return r->status;
}

const uint32_t osc_column_tracks_kind = KIND, osc_column_tracks_name = NAME,
               osc_column_tracks_parent = PARENT, osc_column_tracks_process_name = PROCESS_NAME,
               osc_column_tracks_thread = THREAD, osc_column_tracks_events = EVENTS,
               osc_column_tracks_busy_ns = BUSY, osc_column_tracks_whole_ns = WHOLE,
               osc_column_tracks_device_busy_ns = DEVICE_BUSY,
               osc_column_tracks_device_events = DEVICE_EVENTS;

const struct osc_table_def osc_table_tracks = {
    .name = "tracks",
    .help = "Threads and device queues, and how long each was busy.",
    .source = "pid and tid of the events, and metadata events of the file.",
    .rules = OSC_RULE_NAMES,
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .sort_words = &osc_torch_words_of_names,
    OSC_MAPS(.facts = OSC_FACT_ORDER, .map = map, .finish = finish),
};
