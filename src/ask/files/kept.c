/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/kept.h"

#include <string.h>

#include "ask/files/held.h"
#include "base/mem.h"

static uint64_t key_of(const struct osc_digest *files, uint32_t part)
{
    return files->low ^ osc_hash_u64(files->high + part);
}

void osc_kept_fini(struct osc_kept *k)
{
    osc_idmap_fini(&k->first);
    osc_free(k->next);
}

osc_status osc_kept_init(struct osc_kept *k, struct osc_trace *const *traces, uint32_t n)
{
    *k = (struct osc_kept){.traces = traces};
    if (n == 0)
        return OSC_OK;
    k->next = osc_calloc(n, sizeof *k->next);
    if (!k->next)
        return OSC_ENOMEM;
    for (uint32_t i = n; i-- > 0;) {
        const struct osc_held *const h = osc_held_of(traces[i]);
        uint32_t *const first = osc_idmap_put(&k->first, key_of(&h->files, h->part));

        if (!first)
            return OSC_ENOMEM;
        k->next[i] = *first;
        *first = i + 1;
    }
    return OSC_OK;
}

struct osc_trace *osc_kept_take(struct osc_kept *k, const struct osc_digest *files,
                                uint32_t part)
{
    const uint64_t key = key_of(files, part);

    if (!k->next || osc_idmap_get(&k->first, key) == 0)
        return NULL;
    uint32_t *at = osc_idmap_put(&k->first, key); /* it is there */
    for (; at && *at > 0; at = &k->next[*at - 1]) {
        struct osc_trace *const t = k->traces[*at - 1];
        const struct osc_held *const h = osc_held_of(t);

        if (h->part == part && !h->is_torn && memcmp(&h->files, files, sizeof *files) == 0) {
            *at = k->next[*at - 1];
            return t;
        }
    }
    return NULL;
}
