/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/keymap.h"

#include "base/mem.h"

/* A page may use eight slots per key: less memory than a hash map. */
#define KEYS_PER_PAGE (OSC_KEYMAP_PAGE / 8)

void osc_keymap_init(struct osc_keymap *m, const struct osc_keyrange *range)
{
    const uint64_t span = (uint64_t)range->most - (uint64_t)range->least;
    const uint64_t n_pages = (span >> OSC_KEYMAP_SHIFT) + 1;

    *m = (struct osc_keymap){0};
    /* There may be a map for each of many tracks: it must be small while it has few keys. */
    if (range->n < KEYS_PER_PAGE || n_pages > range->n + 16)
        return;
    m->pages = osc_calloc((size_t)n_pages, sizeof *m->pages);
    if (!m->pages)
        return;
    m->n_pages = n_pages;
    m->least = range->least;
    m->n_spare = range->n / KEYS_PER_PAGE + 1;
}

void osc_keymap_fini(struct osc_keymap *m)
{
    for (uint64_t i = 0; i < m->n_pages; i++)
        osc_free(m->pages[i]);
    osc_free(m->pages);
    osc_idmap_fini(&m->sparse);
    *m = (struct osc_keymap){0};
}

uint32_t *osc_keymap_add(struct osc_keymap *m, int64_t key)
{
    const uint64_t i = (uint64_t)key - (uint64_t)m->least;
    const uint64_t page = i >> OSC_KEYMAP_SHIFT;

    if (page < m->n_pages) {
        /* Once a page was refused, all further ones are: a key must never have two places. */
        if (!m->pages[page] && m->n_spare > 0) {
            m->pages[page] = osc_calloc(OSC_KEYMAP_PAGE, sizeof **m->pages);
            if (!m->pages[page])
                return NULL;
            m->n_spare--;
        }
        if (m->pages[page])
            return &m->pages[page][i & (OSC_KEYMAP_PAGE - 1)];
    }
    return osc_idmap_put(&m->sparse, (uint64_t)key);
}
