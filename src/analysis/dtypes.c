/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dtypes.h"

void osc_dtypes_note(struct osc_result *r, uint32_t column)
{
    if (r->n_rows > 0 && !(r->shown >> column & 1))
        osc_result_note(r, "no dtypes of inputs in the trace: torch writes them with "
                           "record_shapes=True");
}
