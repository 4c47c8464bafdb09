/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_callers.h"

void osc_records_callers_fini(struct osc_records_callers *c)
{
    osc_free(c->nodes);
    osc_idmap_fini(&c->known);
    osc_strbuf_fini(&c->text);
    *c = (struct osc_records_callers){0};
}

uint32_t osc_records_callers_enter(struct osc_records_callers *c, struct osc_builder *b,
                                   uint32_t parent, osc_sid name)
{
    uint32_t *const place = osc_idmap_put(&c->known, (uint64_t)parent << 32 | name.v);

    if (!place) {
        b->status = OSC_ENOMEM;
        return 0;
    }
    if (*place == 0) {
        const osc_status st =
            osc_build_grow(&c->nodes, &c->cap_nodes, c->n_nodes + 1, sizeof *c->nodes);

        if (st != OSC_OK) {
            b->status = st;
            return 0;
        }
        c->nodes[c->n_nodes++] = (struct osc_records_caller){.parent = parent, .name = name};
        *place = (uint32_t)c->n_nodes;
    }
    return *place;
}

/* Write NODE's function and its callers, as many as fit. */
static void write_text(struct osc_records_callers *c, const struct osc_trace *t, uint32_t node)
{
    osc_strbuf_clear(&c->text);
    for (; node > 0; node = c->nodes[node - 1].parent) {
        const struct osc_str name = osc_trace_str(t, c->nodes[node - 1].name);

        if (c->text.len + name.len >= OSC_RECORDS_CALLERS_BYTES)
            break;
        osc_strbuf_addstr(&c->text, name);
        osc_strbuf_addc(&c->text, ';');
    }
}

osc_sid osc_records_callers_text(struct osc_records_callers *c, struct osc_builder *b,
                                 uint32_t node)
{
    struct osc_records_caller *const n = &c->nodes[node - 1];

    if (n->text.v != 0 || c->n_text_bytes > OSC_RECORDS_CALLERS_ALL_BYTES)
        return n->text;
    write_text(c, b->loading->trace, node);
    if (c->text.status != OSC_OK) {
        b->status = c->text.status;
        return (osc_sid){0};
    }
    c->n_text_bytes += c->text.len;
    return n->text = osc_build_string(b, c->text.s, (uint32_t)c->text.len);
}
