/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_recording.h - read a small recording into a trace. */
#pragma once

#include "import/import.h"
#include "support/small_recording.h"
#include "support/unit.h"

/* Read R into T, which the caller frees. O: NULL means defaults. */
static inline void recording_load(const struct small_recording *r, struct osc_trace *t,
                                  const struct osc_import_options *o)
{
    static const struct osc_import_options defaults;
    const struct osc_str bytes = {(const char *)r->bytes, (uint32_t)r->n_bytes};
    struct osc_err err = {0};

    memset(t, 0, sizeof *t);
    assert_int_equal(osc_import_memory(t, "rec", bytes, o ? o : &defaults, &err), OSC_OK);
}
