/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `collective_calls`: each collective of a group, over its ranks.
 */
#include "analysis/table_registry.h"

#include "analysis/ranks/calls.h"
#include "analysis/ranks/clocks.h"
#include "analysis/ranks/expected.h"
#include "analysis/ranks/rank_run.h"
#include "base/mem.h"
#include "derive/facts.h"

enum {
    NAME,
    GROUP,
    SIZE,
    SEQUENCE,
    SPAN,
    DTYPE,
    BYTES,
    PARTICIPANTS,
    MISSING_RANKS,
    START,
    SKEW,
    LAST_RANK,
    TRANSFER,
    SHORTEST,
    END_SKEW,
    ALGBW,
    BUSBW,
    MATCHED_BY,
    NOTE,
    N_SHOWN
};

static const struct osc_column columns[N_SHOWN + OSC_RANK_HIDDEN] = {
    OSC_COLUMN(NAME, "name", STRING, NULL, FIRST, OSC_COLUMN_SYMBOL, 0,
               "Name of the collective on the first rank that has it."),
    OSC_COLUMN(GROUP, "group", STRING, NULL, FIRST, 0, 0,
               "Name of the process group; missing if the file does not say it."),
    OSC_COLUMN(SIZE, "size", INTEGER, NULL, FIRST, 0, 0,
               "Ranks in the group; without a recorded size the participants, if they are all "
               "ranks of the run (`distributedInfo.world_size`)."),
    OSC_COLUMN(SEQUENCE, "sequence", INTEGER, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Number of the collective in its group, if it was recorded."),
    OSC_COLUMN(SPAN, "span", INTEGER, NULL, FIRST, OSC_COLUMN_OPTIONAL, OSC_RULE_RANKS,
               "Recording window, if there are several."),
    OSC_COLUMN(DTYPE, "dtype", STRING, NULL, FIRST, OSC_COLUMN_MINOR, 0,
               "Type of an element, as the program names it."),
    OSC_COLUMN(BYTES, "bytes", INTEGER, "bytes", FIRST, 0, 0,
               "Bytes of the message, the largest of all ranks; missing if it is not known."),
    OSC_COLUMN(PARTICIPANTS, "participants", INTEGER, NULL, FIRST, 0, 0,
               "Ranks that have the collective."),
    OSC_COLUMN(MISSING_RANKS, "missing_ranks", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL, 0,
               "Ranks that were read and belong to the group, but do not have it."),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT,
               OSC_RULE_CLOCKS | OSC_RULE_TIME,
               "Start on the first rank, on the common clock."),
    OSC_COLUMN(SKEW, "skew_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_CLOCKS,
               "Start on the last rank - start on the first one, on the common clock: how long "
               "the first one waited. Missing if the clocks cannot be compared."),
    OSC_COLUMN(LAST_RANK, "last_rank", INTEGER, NULL, FIRST, 0, OSC_RULE_CLOCKS,
               "Rank that came last, if several have it; of several the lowest."),
    OSC_COLUMN(TRANSFER, "transfer_ns", INTEGER, "ns", FIRST, 0, OSC_RULE_CLOCKS,
               "Last end - last start, on the common clock; shortest_ns where that is not "
               "above 0 or clocks cannot be compared."),
    OSC_COLUMN(SHORTEST, "shortest_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, 0,
               "The shortest duration on any rank, which no clock changes."),
    OSC_COLUMN(END_SKEW, "end_skew_ns", INTEGER, "ns", FIRST, OSC_COLUMN_DEEP, OSC_RULE_CLOCKS,
               "Last end - first end, on the common clock."),
    OSC_COLUMN(ALGBW, "algbw_bytes_per_s", NUMBER, "bytes/s", FIRST, 0, 0,
               "Algorithm bandwidth: bytes / transfer_ns."),
    OSC_COLUMN(BUSBW, "busbw_bytes_per_s", NUMBER, "bytes/s", FIRST, 0, 0,
               "Bus bandwidth: algbw_bytes_per_s * what the links carry of each byte among n "
               "ranks: 2 (n - 1) / n for all_reduce; (n - 1) / n for all_gather, "
               "reduce_scatter, all_to_all, gather and scatter; 1 for broadcast, reduce, send "
               "and recv."),
    OSC_COLUMN(MATCHED_BY, "matched_by", STRING, NULL, FIRST, OSC_COLUMN_DEEP, 0,
               "sequence or order: by what its calls on the ranks were matched."),
    OSC_COLUMN(NOTE, "note", STRING, NULL, FIRST, OSC_COLUMN_OPTIONAL | OSC_COLUMN_BELOW, 0,
               "Why ranks are missing, or that the clocks cannot be compared."),
    OSC_RANK_COLUMNS(N_SHOWN, FIRST),
};

