/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/domains.h"

#include "base/mem.h"
#include "derive/facts.h"

/* The slot + 1 of the domain in events of form F; 0: they have none. */
static uint32_t slot_of(const struct osc_trace *t, const struct osc_form *f)
{
    uint32_t slot = 0;

    for (uint32_t s = 0; osc_form_is_neutral(f) && s < f->n_slots; s++)
        if (!f->slots[s].is_member && f->slots[s].type == OSC_ARG_STRING &&
            osc_str_eq(osc_trace_str(t, f->slots[s].key), OSC_STR("domain")))
            slot = s + 1;
    return slot;
}

/* Whether row I of C is a task of a domain, whose name is set then. */
static bool read_domain(const struct osc_trace *t, const struct osc_domains *d,
                        const struct osc_chunk *c, uint32_t i, osc_sid *name)
{
    const uint32_t slot = d->slot_of[c->form[i]];

    if (slot == 0 || !osc_is_range(&osc_trace_facts(t)->classes, c, i))
        return false;
    *name = osc_row_slot(t, c, i, slot - 1).sid;
    return name->v != 0;
}

static uint64_t key_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                       osc_sid name)
{
    return (uint64_t)t->tracks[c->track[i]].process << 32 | name.v;
}

static osc_status count(const struct osc_trace *t, struct osc_domains *d)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            osc_sid name;

            if (!read_domain(t, d, c, i, &name))
                continue;
            uint32_t *const at = osc_idmap_put(&d->known, key_of(t, c, i, name));
            if (!at)
                return OSC_ENOMEM;
            if (*at == 0 && d->n < OSC_DOMAINS_MAX) {
                d->v[d->n++] = (struct osc_domain){.name = name, .track = c->track[i]};
                *at = d->n;
            } else if (*at == 0) {
                *at = OSC_DOMAINS_MAX + 1;
            }
            if (*at <= OSC_DOMAINS_MAX)
                d->v[*at - 1].n++;
        }
    }
    return OSC_OK;
}

osc_status osc_domains_find(const struct osc_trace *t, struct osc_domains *d)
{
    bool has_any = false;
    osc_status st = OSC_OK;

    *d = (struct osc_domains){.n = 0};
    d->slot_of = osc_calloc((size_t)t->n_forms + 1, sizeof *d->slot_of);
    if (!d->slot_of)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k < t->n_forms; k++) {
        d->slot_of[k] = slot_of(t, &t->forms[k]);
        has_any = has_any || d->slot_of[k] != 0;
    }
    if (has_any)
        st = count(t, d);
    if (st != OSC_OK)
        osc_domains_fini(d);
    return st;
}

void osc_domains_fini(struct osc_domains *d)
{
    osc_free(d->slot_of);
    osc_idmap_fini(&d->known);
    *d = (struct osc_domains){.n = 0};
}

void osc_domains_rows(const struct osc_trace *t, const struct osc_domains *d, uint32_t *rows)
{
    uint32_t at[OSC_DOMAINS_MAX], n = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        at[i] = n;
        n += d->v[i].n;
    }
    for (uint32_t k = 1; k < t->events.n_chunks && d->n > 0; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            osc_sid name;

            if (!read_domain(t, d, c, i, &name))
                continue;
            const uint32_t domain = osc_idmap_get(&d->known, key_of(t, c, i, name));
            if (domain <= OSC_DOMAINS_MAX)
                rows[at[domain - 1]++] = osc_row_at(c, i).v;
        }
    }
}
