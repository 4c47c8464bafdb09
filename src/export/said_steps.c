/* SPDX-License-Identifier: Apache-2.0 */
#include "export/said_steps.h"

#include "base/strbuf.h"
#include "export/said_member.h"

/* Remove the member, which may be that of a trace of which T is a part. */
static void forget(struct osc_trace *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (!osc_str_eq(osc_trace_str(t, t->metas[i].key), OSC_STR(OSC_STEPS_MEMBER)))
            t->metas[n++] = t->metas[i];
    }
    t->n_metas = n;
}

static void say(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 0; i < t->n_step_bounds; i++) {
        const struct osc_step_bound *const s = &t->step_bounds[i];
        const unsigned flags = (s->is_behind_device ? OSC_STEPS_BEHIND_DEVICE : 0u) |
                               (s->is_tail ? OSC_STEPS_TAIL : 0u);

        osc_strbuf_addf(text, "%s[%lld,%lld,%lld,%u]", i > 0 ? "," : "[", (long long)s->host_ns,
                        (long long)s->start_ns, (long long)s->end_ns, flags);
    }
    osc_strbuf_addc(text, ']');
}

osc_status osc_said_steps_keep(struct osc_trace *t)
{
    struct osc_strbuf text = {0};

    forget(t);
    if (t->n_step_bounds == 0)
        return OSC_OK;
    say(t, &text);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_said_member_add(t, OSC_STR(OSC_STEPS_MEMBER),
                                 (struct osc_str){text.s, (uint32_t)text.len}, false);
    osc_strbuf_fini(&text);
    return st;
}