/* What the members of a match are together. */
struct seen {
    int64_t first_start_ns, last_start_ns, first_end_ns, last_end_ns, shortest_ns;
    int64_t bytes;
    uint32_t n_ranks;
    int32_t last_rank;
    bool is_comparable;
};

static struct seen look(const struct osc_rank_run *run, const struct osc_rank_clock *clocks,
                        const struct osc_rank_match *m)
{
    struct seen s = {.first_start_ns = INT64_MAX,
                     .last_start_ns = INT64_MIN,
                     .first_end_ns = INT64_MAX,
                     .last_end_ns = INT64_MIN,
                     .shortest_ns = INT64_MAX,
                     .bytes = -1,
                     .is_comparable = osc_rank_is_comparable(run, clocks, m)};
    int32_t before = -1;

    for (uint32_t k = 0; k < m->n; k++) {
        const struct osc_rank_member at = run->members[m->first + k];
        const struct osc_rank_file *const f = &run->files[at.file];
        const struct osc_rank_call *const c = osc_rank_call_of(run, at);
        const int64_t start_ns =
            osc_rank_clock_time(&clocks[at.file], c->start_ns + f->base_ns);
        const int64_t end_ns = osc_rank_clock_time(&clocks[at.file], c->end_ns + f->base_ns);
        const int64_t dur_ns = c->end_ns - c->start_ns;

        if (start_ns > s.last_start_ns) {
            s.last_start_ns = start_ns;
            s.last_rank = f->rank;
        }
        s.first_start_ns = start_ns < s.first_start_ns ? start_ns : s.first_start_ns;
        s.first_end_ns = end_ns < s.first_end_ns ? end_ns : s.first_end_ns;
        s.last_end_ns = end_ns > s.last_end_ns ? end_ns : s.last_end_ns;
        s.shortest_ns = dur_ns < s.shortest_ns ? dur_ns : s.shortest_ns;
        s.bytes = c->bytes > s.bytes ? c->bytes : s.bytes;
        s.n_ranks += f->rank != before;
        before = f->rank;
    }
    return s;
}

static void add_bandwidth(struct osc_result *out, const struct seen *s, int64_t transfer_ns,
                          enum osc_collective op, uint32_t size)
{
    if (s->bytes <= 0 || transfer_ns <= 0)
        return;
    const double algorithm = (double)s->bytes * 1e9 / (double)transfer_ns;
    const double factor = osc_collective_bus_factor(op, size);

    osc_result_num(out, ALGBW, algorithm);
    if (factor > 0)
        osc_result_num(out, BUSBW, algorithm * factor);
}

static void add_times(struct osc_result *out, const struct seen *s,
                      const struct osc_rank_call *c, uint32_t size)
{
    int64_t transfer_ns = s->shortest_ns;

    osc_result_int(out, START, s->first_start_ns);
    osc_result_int(out, SHORTEST, s->shortest_ns);
    if (s->is_comparable) {
        osc_result_int(out, SKEW, s->last_start_ns - s->first_start_ns);
        osc_result_int(out, END_SKEW, s->last_end_ns - s->first_end_ns);
        if (s->n_ranks > 1)
            osc_result_int(out, LAST_RANK, s->last_rank);
        if (s->last_end_ns > s->last_start_ns)
            transfer_ns = s->last_end_ns - s->last_start_ns;
    }
    osc_result_int(out, TRANSFER, transfer_ns);
    add_bandwidth(out, s, transfer_ns, (enum osc_collective)c->op, size);
}

