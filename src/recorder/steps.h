/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - what others need to know of the steps of the program.
 *
 * Threading: one thread, in a process that has no other.
 */
#ifndef OSC_RECORDER_STEPS_H
#define OSC_RECORDER_STEPS_H

/* The step that runs was begun in the recording of the parent. */
void osc_steps_forget(void);

#endif
