/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/late.h"

#include "analysis/table_columns.h"
#include "prose/phrase.h"
#include "prose/words.h"

bool osc_late_find(const struct osc_result *stragglers, uint64_t *row)
{
    const struct osc_result *const r = stragglers;
    int64_t most_ns = 0;
    double all_ns = 0;

    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t ns = osc_result_get_int(r, i, osc_column_stragglers_caused_wait_ns);

        all_ns += (double)ns;
        if (ns > most_ns) {
            most_ns = ns;
            *row = i;
        }
    }
    if (r->n_rows < 2 || most_ns == 0)
        return false;
    const int64_t n_last = osc_result_get_int(r, *row, osc_column_stragglers_times_last);
    const int64_t error_ns = osc_result_get_int(r, *row, osc_column_stragglers_clock_error_ns);

    return n_last > 0 && 2 * (double)most_ns * (double)r->n_rows > 3 * all_ns &&
           (double)most_ns > 3 * (double)error_ns * (double)n_last;
}

#define FACT_LIST(X)                                                                 \
    X(rank, INTEGER, 0)                                                              \
    X(share, PERCENT, 0)                                                             \
    X(wait, NS, 0)                                                                   \
    X(n_last, INTEGER, 0)                                                            \
    X(n, INTEGER, 0) /* collectives */                                               \
    X(since, NAME, 0)                                                                \
    X(error, NS, 0)                                                                  \
    X(note, TEXT, 0)                                                                 \
    X(operator, TEXT, 0)                                                             \
    X(longer, NS, 0)                                                                 \
    X(sentence, PHRASE,                                                              \
      "rank {rank} lets the others wait: {share} of all waiting in collectives "     \
      "({wait}), last in {n_last} of {n}{since? since step {since}}{error?, clocks " \
      "right to {error}}{note?; {note}|{operator?: {operator} took {longer} longer " \
      "than on the median rank}}")
OSC_PROSE(osc_late_prose, FACT_LIST);

void osc_late_say(const struct osc_result *stragglers, uint64_t row, bool has_full_names,
                  struct osc_strbuf *out)
{
    const struct {
        unsigned fact;
        uint32_t column;
    } numbers[] = {{FACT_rank, osc_column_stragglers_rank},
                   {FACT_wait, osc_column_stragglers_caused_wait_ns},
                   {FACT_n_last, osc_column_stragglers_times_last},
                   {FACT_n, osc_column_stragglers_collectives},
                   {FACT_error, osc_column_stragglers_clock_error_ns},
                   {FACT_longer, osc_column_stragglers_operator_ns}},
      texts[] = {{FACT_since, osc_column_stragglers_since_step},
                 {FACT_note, osc_column_stragglers_note}};
    const struct osc_result *const r = stragglers;
    struct osc_prose_facts facts = {.prose = &osc_late_prose};
    struct osc_strbuf name = {0};

    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (osc_result_has(r, row, numbers[k].column))
            osc_prose_number(&facts, numbers[k].fact,
                             osc_result_get_int(r, row, numbers[k].column));
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (osc_result_has(r, row, texts[k].column))
            osc_prose_text(&facts, texts[k].fact, osc_result_get_str(r, row, texts[k].column));
    osc_prose_real(&facts, FACT_share,
                   osc_result_get_num(r, row, osc_column_stragglers_caused_ratio));
    if (osc_result_has(r, row, osc_column_stragglers_operator)) {
        osc_words_symbol(&name, osc_result_get_str(r, row, osc_column_stragglers_operator),
                         has_full_names);
        osc_prose_text(&facts, FACT_operator, (struct osc_str){name.s, (uint32_t)name.len});
    }
    osc_prose_say(out, &facts, FACT_sentence);
    if (name.status != OSC_OK)
        out->status = name.status;
    osc_strbuf_fini(&name);
}
