/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/flush_options.h"

#include <stdlib.h>
#include <string.h>

#include "recorder/flusher/windows.h"
#include "recording/log.h"
#include "recording/schedule.h"

#define BUFFER_BYTES_DEFAULT ((uint64_t)64 << 20)

/* Read OPSCOPE_SCHEDULE for options that the program does not set. */
static void read_environment(struct osc_flush_options *options)
{
    const char *text = secure_getenv("OPSCOPE_SCHEDULE");
    struct osc_start_options *o = &options->o;
    struct osc_schedule_text said;
    struct osc_err err;

    if (!text || o->schedule)
        return;
    if (osc_schedule_parse(text, &said, &err) != OSC_OK) {
        osc_log("OPSCOPE_SCHEDULE is ignored: %s", err.message);
        return;
    }
    if (said.has_schedule) {
        options->schedule = said.schedule;
        o->schedule = &options->schedule;
    }
    if (!o->flight_ns && !o->flight_steps) {
        o->flight_ns = said.flight_ns;
        o->flight_steps = said.flight_steps;
    }
    o->buffer_bytes = o->buffer_bytes ? o->buffer_bytes : said.buffer_bytes;
    o->limit_bytes = o->limit_bytes ? o->limit_bytes : said.limit_bytes;
    o->slow_step = o->slow_step > 0 ? o->slow_step : said.slow_step;
    o->dump_signal = o->dump_signal ? o->dump_signal : said.dump_signal;
    o->toggle_signal = o->toggle_signal ? o->toggle_signal : said.toggle_signal;
    o->dump_on_crash |= said.dump_on_crash;
}

void osc_flush_options_read(struct osc_flush_options *options,
                            const struct osc_start_options *given)
{
    struct osc_start_options *o = &options->o;

    if (given)
        memcpy(o, given, given->size < sizeof *o ? given->size : sizeof *o);
    if (o->schedule) {
        options->schedule = *o->schedule;
        o->schedule = &options->schedule;
    }
    read_environment(options);
    if (o->flight_steps > OSC_WINDOWS_STEPS - 2)
        o->flight_steps = OSC_WINDOWS_STEPS - 2;
    options->is_flight = o->flight_ns || o->flight_steps;
    if (!o->buffer_bytes)
        o->buffer_bytes = BUFFER_BYTES_DEFAULT;
}
