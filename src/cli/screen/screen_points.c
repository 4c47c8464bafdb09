/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/screen_points.h"

#include "analysis/table_columns.h"
#include "cli/screen/screen_workers.h"

/* Append the name of row I of R, what it is, and who wrote it. */
static void add_point_name(const struct osc_result *r, uint64_t i, struct osc_strbuf *out)
{
    const struct osc_str thread = osc_result_get_str(r, i, osc_column_points_thread),
                         thread_name = osc_result_get_str(r, i, osc_column_points_thread_name);

    osc_strbuf_addstr(out, osc_result_get_str(r, i, osc_column_points_name));
    if (osc_result_has(r, i, osc_column_points_series)) {
        osc_strbuf_addc(out, ' ');
        osc_strbuf_addstr(out, osc_result_get_str(r, i, osc_column_points_series));
    }
    osc_strbuf_adds(out, " (");
    osc_strbuf_addstr(out, osc_result_get_str(r, i, osc_column_points_kind));
    osc_strbuf_adds(out, "), ");
    osc_screen_add_name(out, "process",
                        osc_result_get_str(r, i, osc_column_points_process_name),
                        osc_result_get_str(r, i, osc_column_points_process));
    if (thread.len + thread_name.len == 0)
        return;
    osc_strbuf_adds(out, " / ");
    osc_screen_add_name(out, "thread", thread_name, thread);
}

osc_status osc_screen_find_points(const struct osc_screen *s, struct osc_arena *arena,
                                  struct osc_top_row *rows, unsigned max, unsigned *n_rows)
{
    const struct osc_answer_block *const b =
        &osc_screen_answer(s, OSC_SCREEN_POINTS)->blocks[0];
    struct osc_strbuf text = {0};

    *n_rows = 0;
    if (osc_screen_merged(s, OSC_SCREEN_RANGES)->n_rows > 0)
        return OSC_OK;
    for (uint64_t k = 0; k < b->result.n_rows && *n_rows < max; k++) {
        const uint64_t i = b->order ? b->order[k] : k;

        osc_strbuf_clear(&text);
        add_point_name(&b->result, i, &text);
        const char *const name = osc_arena_dup(arena, text.s ? text.s : "", text.len);
        if (text.status != OSC_OK || !name) {
            osc_strbuf_fini(&text);
            return OSC_ENOMEM;
        }
        rows[(*n_rows)++] = (struct osc_top_row){
            .row = i,
            .name = {name, (uint32_t)text.len},
            .calls = osc_result_get_int(&b->result, i, osc_column_points_events),
            .ns = osc_result_get_int(&b->result, i, osc_column_points_first_ns)};
    }
    osc_strbuf_fini(&text);
    return OSC_OK;
}
