/* SPDX-License-Identifier: Apache-2.0 */
#include "base/percent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void osc_percent_add(struct osc_strbuf *out, double ratio, int n_digits)
{
    const double least = pow(10, -n_digits);
    const size_t start = out->len;

    osc_strbuf_addf(out, "%.*f %%", n_digits, ratio * 100);
    if (out->status != OSC_OK)
        return;
    const double shown = strtod(out->s + start, NULL);
    const bool is_little = shown == 0 && ratio != 0, is_most = shown == 100 && ratio < 1;
    if (!is_little && !is_most)
        return;
    out->len = start;
    if (is_most)
        osc_strbuf_addf(out, "%.*f %%", n_digits, 100 - least);
    else
        osc_strbuf_addf(out, ratio > 0 ? "<%.*f %%" : ">-%.*f %%", n_digits, least);
}
