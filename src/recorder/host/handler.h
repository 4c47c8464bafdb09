/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - whether a call may come from within a signal handler.
 *
 * To start a thread takes malloc(), which a handler may have interrupted. While a handler
 * runs, the kernel blocks its signal, so a thread that blocks a signal which the process
 * catches may be in a handler. A thread that always blocks such signals, as workers of
 * servers do, looks the same. A handler with SA_NODEFER or SA_RESETHAND does not: with the
 * one its signal is not blocked, with the other it is not caught any more.
 *
 * Threading: any thread and handler; errno is kept, nothing is allocated.
 */
#pragma once

#include <stdbool.h>

/* Whether this thread blocks a signal that the process catches. A system call, and one more
 * for each signal that is blocked. */
bool osc_handler_may_run(void);
