/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_late.h"

#include "analysis/ranks/late.h"
#include "analysis/table_columns.h"
#include "cli/screen/screen_read.h"

#define LATE_LINES 4

/* The row of `stragglers` of the rank that lets the others wait. */
static bool find(const struct osc_screen *s, const struct osc_result **r, uint64_t *row)
{
    const struct osc_answer *const a = osc_screen_answer(s, OSC_SCREEN_STRAGGLERS);

    *r = a->n_blocks > 0 ? &a->blocks[0].result : NULL;
    return *r && osc_late_find(*r, row);
}

int64_t osc_screen_late_rank(const struct osc_screen *s)
{
    const struct osc_result *r;
    uint64_t row;

    return find(s, &r, &row) ? osc_result_get_int(r, row, osc_column_stragglers_rank) : -1;
}

void osc_screen_put_late(struct osc_page *p)
{
    const struct osc_result *r;
    struct osc_strbuf text = {0};
    uint64_t row;

    if (!find(p->s, &r, &row))
        return;
    osc_page_title(p, "LATE");
    osc_strbuf_adds(p->out, "  ");
    osc_late_say(r, row, p->s->args->request.text.full_names, &text);
    if (text.status != OSC_OK)
        p->out->status = text.status;
    osc_page_wrapped(p, (struct osc_str){text.s ? text.s : "", (uint32_t)text.len}, 2, 6,
                     LATE_LINES);
    osc_strbuf_fini(&text);
}
