/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/late.h"

#include "analysis/table_columns.h"
#include "base/percent.h"
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

/* Append why rank ROW was late. */
static void add_why(struct osc_strbuf *out, const struct osc_result *r, uint64_t row,
                    bool has_full_names)
{
    if (osc_result_has(r, row, osc_column_stragglers_note)) {
        osc_strbuf_adds(out, "; ");
        osc_strbuf_addstr(out, osc_result_get_str(r, row, osc_column_stragglers_note));
    } else if (osc_result_has(r, row, osc_column_stragglers_operator)) {
        osc_strbuf_adds(out, ": ");
        osc_words_symbol(out, osc_result_get_str(r, row, osc_column_stragglers_operator),
                         has_full_names);
        osc_strbuf_adds(out, " took ");
        osc_words_time(out, osc_result_get_int(r, row, osc_column_stragglers_operator_ns));
        osc_strbuf_adds(out, " longer than on the median rank");
    }
}

void osc_late_say(const struct osc_result *stragglers, uint64_t row, bool has_full_names,
                  struct osc_strbuf *out)
{
    const struct osc_result *const r = stragglers;

    osc_strbuf_addf(out, "rank %lld lets the others wait: ",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_rank));
    osc_percent_add(out, osc_result_get_num(r, row, osc_column_stragglers_caused_ratio), 0);
    osc_strbuf_adds(out, " of all waiting in collectives (");
    osc_words_time(out, osc_result_get_int(r, row, osc_column_stragglers_caused_wait_ns));
    osc_strbuf_addf(out, "), last in %lld of %lld",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_times_last),
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_collectives));
    if (osc_result_has(r, row, osc_column_stragglers_since_step)) {
        osc_strbuf_adds(out, " since step ");
        osc_words_name(out, osc_result_get_str(r, row, osc_column_stragglers_since_step));
    }
    if (osc_result_has(r, row, osc_column_stragglers_clock_error_ns)) {
        osc_strbuf_adds(out, ", clocks right to ");
        osc_words_time(out, osc_result_get_int(r, row, osc_column_stragglers_clock_error_ns));
    }
    add_why(out, r, row, has_full_names);
}
