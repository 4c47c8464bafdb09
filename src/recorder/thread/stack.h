/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - who called, by frame pointers, and which modules the addresses lie in.
 *
 *     frame of f       frame of its caller      ...         outermost frame
 *     caller, return --> caller, return         -->         0, return
 *
 *   - Only memory between the frame of the call and the end of the mapping that its stack
 *     lies in is read, upwards: that is there as long as the thread is. The mapping is
 *     looked up at the first call on it, and known from then on.
 *   - Code without frame pointers keeps any number in their place. One that does not lead
 *     upwards within those bounds ends the stack, which says so; one that does gives some
 *     wrong frames.
 *
 * Threading: as said at each function.
 */
#ifndef OSC_RECORDER_THREAD_STACK_H
#define OSC_RECORDER_THREAD_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/record.h"

/* Slots that the deepest stack takes behind slot 0. */
#define OSC_STACK_SLOTS (OSC_RECORD_FRAMES_MAX / 2)

/* Of functions that read other functions' frames, of which sanitizers know better. */
#if defined __clang__
#define OSC_STACK_READER __attribute__((no_sanitize("address", "memory", "thread")))
#else
#define OSC_STACK_READER __attribute__((no_sanitize_address, no_sanitize_thread))
#endif

/* Where the stack ends that AT lies on, which is one of this thread; 0: it is not known. Looks
 * it up anew. Any thread and handler; errno is kept. */
uintptr_t osc_stack_end(uintptr_t at);

/*
 * The return addresses of the frame at FRAME, which lies on the stack of this thread, and of
 * those outside of it, to the OSC_STACK_SLOTS slots at SLOTS, two each: how many, and why
 * there are no more. Any thread and handler; errno is kept.
 */
uint32_t osc_stack_walk(uintptr_t frame, struct osc_record_slot *slots,
                        enum osc_stack_end *end);

/* Whether a stack was recorded since the last call. The flusher. */
bool osc_stack_was_used(void);

/*
 * Payload of a MODULES chunk: what code is mapped now, as much of it as has ROOM at OUT.
 * Returns its length; *N is how many. The flusher.
 */
size_t osc_stack_modules(unsigned char *out, size_t room, uint64_t *n);

#endif
