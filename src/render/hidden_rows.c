/* SPDX-License-Identifier: Apache-2.0 */
#include "render/hidden_rows.h"

#include <inttypes.h>

#include "render/wrap.h"

void osc_hidden_rows_add(struct osc_strbuf *out, const struct osc_sheet *s, size_t width)
{
    struct osc_strbuf text = {0};

    if (s->n_more > 0)
        osc_strbuf_addf(&text, "%" PRIu64 " more%s", s->n_more,
                        s->n_alike > 0   ? " and "
                        : s->n_more == 1 ? " row"
                                         : " rows");
    if (s->n_alike > 0)
        osc_strbuf_addf(&text, "%" PRIu64 " %s without a difference in these times", s->n_alike,
                        s->n_alike == 1 ? "row" : "rows");
    osc_strbuf_adds(&text, "; --limit 0 shows all");
    osc_wrap_message(out, osc_str_c(text.s ? text.s : ""), width);
    osc_strbuf_addc(out, '\n');
    if (text.status != OSC_OK)
        out->status = text.status;
    osc_strbuf_fini(&text);
}
