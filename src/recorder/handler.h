/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - whether a call comes from within a signal handler.
 *
 * To start a thread takes malloc(), which a handler may have interrupted. Neither the mask
 * nor the action of a signal tells: workers of servers block what others catch, and within a
 * handler with SA_NODEFER or SA_RESETHAND nothing is blocked or caught.
 *
 *   - x86-64: the kernel puts a frame on the stack for each handler, which begins with the
 *     address that the handler returns to, the restorer. The kernel tells the restorer of
 *     each signal, of one that was reset, too. Such a frame between the caller and the end of
 *     its stack is a handler's. One that a handler left, in a hole that nobody has written to
 *     since, is taken for one: that is an error on the safe side.
 *   - Elsewhere, where the end of the stack is not known, and above the first MiB of it: a
 *     handler is where a signal that is caught is blocked. That errs on both sides.
 *
 * Threading: any thread and handler; errno is kept, nothing is allocated.
 */
#ifndef OSC_RECORDER_HANDLER_H
#define OSC_RECORDER_HANDLER_H

#include <stdint.h>

/* Where the frame of the innermost handler lies that the caller is in: whoever calls from
 * above is out of it. UINTPTR_MAX: it is in one, nobody knows where. 0: in none. It takes
 * microseconds: some 70 system calls, and a look at the stack. */
uintptr_t osc_handler_frame(void);

#endif
