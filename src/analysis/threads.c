/* SPDX-License-Identifier: Apache-2.0 */
/* `threads`: the host threads with events, in the order of their first event. */
#include "analysis/table_registry.h"

#include "analysis/shared_options.h"
#include "analysis/tracks.h"
#include "base/mem.h"
#include "table/pieces.h"

enum { PROCESS, PROCESS_NAME, THREAD, NAME, EVENTS, PIECE_OF };

static const struct osc_column columns[] = {
    OSC_COLUMN(PROCESS, "process", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Process as the file names it."),
    OSC_COLUMN(PROCESS_NAME, "process_name", STRING, NULL, FIRST, OSC_COLUMN_DEEP,
               OSC_RULE_NAMES,
               "Name of the process: the last process_name in the metadata of the file."),
    OSC_COLUMN(THREAD, "thread", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Thread as the file names it."),
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, 0, OSC_RULE_NAMES,
               "Name of the thread: the last thread_name in the metadata of the file."),
    OSC_COLUMN(EVENTS, "events", INTEGER, NULL, FIRST, 0, 0,
               "Number of events on the thread: ranges, instants, and samples of counters."),
    OSC_COLUMN(PIECE_OF, "piece_of", STRING, NULL, FIRST, OSC_COLUMN_HIDDEN, 0,
               "Process of which the file is a piece."),
};

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    uint32_t n = 0, *order = NULL;
    struct osc_strbuf piece_of = {0};
    const osc_status st = osc_tracks_in_order(t, &order, &n);

    (void)o;
    if (st != OSC_OK)
        return osc_fail(err, st, "%s", osc_status_text(st));
    osc_piece_of(t, &piece_of);
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_track *track = &t->tracks[order[i]];

        if (track->is_queue || track->is_summary)
            continue;
        osc_result_row(out);
        /* PyTorch itself writes "" for both, so an empty text is not a missing one. */
        osc_result_str(out, PROCESS, osc_trace_str(t, track->pid));
        if (t->processes[track->process].name.v) {
            osc_result_str(out, PROCESS_NAME,
                           osc_trace_str(t, t->processes[track->process].name));
            osc_result_show(out, PROCESS_NAME);
        }
        osc_result_str(out, THREAD, osc_trace_str(t, track->tid));
        if (track->name.v)
            osc_result_str(out, NAME, osc_trace_str(t, track->name));
        osc_result_int(out, EVENTS, track->n_events);
        if (piece_of.len > 0)
            osc_result_str(out, PIECE_OF, (struct osc_str){piece_of.s, (uint32_t)piece_of.len});
    }
    if (out->n_rows == 0)
        osc_result_why_empty(out, "no events on host threads");
    osc_free(order);
    if (piece_of.status != OSC_OK)
        out->status = piece_of.status;
    osc_strbuf_fini(&piece_of);
    return out->status;
}

static bool join(struct osc_result *r, uint64_t to, uint64_t row)
{
    osc_pieces_fill(r, to, row, PROCESS_NAME);
    osc_pieces_fill(r, to, row, NAME);
    osc_pieces_add(r, to, row, EVENTS);
    return true;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    const struct osc_piece_key thread = {PIECE_OF, {PROCESS, THREAD}, 2};
    const osc_status st = osc_pieces_join(r, &thread, join);

    (void)o;
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}

const struct osc_table_def osc_table_threads = {
    .name = "threads",
    .help = "Host threads with their names and numbers of events.",
    .source = "pid and tid of the events, and metadata events of the file.",
    .rules = OSC_RULE_NAMES,
    .columns = columns,
    .n_columns = sizeof columns / sizeof *columns,
    .sort_words = &osc_torch_words_of_names,
    OSC_MAPS(.map = map, .finish = finish),
};
