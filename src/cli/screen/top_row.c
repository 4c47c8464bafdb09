/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen/top_row.h"

unsigned osc_top_insert(struct osc_top_row *rows, unsigned n, unsigned max,
                        const struct osc_top_row *row)
{
    unsigned at = n;

    while (at > 0 && rows[at - 1].ns < row->ns)
        at--;
    if (at == max)
        return n;
    n += n < max;
    for (unsigned k = n - 1; k > at; k--)
        rows[k] = rows[k - 1];
    rows[at] = *row;
    return n;
}
