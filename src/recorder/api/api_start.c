/* SPDX-License-Identifier: Apache-2.0 */
/* The calls to start, steer and stop recording: see opscope/record.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "opscope/record.h"
#include "recorder/api/api_devices.h"
#include "recorder/api/api_steps.h"
#include "recorder/flusher/flush.h"
#include "recorder/flusher/windows.h"
#include "recorder/live/categories.h"
#include "recorder/put.h"
#include "recorder/session.h"
#include "recorder/start_check.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/sampling.h"
#include "recorder/thread/thread_list.h"
#include "recorder/thread/ticks.h"

int osc_version(void)
{
    return OSC_VERSION_MAJOR * 10000 + OSC_VERSION_MINOR * 100 + OSC_VERSION_PATCH;
}

/* Runs in the child of fork(), on its only thread. */
static void begin_child(void)
{
    osc_threads_forked();
    osc_flush_leave_socket();
    osc_categories_unlock();
    osc_sampling_unlock();
}

static void pause_or_resume(bool pause)
{
    if (pause)
        osc_pause();
    else
        osc_resume();
}

/* Here, where the constructor is: every program that is linked with the static library refers
 * to it. */
int osc_on_;
signed char osc_levels_[OSC_CATEGORIES];

void osc_shared_(int **on, signed char **levels)
{
    *on = &osc_on_;
    *levels = osc_levels_;
}

/* What `opscope run` says. A list that is none changes nothing: a guest prints nothing. */
static void read_switches(void)
{
    const char *const enable = secure_getenv("OPSCOPE_ENABLE"), *const sample = secure_getenv(
                                                                    "OPSCOPE_SAMPLE");

    if (enable)
        (void)osc_categories_enable(enable);
    if (sample)
        (void)osc_sampling_set(sample);
}

/* Write N to the end of the digits that end at END, and return where they begin. */
static char *digits_before(char *end, uint32_t n)
{
    do
        *--end = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    return end;
}

/* Record what is sampled: readers say which names were none. */
static void record_samples(void)
{
    static const char prefix[] = OSC_RECORD_FACT_SAMPLE;
    struct osc_switch_rule rule;

    for (uint32_t i = 0; osc_sampling_rule(i, &rule); i++) {
        char key[sizeof prefix + sizeof rule.pattern], value[16] = {0};
        char *const end = value + 10;

        memcpy(mempcpy(key, prefix, sizeof prefix - 1), rule.pattern, sizeof rule.pattern);
        if (rule.per_second > 0)
            memcpy(end, "/s", 2);
        osc_metadata(key, digits_before(end, rule.per_second ? rule.per_second : rule.value));
    }
}

static void record_earlier(void)
{
    osc_devices_record();
    record_samples();
}

static void end_recording(void)
{
    osc_steps_stop();
    osc_launches_end();
}

__attribute__((constructor)) static void load(void)
{
    static const struct osc_session_above above = {
        .begun = record_earlier,
        .switched = record_samples,
        .ending = end_recording,
        .pause = pause_or_resume,
        .stop = osc_stop,
    };
    const int kept = errno;

    osc_session_set_above(&above);
    osc_windows_tell(osc_launches_end);
    osc_threads_load();
    osc_ticks_init();
    (void)pthread_atfork(NULL, NULL, begin_child);
    read_switches();
    osc_session_arm();
    errno = kept;
}

static osc_status stop(void)
{
    const int kept = errno;

    if (osc_session_is_ours() && osc_session_generation() != 0 && osc_writer_self->index_1 != 0)
        osc_slow_write_owed();
    const osc_status st = osc_session_stop();

    errno = kept;
    return st;
}

/* Runs at exit. */
__attribute__((destructor)) static void unload(void)
{
    (void)stop(); /* sources have ended, or will */
}

osc_status osc_start(const struct osc_start_options *options)
{
    const int kept = errno;
    const osc_status st = osc_session_start(options);

    osc_session_announce();
    errno = kept;
    return st;
}

const char *osc_start_reason(void)
{
    return osc_start_why();
}

const char *osc_recording_path(void)
{
    return osc_session_is_ours() ? osc_session_path() : "";
}

uint64_t osc_recording_number(void)
{
    const uint64_t number = osc_session_is_ours() ? osc_session_generation() : 0;

    return number == 0 ? 0 : number - OSC_EPOCH_NONE;
}

osc_status osc_stop(void)
{
    if (osc_is_on())
        osc_reports_call();
    return stop();
}

void osc_pause(void)
{
    const uint64_t now = osc_ticks();

    if (osc_session_pause() && osc_is_on())
        osc_put_one(OSC_RECORD_PAUSE, 0, now, OSC_ROLE_FACT, now);
}

void osc_resume(void)
{
    const bool is_over = osc_session_resume();
    const uint64_t now = osc_ticks();

    if (is_over && osc_is_on())
        osc_put_one(OSC_RECORD_RESUME, 0, now, OSC_ROLE_FACT, now);
}

osc_status osc_enable(const char *list)
{
    return osc_categories_enable(list ? list : "");
}

osc_status osc_sample(const char *list)
{
    const osc_status st = osc_sampling_set(list ? list : "");

    osc_session_republish();
    return st;
}

osc_status osc_dump(void)
{
    const int kept = errno;
    osc_status st = OSC_OK;

    if (osc_session_is_ours()) {
        if (osc_session_awaits_flusher())
            osc_slow_write_owed(); /* starts the flusher if this thread may */
        st = osc_flush_dump();
    }
    errno = kept;
    return st;
}

void osc_losses_get(struct osc_losses *losses)
{
    uint64_t lost[OSC_LOSS_COUNT];

    osc_losses_sum(lost);
    *losses = osc_losses_of(lost);
}
