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
 *     its stack is a handler's, or was: what a handler left in a hole that nobody has written
 *     to since looks the same. But while a handler runs, its signal is blocked and was not
 *     before, which the frame says, too. So a frame that blocked nothing is an old one, unless
 *     a handler of the process has SA_NODEFER: then every frame counts, an error on the safe
 *     side. A handler that unblocks its own signal is not seen.
 *     The kernel copies the stack for us, page by page: behind it may lie what another
 *     thread unmaps at any time.
 *   - Elsewhere, where the end of the stack is not known or the kernel does not copy it, and
 *     above the first MiB of it: a handler is where a signal that is caught is blocked. That
 *     errs on both sides.
 *
 * Threading: any thread and handler; errno is kept, nothing is allocated.
 */
#ifndef OSC_RECORDER_HOST_HANDLER_H
#define OSC_RECORDER_HOST_HANDLER_H

#include <stdint.h>

/* Where the frame of the innermost handler lies that the caller is in: whoever calls from
 * above is out of it. UINTPTR_MAX: it is in one, nobody knows where. 0: in none. It takes
 * microseconds: some 70 system calls, and one for each page of the stack. */
uintptr_t osc_handler_frame(void);

#endif
