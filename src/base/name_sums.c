/* SPDX-License-Identifier: Apache-2.0 */
#include "base/name_sums.h"

#include "base/mem.h"

osc_status osc_name_sums_add(struct osc_name_sums *y, osc_sid name, int64_t ns)
{
    if (name.v == 0)
        return OSC_OK; /* it has no name */

    uint32_t *const place = osc_idmap_put(&y->of_name, name.v);
    if (!place)
        return OSC_ENOMEM;
    if (*place == 0) {
        if (y->n == y->cap && osc_grow(&y->v, &y->cap, y->n + 1, sizeof *y->v) != OSC_OK)
            return OSC_ENOMEM;
        y->v[y->n++] = (struct osc_name_sum){name, 0};
        *place = (uint32_t)y->n;
    }
    y->v[*place - 1].ns += ns;
    return OSC_OK;
}

struct osc_name_sum osc_name_sums_top(const struct osc_name_sums *y)
{
    struct osc_name_sum top = {{0}, 0};

    for (size_t i = 0; i < y->n; i++)
        top = y->v[i].ns > top.ns ? y->v[i] : top;
    return top;
}

void osc_name_sums_fini(struct osc_name_sums *y)
{
    osc_idmap_fini(&y->of_name);
    osc_free(y->v);
    *y = (struct osc_name_sums){0};
}
