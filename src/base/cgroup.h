/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - which processors and how much memory the control groups grant this process.
 *
 * The process's group and all groups above it may set a limit; the lowest one counts. Both
 * versions of control groups are read. If the group is not visible, because a container shows
 * its own group as the root, the limits are those of the root.
 *
 * ROOT is put before all paths, for tests; "" is the real system.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

/* Number of whole processors granted, at most MOST. */
unsigned osc_cgroup_cpus(const char *root, unsigned most);

/* Bytes of memory granted, at most MOST. */
uint64_t osc_cgroup_memory(const char *root, uint64_t most);

/* The default memory limit: four fifths of what the machine and its control groups have. */
uint64_t osc_cgroup_default_memory(void);
