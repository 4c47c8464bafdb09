/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_sources.h - `opscope run --list-sources`: what can be recorded on this machine, what is
 * missing, and how to get it.
 *
 * Threading: one thread, which may fork.
 */
#pragma once

/* Print the list. Returns the exit code. */
int osc_list_sources(void);
