/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `flows`: the arrows that the file draws between events (derive/flow/chains.h).
 */
#include "analysis/table_registry.h"

#include "derive/facts.h"
#include "derive/flow/chains.h"

enum { KIND, FROM_ID, TO_ID, N_COLUMNS };

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(KIND, "kind", STRING, NULL, FIRST, 0, OSC_RULE_ARROWS,
               "launch: from a host call to what it started on the device. fwdbwd: from a "
               "forward operator to its backward "
               "operator. Otherwise the word of the file."),
    OSC_COLUMN(FROM_ID, "from_id", INTEGER, NULL, FIRST, 0, OSC_RULE_ARROWS,
               "Id (table events) of the event where the arrow starts; missing if the file has "
               "no start of that id, or nothing runs at its time."),
    OSC_COLUMN(
        TO_ID, "to_id", INTEGER, NULL, FIRST, 0, OSC_RULE_ARROWS,
        "Id (table events) of the event where the arrow ends; missing if nothing runs there."),
};

struct rows {
    const struct osc_trace *t;
    struct osc_result *out;
    uint64_t n_from, n_to; /* without that end */
};

static void add_end(const struct rows *rows, uint32_t column, uint32_t event)
{
    if (event != 0)
        osc_result_int(rows->out, column, osc_row_number(&rows->t->events, (osc_row){event}));
}

static struct osc_str kind_text(const struct rows *rows, const struct osc_chain_arrow *arrow)
{
    if (arrow->kind == OSC_ARROW_OTHER)
        return osc_trace_str(rows->t, arrow->category);
    return arrow->kind == OSC_ARROW_LAUNCH ? OSC_STR("launch") : OSC_STR("fwdbwd");
}

static void add_row(void *ctx, const struct osc_chain_arrow *arrow)
{
    struct rows *const rows = ctx;

    osc_result_row(rows->out);
    const osc_sid word = osc_result_word(rows->out, kind_text(rows, arrow));
    if (word.v != 0) /* 0: no category */
        osc_result_sid(rows->out, KIND, word);
    add_end(rows, FROM_ID, arrow->from);
    add_end(rows, TO_ID, arrow->to);
    rows->n_from += arrow->from == 0;
    rows->n_to += arrow->to == 0;
}

static void add_notes(const struct rows *rows, const struct osc_chains_count *count)
{
    struct osc_result *const out = rows->out;

    if (count->n_records == 0)
        osc_result_why_empty(out, "no arrows in the trace");
    if (rows->n_from > 0)
        osc_result_note(out, "%llu of %llu arrows start at no event of the trace",
                        (unsigned long long)rows->n_from, (unsigned long long)out->n_rows);
    if (rows->n_to > 0)
        osc_result_note(out, "%llu of %llu arrows end at no event of the trace",
                        (unsigned long long)rows->n_to, (unsigned long long)out->n_rows);
    if (count->n_nothing > 0)
        osc_result_note(out, "left out: arrows with neither end in the trace (%llu)",
                        (unsigned long long)count->n_nothing);
    if (count->n_anonymous > 0)
        osc_result_note(out, "left out: ends of arrows without an id (%llu)",
                        (unsigned long long)count->n_anonymous);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct rows rows = {.t = t, .out = out};
    struct osc_chains_count count;
    osc_status st = osc_chains_each(t, OSC_CHAINS_ALL, &count, add_row, &rows);

    (void)o;
    if (st == OSC_OK) {
        add_notes(&rows, &count);
        st = out->status;
    }
    return st == OSC_OK ? st : osc_fail(err, st, "flows: %s", osc_status_text(st));
}

const struct osc_table_def osc_table_flows = {
    .name = "flows",
    .help = "Arrows between events: from launches to device work, from forward to backward.",
    .source = "the arrows of the trace, and the ranges at their ends.",
    .rules = OSC_RULE_ARROWS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    OSC_MAPS(.facts = OSC_FACT_ORDER, .map = map),
};
