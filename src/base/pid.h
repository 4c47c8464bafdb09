/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pid.h - which process a number means, and whether that process still runs.
 *
 * A process number alone says little: it is used again, every name space has its own, and a
 * process that has ended keeps it until its parent asks for the status. So it is stored with
 * the time at which the process started, its name space, and the start of the system.
 *
 *   - Zeroed members are unknown: there may be no /proc, or not that of this name space.
 *   - A process whose first thread has ended runs as long as it has others.
 *
 * Threading: thread-safe, and async-signal-safe. No function changes errno.
 */
#pragma once

#include <stdint.h>

struct osc_pid {
    uint32_t pid;
    uint64_t space;            /* the inode of the name space of its number */
    uint64_t start_ticks;      /* from the start of the system; proc(5) */
    unsigned char boot_id[16]; /* a random number that the system has from its start on */
};

/* The process that calls this. */
void osc_pid_get_self(struct osc_pid *p);

enum osc_pid_life {
    OSC_PID_UNKNOWN, /* its number says nothing here */
    OSC_PID_RUNS,
    OSC_PID_ENDED
};

enum osc_pid_life osc_pid_find(const struct osc_pid *p);
