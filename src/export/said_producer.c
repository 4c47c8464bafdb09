/* SPDX-License-Identifier: Apache-2.0 */
#include "export/said_producer.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/producer.h"

osc_status osc_said_producer_keep(struct osc_trace *t)
{
    const enum osc_producer p = (enum osc_producer)t->producer;
    struct osc_strbuf text = {0};
    struct osc_meta m = {.is_string = true};
    struct osc_str value;

    if (p == OSC_PRODUCER_UNKNOWN || p == OSC_PRODUCER_KINETO || p == OSC_PRODUCER_OPSCOPE ||
        osc_trace_meta(t, OSC_PRODUCER_MEMBER, &value))
        return OSC_OK;
    osc_producer_say(p, &text);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, OSC_STR(OSC_PRODUCER_MEMBER), &m.key, NULL);
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, (struct osc_str){text.s, (uint32_t)text.len},
                             &m.value, NULL);
    osc_strbuf_fini(&text);
    if (st != OSC_OK)
        return st;
    struct osc_meta *const metas = osc_realloc(t->metas, (t->n_metas + 1) * sizeof *metas);
    if (!metas)
        return OSC_ENOMEM;
    t->metas = metas;
    t->metas[t->n_metas++] = m;
    return OSC_OK;
}
