/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_late.h"

#include "analysis/table_columns.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "cli/screen/screen_read.h"
#include "names/labels.h"
#include "render/units.h"

#define LATE_LINES 4
#define NAME_WIDTH 60

/* The rows of `stragglers`; NULL: there are none of several ranks. */
static const struct osc_result *rows_of(const struct osc_screen *s)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STRAGGLERS);

    return a->n_blocks > 0 && a->blocks[0].result.n_rows > 1 ? &a->blocks[0].result : NULL;
}

/* Set *ROW to the row with the most waiting, and *ALL_NS to the waiting for all ranks. */
static bool find(const struct osc_result *r, uint64_t *row, double *all_ns)
{
    int64_t most_ns = 0;

    *all_ns = 0;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const int64_t ns = osc_result_get_int(r, i, osc_column_stragglers_caused_wait_ns);

        *all_ns += (double)ns;
        if (ns > most_ns) {
            most_ns = ns;
            *row = i;
        }
    }
    const int64_t n_last =
        most_ns > 0 ? osc_result_get_int(r, *row, osc_column_stragglers_times_last) : 0;
    const double error_ns =
        most_ns > 0 ? (double)osc_result_get_int(r, *row, osc_column_stragglers_clock_error_ns)
                    : 0;
    /* More than its share by half, and beyond the error of the clocks. */
    return n_last > 0 && 2 * (double)most_ns * (double)r->n_rows > 3 * *all_ns &&
           (double)most_ns > 3 * error_ns * (double)n_last;
}

/* Append NAME, of what made a rank late, as the table shows it. */
static osc_status add_name(struct osc_strbuf *text, struct osc_str name, bool is_full)
{
    struct osc_labels labels = {0};
    osc_sid id;
    osc_status st = osc_labels_add(&labels, name, !is_full, &id);

    if (st == OSC_OK)
        st = osc_labels_compose(&labels, NAME_WIDTH, NAME_WIDTH);
    if (st == OSC_OK)
        osc_strbuf_addstr(text, osc_labels_get(&labels, id));
    osc_labels_fini(&labels);
    return st;
}

/* Append why rank ROW was late. */
static void add_why(const struct osc_page *p, struct osc_strbuf *text,
                    const struct osc_result *r, uint64_t row)
{
    if (osc_result_has(r, row, osc_column_stragglers_note)) {
        osc_strbuf_adds(text, "; ");
        osc_strbuf_addstr(text, osc_result_get_str(r, row, osc_column_stragglers_note));
    } else if (osc_result_has(r, row, osc_column_stragglers_operator)) {
        osc_strbuf_adds(text, ": ");
        if (add_name(text, osc_result_get_str(r, row, osc_column_stragglers_operator),
                     p->s->args->request.text.full_names) != OSC_OK)
            text->status = OSC_ENOMEM;
        osc_strbuf_adds(text, " took ");
        osc_units_time(text,
                       (double)osc_result_get_int(r, row, osc_column_stragglers_operator_ns));
        osc_strbuf_adds(text, " longer than on the median rank");
    }
}

int64_t osc_screen_late_rank(const struct osc_screen *s)
{
    const struct osc_result *const r = rows_of(s);
    uint64_t row;
    double all_ns;

    return r && find(r, &row, &all_ns) ? osc_result_get_int(r, row, osc_column_stragglers_rank)
                                       : -1;
}

void osc_screen_put_late(struct osc_page *p)
{
    const struct osc_result *const r = rows_of(p->s);
    struct osc_strbuf text = {0};
    uint64_t row;
    double all_ns;

    if (!r || !find(r, &row, &all_ns))
        return;
    osc_page_title(p, "LATE");
    osc_strbuf_adds(p->out, "  ");
    osc_strbuf_addf(&text, "rank %lld lets the others wait: ",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_rank));
    osc_percent_add(&text, osc_result_get_num(r, row, osc_column_stragglers_caused_ratio), 0);
    osc_strbuf_adds(&text, " of all waiting in collectives (");
    osc_units_time(&text,
                   (double)osc_result_get_int(r, row, osc_column_stragglers_caused_wait_ns));
    osc_strbuf_adds(&text, "), last in ");
    osc_strbuf_addf(&text, "%lld of %lld",
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_times_last),
                    (long long)osc_result_get_int(r, row, osc_column_stragglers_collectives));
    if (osc_result_has(r, row, osc_column_stragglers_since_step)) {
        osc_strbuf_adds(&text, " since step ");
        osc_utf8_append_terminal(&text,
                                 osc_result_get_str(r, row, osc_column_stragglers_since_step));
    }
    if (osc_result_has(r, row, osc_column_stragglers_clock_error_ns)) {
        osc_strbuf_adds(&text, ", clocks right to ");
        osc_units_time(
            &text, (double)osc_result_get_int(r, row, osc_column_stragglers_clock_error_ns));
    }
    add_why(p, &text, r, row);
    if (text.status != OSC_OK)
        p->out->status = text.status;
    osc_page_wrapped(p, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len}, 2, 6,
                     LATE_LINES);
    osc_strbuf_fini(&text);
}
