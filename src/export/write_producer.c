/* SPDX-License-Identifier: Apache-2.0 */
#include "export/write_producer.h"

#include "base/strbuf.h"
#include "model/add_member.h"
#include "model/producer.h"

osc_status osc_write_producer(struct osc_trace *t)
{
    const enum osc_producer p = (enum osc_producer)t->producer;
    struct osc_strbuf text = {0};
    struct osc_str value;

    if (p == OSC_PRODUCER_UNKNOWN || p == OSC_PRODUCER_KINETO || p == OSC_PRODUCER_OPSCOPE ||
        osc_trace_meta(t, OSC_PRODUCER_MEMBER, &value))
        return OSC_OK;
    osc_producer_say(p, &text);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_add_member(t, OSC_STR(OSC_PRODUCER_MEMBER),
                            (struct osc_str){text.s, (uint32_t)text.len}, true);
    osc_strbuf_fini(&text);
    return st;
}
