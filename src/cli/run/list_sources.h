/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_sources.h - `opscope run --list-sources`: what can be recorded on this machine, what is
 * missing, and how to get it.
 *
 * Threading: one thread, which may fork.
 */
#pragma once

struct osc_source_kind;

/* What KIND lacks that no program brings with it, a static text; NULL: nothing that is known.
 */
const char *osc_source_lack(const struct osc_source_kind *kind);

/* Print the list. Returns the exit code. */
int osc_list_sources(void);
