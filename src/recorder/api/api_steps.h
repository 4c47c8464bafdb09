/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_steps.h - ends the current step when the recording ends.
 *
 * Threading: one thread at a time.
 */
#pragma once

/* End the current step with the recording, unless it counts only if the program ends it. */
void osc_steps_stop(void);
