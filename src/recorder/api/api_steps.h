/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_steps.h - the step that runs when the recording ends.
 *
 * Threading: one thread at a time.
 */
#pragma once

/* The step that runs ends with the recording, unless something else has to end it. */
void osc_steps_stop(void);
