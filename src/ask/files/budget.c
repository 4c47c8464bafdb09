/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/budget.h"

#include "base/cgroup.h"

/* Tables that need no facts. */
static const struct osc_import_reserve for_lists = {
    .event_bytes = 32, .other_bytes = 64, .string_bytes = 96, .track_bytes = 128};

/* Facts for a table that streams. */
static const struct osc_import_reserve for_facts = {.event_bytes = 112,
                                                    .other_bytes = 64,
                                                    .string_bytes = 96,
                                                    .track_bytes = 320,
                                                    .form_bytes = 64};

/* Facts, trees and groups; there may be one group for each name. */
static const struct osc_import_reserve for_groups = {.event_bytes = 144,
                                                     .other_bytes = 64,
                                                     .string_bytes = 640,
                                                     .track_bytes = 320,
                                                     .form_bytes = 64};

/*
 * Each distinct string, track and form as text. In addition, the thread that makes the text
 * and the one that compresses it use 8 MiB each.
 */
static const struct osc_import_reserve for_export = {.event_bytes = 16,
                                                     .other_bytes = 16,
                                                     .string_bytes = 96,
                                                     .track_bytes = 128,
                                                     .form_bytes = 512,
                                                     .fixed_bytes = 16 << 20};

/* Bytes of a row that is kept for sorting: for each column, and for the row itself. */
#define CELL_BYTES 7u
#define ROW_BYTES  80u

/* Bytes of an event as columns, which double as they grow, and of its distinct texts. */
#define FRAME_EVENT_BYTES 320u

size_t osc_budget_limit(uint64_t max_bytes)
{
    const uint64_t limit = max_bytes > 0 ? max_bytes : osc_cgroup_default_memory();

    return limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

struct osc_import_reserve osc_budget_for_table(const struct osc_table_def *def, bool is_sorted,
                                               bool is_all)
{
    struct osc_import_reserve r = for_groups;

    if (def->composition)
        return r;
    if (osc_table_facts(def) == 0 && is_all)
        return for_lists;
    if (!def->stream)
        return osc_table_facts(def) == 0 ? for_facts : r;
    r = for_facts;
    if (is_sorted) {
        r.event_bytes += def->n_columns * CELL_BYTES + ROW_BYTES;
        r.for_text = true; /* the arguments are a column of text */
    }
    return r;
}

struct osc_import_reserve osc_budget_for_tables(void)
{
    return for_groups;
}

struct osc_import_reserve osc_budget_for_frames(void)
{
    struct osc_import_reserve r = for_groups;

    /* The table with most rows is events, where the arguments of each row are a new text. */
    r.event_bytes += FRAME_EVENT_BYTES;
    r.for_text = true;
    return r;
}

struct osc_import_reserve osc_budget_for_export(bool has_facts)
{
    struct osc_import_reserve r = for_export;

    if (has_facts) {
        r.event_bytes += for_facts.event_bytes;
        r.track_bytes += for_facts.track_bytes;
    }
    return r;
}

const char *osc_budget_way_out(osc_status st)
{
    return st == OSC_ELIMIT ? "; select with --from/--to or --steps, drop arguments with "
                              "--no-args, or raise --max-memory"
                            : "";
}
