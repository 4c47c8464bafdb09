/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - what the control groups of this process allow it.
 *
 * A limit may stand in the group of the process or in any above it, and the least
 * one holds. Both versions are read. A group that cannot be seen, because a
 * container shows its own as the root, is left out: the root then has its limits.
 *
 * ROOT is put before all paths, for tests; "" is the system itself.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

/* Whole processors granted, at most MOST. */
unsigned osc_cgroup_cpus(const char *root, unsigned most);

/* Bytes of memory granted, at most MOST. */
uint64_t osc_cgroup_memory(const char *root, uint64_t most);

/* Four fifths of what the machine and the control groups have: what is taken unasked. */
uint64_t osc_cgroup_default_memory(void);
