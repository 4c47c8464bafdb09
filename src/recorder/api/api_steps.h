/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_steps.h - what happens when a step, a window or the recording ends.
 *
 * Threading: osc_steps_stop() by one thread at a time, osc_reports_call() by any.
 */
#pragma once

/* Call what osc_before_end() was given; not in a signal handler. */
void osc_reports_call(void);

/* End the current step with the recording, unless it counts only if the program ends it. */
void osc_steps_stop(void);
