/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the program: see opscope/record.h. */
#include "recorder/api/api_steps.h"

#include <errno.h>

#include "opscope/source.h"
#include "recorder/flusher/flush.h"
#include "recorder/flusher/windows.h"
#include "recorder/host/handler.h"
#include "recorder/put.h"
#include "recorder/session.h"
#include "recorder/thread/ticks.h"
#include "recording/schedule.h"

static uint64_t n_steps;     /* ever begun */
static uint64_t recorded_in; /* generation of the current step's recording; or 0 */

static bool needs_end; /* the current step does not count unless its end is recorded */

/* End the current step. */
static void end_step(uint64_t ticks)
{
    /* relaxed: steps follow one another. */
    const uint64_t generation = __atomic_exchange_n(&recorded_in, 0, __ATOMIC_RELAXED);

    if (generation != 0 && generation == osc_session_generation())
        osc_put_one(OSC_RECORD_STEP_END, 0, ticks, OSC_ROLE_FACT, ticks);
    if (osc_is_on())
        osc_flush_step_end(ticks);
}

#define REPORTS_MAX 8u

static void (*reports[REPORTS_MAX])(void); /* each is written once */

void osc_before_end(void (*report)(void))
{
    for (uint32_t i = 0; report && i < REPORTS_MAX; i++) {
        void (*there)(void) = NULL;

        /* relaxed: the functions of a library that is loaded */
        if (__atomic_compare_exchange_n(&reports[i], &there, report, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            there == report)
            return;
    }
}

void osc_reports_call(void)
{
    const int kept = errno;

    if (osc_handler_may_run()) /* which may have interrupted one of them */
        return;
    for (uint32_t i = 0; i < REPORTS_MAX; i++) {
        /* relaxed: as in osc_before_end() */
        void (*const report)(void) = __atomic_load_n(&reports[i], __ATOMIC_RELAXED);

        if (report)
            report();
    }
    errno = kept;
}

static uint64_t begin_step(bool is_tentative)
{
    /* relaxed: as in end_step() */
    const uint64_t next = __atomic_load_n(&n_steps, __ATOMIC_RELAXED);
    const unsigned deeds = osc_is_on() ? osc_windows_deeds_of(next) : 0;

    if (deeds & OSC_DEED_STOP)
        osc_reports_call();
    const uint64_t now = osc_ticks();

    end_step(now);
    /* relaxed: as in end_step() */
    const uint64_t step = __atomic_fetch_add(&n_steps, 1, __ATOMIC_RELAXED);

    if (osc_is_on()) {
        osc_slow_write_owed(); /* opens the recording, and with it the schedule */
        osc_flush_step_begin(step, now);
    }
    if (osc_is_on() && OSC_PUT(OSC_RECORD_STEP_BEGIN, 0, now, OSC_ROLE_EVENT, step,
                               is_tentative ? OSC_STEP_IF_ENDED : 0))
        __atomic_store_n(&recorded_in, osc_session_generation(), __ATOMIC_RELAXED);
    /* relaxed: as in end_step() */
    __atomic_store_n(&needs_end, is_tentative, __ATOMIC_RELAXED);
    return step;
}

uint64_t osc_step(void)
{
    return begin_step(false);
}

uint64_t osc_step_if_ended(void)
{
    return begin_step(true);
}

void osc_steps_stop(void)
{
    /* relaxed: as in end_step() */
    if (!__atomic_load_n(&needs_end, __ATOMIC_RELAXED))
        osc_step_end();
}

void osc_step_end(void)
{
    end_step(osc_ticks());
}
