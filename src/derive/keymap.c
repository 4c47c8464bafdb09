/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/keymap.h"

#include "base/mem.h"

void osc_keymap_init(struct osc_keymap *m, const struct osc_keyrange *range)
{
    const uint64_t span = (uint64_t)range->most - (uint64_t)range->least;

    *m = (struct osc_keymap){0};
    /* Four times the keys is still less than a hash map takes. */
    if (range->n == 0 || span >= range->n * 4 + 1024)
        return;
    m->dense = osc_calloc((size_t)span + 1, sizeof *m->dense);
    if (m->dense) {
        m->n_dense = span + 1;
        m->least = range->least;
    }
}

void osc_keymap_fini(struct osc_keymap *m)
{
    osc_free(m->dense);
    osc_idmap_fini(&m->sparse);
    *m = (struct osc_keymap){0};
}
