/* SPDX-License-Identifier: Apache-2.0 */
/* What programs call for every event: see opscope/record.h. */
#include "opscope/record.h"

#include <string.h>

#include "recorder/names.h"
#include "recorder/put.h"
#include "recorder/session.h"
#include "recorder/threads.h"
#include "recorder/ticks.h"
#include "recorder/writer.h"

/* --- names ------------------------------------------------------------------------- */

osc_name osc_name_of(const char *s, size_t len)
{
    uint64_t n_full = 0, n_too_big = 0;

    /* In the child of a fork the log must leave the parent's file first. */
    if (osc_threads_life() == OSC_LIFE_NONE || !osc_session_is_ours())
        return 0;
    const uint32_t name = osc_names_add(s, len, &n_full, &n_too_big);

    if (n_full > 0)
        osc_threads_count(OSC_LOSS_FULL, n_full);
    if (n_too_big > 0)
        osc_threads_count(OSC_LOSS_TOO_BIG, n_too_big);
    return name;
}

osc_name osc_name_c(const char *s)
{
    return osc_name_of(s, s ? strlen(s) : 0);
}

/* --- scopes ------------------------------------------------------------------------ */

uint64_t osc_now(void)
{
    return osc_ticks();
}

void osc_scope_begin(enum osc_scope_kind kind, osc_name name)
{
    const uint64_t now = osc_ticks();

    osc_writer_put(OSC_RECORD_BEGIN + (kind & 31), name, now, OSC_ROLE_BEGIN, now);
}

void osc_scope_end(void)
{
    const uint64_t now = osc_ticks();

    osc_writer_put(OSC_RECORD_END, 0, now, OSC_ROLE_END, now);
}

void osc_scope_instant(osc_name name)
{
    const uint64_t now = osc_ticks();

    osc_writer_put(OSC_RECORD_INSTANT, name, now, OSC_ROLE_EVENT, now);
}

void osc_scope_complete(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks)
{
    OSC_PUT(OSC_RECORD_COMPLETE + (kind & 31), name, start_ticks, OSC_ROLE_EVENT,
            osc_ticks() - start_ticks, 0);
}

/* --- at given times ---------------------------------------------------------------- */

void osc_begin_at(enum osc_scope_kind kind, osc_name name, uint64_t ticks)
{
    if (osc_is_on())
        osc_writer_put(OSC_RECORD_BEGIN + (kind & 31), name, ticks, OSC_ROLE_BEGIN, ticks);
}

void osc_end_at(uint64_t ticks)
{
    if (osc_is_on())
        osc_writer_put(OSC_RECORD_END, 0, ticks, OSC_ROLE_END, ticks);
}

void osc_complete_at(enum osc_scope_kind kind, osc_name name, uint64_t start_ticks,
                     uint64_t end_ticks)
{
    if (osc_is_on())
        OSC_PUT(OSC_RECORD_COMPLETE + (kind & 31), name, start_ticks, OSC_ROLE_EVENT,
                end_ticks - start_ticks, 0);
}

void osc_instant_at(osc_name name, uint64_t ticks)
{
    if (osc_is_on())
        osc_writer_put(OSC_RECORD_INSTANT, name, ticks, OSC_ROLE_EVENT, ticks);
}
