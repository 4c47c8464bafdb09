/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/loaded.h"

#include "ask/files/budget.h"
#include "ask/files/held.h"

osc_status osc_loaded_fail(const struct osc_loaded *l, const struct osc_trace *t, osc_status st,
                           const char *doing, struct osc_err *err)
{
    const osc_status reason = osc_mem_reason(st);
    const char *name = l->operand       ? l->operand
                       : l->files.n > 0 ? l->files.all[0]
                                        : "traces",
               *more = "";

    if (st != OSC_ENOMEM)
        return st;
    if (t)
        name = osc_trace_str(t, t->source).s;
    else if (!l->operand && l->files.n > 1)
        more = " and others";
    return osc_fail(err, reason, "%s%s: %s while %s%s", name, more,
                    reason == OSC_ELIMIT ? "memory limit reached" : osc_status_text(st), doing,
                    osc_budget_way_out(reason));
}

void osc_loaded_fini(struct osc_loaded *l)
{
    for (uint32_t i = 0; i < l->n_traces; i++)
        osc_held_release(osc_held_of(l->traces[i]));
    osc_free(l->traces);
    osc_free(l->paths);
    osc_free(l->units);
    osc_free(l->is_other);
    osc_part_links_fini(&l->links);
    osc_paths_fini(&l->files);
    osc_free(l->torch_version);
    osc_strbuf_fini(&l->notes);
    *l = (struct osc_loaded){0};
}