static void add_word(struct osc_result *out, uint32_t column, const struct osc_rank_run *run,
                     uint32_t word)
{
    if (word)
        osc_result_str(out, column, osc_rank_text(&run->words, word));
}

/* Add what E found about ranks that lack match NUMBER. */
static osc_status add_missing(struct osc_result *out, struct osc_expected *e, uint32_t number,
                              const struct seen *s)
{
    struct osc_strbuf ranks = {0}, note = {0};
    osc_status st = osc_expected_find(e, number);

    if (st == OSC_OK)
        osc_expected_tell(e, &ranks, &note);
    if (!s->is_comparable)
        osc_strbuf_addf(&note, "%sits clocks cannot be compared", note.len > 0 ? "; " : "");
    if (ranks.len > 0) {
        osc_result_show(out, MISSING_RANKS);
        osc_result_str(out, MISSING_RANKS, (struct osc_str){ranks.s, (uint32_t)ranks.len});
    }
    if (note.len > 0) {
        osc_result_show(out, NOTE);
        osc_result_str(out, NOTE, (struct osc_str){note.s, (uint32_t)note.len});
    }
    if (st == OSC_OK)
        st = ranks.status != OSC_OK ? ranks.status : note.status;
    osc_strbuf_fini(&ranks);
    osc_strbuf_fini(&note);
    return st;
}

static osc_status add_row(struct osc_result *out, const struct osc_rank_run *run,
                          const struct osc_rank_clock *clocks, struct osc_expected *e,
                          uint32_t number)
{
    const struct osc_rank_match *const m = &run->matches[number];
    const struct osc_rank_member first = run->members[m->first];
    const struct osc_rank_call *const c = osc_rank_call_of(run, first);
    const struct seen s = look(run, clocks, m);
    const uint32_t world = run->files[first.file].part.world_size;
    const uint32_t size = c->size ? c->size : s.n_ranks == world ? world : 0;

    osc_result_row(out);
    add_word(out, NAME, run, c->name);
    add_word(out, GROUP, run, c->group);
    add_word(out, DTYPE, run, c->dtype);
    if (size)
        osc_result_int(out, SIZE, size);
    if (c->seq >= 0)
        osc_result_int(out, SEQUENCE, c->seq);
    osc_result_int(out, SPAN, run->files[first.file].span);
    if (s.bytes >= 0)
        osc_result_int(out, BYTES, s.bytes);
    osc_result_int(out, PARTICIPANTS, s.n_ranks);
    osc_result_str(out, MATCHED_BY, m->is_ordered ? OSC_STR("order") : OSC_STR("sequence"));
    add_times(out, &s, c, size);
    return add_missing(out, e, number, &s);
}

static osc_status fill(struct osc_result *out, const struct osc_rank_run *run,
                       const struct osc_options *o)
{
    struct osc_rank_clock *const clocks = osc_calloc(run->n_files + 1, sizeof *clocks);
    struct osc_expected e = {0};
    uint32_t n_components = 0;
    osc_status st = clocks ? osc_rank_clocks_fit(run, clocks, &n_components) : OSC_ENOMEM;

    (void)o;
    if (st == OSC_OK)
        st = osc_expected_init(&e, run, clocks);
    for (size_t k = 0; k < run->n_matches && st == OSC_OK && out->status == OSC_OK; k++)
        st = add_row(out, run, clocks, &e, (uint32_t)k);
    if (st == OSC_OK)
        st = osc_expected_note(&e, out);
    osc_expected_fini(&e);
    osc_free(clocks);
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    static const struct osc_rank_table table = {SPAN, "no collectives were recorded", fill};

    return osc_rank_finish(r, o, &table, err);
}

const struct osc_table_def osc_table_collective_calls = {
    .name = "collective_calls",
    .help = "Each collective, over the ranks of its group: who came last, by how much, and how "
            "fast data moved.",
    .source = "collectives of all ranks, matched, on a common clock.",
    .rules = OSC_RULE_COLLECTIVES,
    .columns = columns,
    .n_columns = N_SHOWN + OSC_RANK_HIDDEN,
    OSC_MAPS(.facts = OSC_CALLS_FACTS, .joins_ranks = true, .map = osc_rank_map,
             .place = osc_rank_place, .finish = finish),
};
