/* SPDX-License-Identifier: Apache-2.0 */
#include "export/write_step_bounds.h"

#include "base/strbuf.h"
#include "model/add_member.h"

/* Whether M is one of the members, which may be of a trace of which this is a part. */
static bool is_ours(const struct osc_trace *t, const struct osc_meta *m)
{
    const struct osc_str key = osc_trace_str(t, m->key);

    return osc_str_eq(key, OSC_STR(OSC_STEPS_MEMBER)) ||
           osc_str_eq(key, OSC_STR(OSC_BYSTANDERS_MEMBER)) ||
           osc_str_eq(key, OSC_STR(OSC_COLLECTIVES_MEMBER));
}

static void forget(struct osc_trace *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_metas; i++) {
        if (!is_ours(t, &t->metas[i]))
            t->metas[n++] = t->metas[i];
    }
    t->n_metas = n;
}

static void say_steps(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 0; i < t->n_step_bounds; i++) {
        const struct osc_step_bound *const s = &t->step_bounds[i];
        const unsigned flags = (s->is_behind_device ? OSC_STEPS_BEHIND_DEVICE : 0u) |
                               (s->is_tail ? OSC_STEPS_TAIL : 0u) |
                               (s->is_empty ? OSC_STEPS_EMPTY : 0u) |
                               (t->has_comm_kernels ? OSC_STEPS_COMM_KERNELS : 0u);

        osc_strbuf_addf(text, "%s[%lld,%lld,%lld,%u]", i > 0 ? "," : "[", (long long)s->host_ns,
                        (long long)s->start_ns, (long long)s->end_ns, flags);
    }
    osc_strbuf_addc(text, ']');
}

static void say_bystanders(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 0; i < t->n_bystanders; i++) {
        const struct osc_bystander *const b = &t->bystanders[i];

        osc_strbuf_addf(text, "%s[%lld,%lld,%u,%u]", i > 0 ? "," : "[", (long long)b->start_ns,
                        (long long)b->end_ns, b->class, b->rules);
    }
    osc_strbuf_addc(text, ']');
}

static void say_collectives(const struct osc_trace *t, struct osc_strbuf *text)
{
    for (uint32_t i = 0; i < t->n_collectives; i++)
        osc_strbuf_addf(text, "%s%lld", i > 0 ? "," : "[", (long long)t->collectives[i]);
    osc_strbuf_addc(text, ']');
}

/* Add the member KEY, whose value SAY writes. */
static osc_status add(struct osc_trace *t, struct osc_str key,
                      void (*say)(const struct osc_trace *, struct osc_strbuf *))
{
    struct osc_strbuf text = {0};

    say(t, &text);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_add_member(t, key, (struct osc_str){text.s, (uint32_t)text.len}, false);
    osc_strbuf_fini(&text);
    return st;
}

osc_status osc_write_step_bounds(struct osc_trace *t)
{
    osc_status st = OSC_OK;

    forget(t);
    if (t->n_step_bounds > 0)
        st = add(t, OSC_STR(OSC_STEPS_MEMBER), say_steps);
    if (st == OSC_OK && t->n_step_bounds > 0 && t->n_bystanders > 0)
        st = add(t, OSC_STR(OSC_BYSTANDERS_MEMBER), say_bystanders);
    if (st == OSC_OK && t->n_step_bounds > 0 && t->n_collectives > 0)
        st = add(t, OSC_STR(OSC_COLLECTIVES_MEMBER), say_collectives);
    return st;
}
