/* SPDX-License-Identifier: Apache-2.0 */
#include "model/add_member.h"

#include "base/mem.h"

osc_status osc_add_member(struct osc_trace *t, struct osc_str key, struct osc_str text,
                          bool is_string)
{
    struct osc_meta m = {.is_string = is_string};
    osc_status st = osc_strings_add(&t->strings, key, &m.key, NULL);

    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, text, &m.value, NULL);
    if (st != OSC_OK)
        return st;
    struct osc_meta *const metas = osc_realloc(t->metas, (t->n_metas + 1) * sizeof *metas);
    if (!metas)
        return OSC_ENOMEM;
    t->metas = metas;
    t->metas[t->n_metas++] = m;
    return OSC_OK;
}
