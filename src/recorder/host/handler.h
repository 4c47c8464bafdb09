/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler.h - whether a call may come from inside a signal handler.
 *
 * Starting a thread calls malloc(), which a handler may have interrupted. While a handler runs,
 * the kernel blocks its signal, so a thread that blocks a signal which the process catches may
 * be in a handler. A thread that always blocks such signals, as workers of servers do, looks
 * the same. A handler with SA_NODEFER or SA_RESETHAND is not recognised: with the first its
 * signal is not blocked, with the second it is no longer caught.
 *
 * Threading: any thread and handler; leaves errno unchanged and allocates nothing.
 */
#pragma once

#include <stdbool.h>

/* Whether this thread blocks a signal that the process catches. Makes one system call, plus one
 * for each blocked signal. */
bool osc_handler_may_run(void);
