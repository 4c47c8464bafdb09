/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_facts.h - what a recording says of the process that made it: a PROCESS chunk.
 *
 * The command line is part of it, the environment is not: it holds passwords. The few
 * variables that launchers of distributed programs number their processes by are taken,
 * under their own names.
 *
 * Threading: thread-safe.
 */
#ifndef OSC_RECORDING_PROCESS_FACTS_H
#define OSC_RECORDING_PROCESS_FACTS_H

#include <stddef.h>
#include <stdint.h>

#define OSC_PROCESS_FACTS_BYTES 16384u

/* What the kernel does not know. */
struct osc_process_facts {
    uint64_t start_unix_ns; /* of the recording */
    uint64_t ticks_hz;      /* 0: not known, left out */
    const char *clock_name;
    const char *mode; /* "flight", "schedule"; NULL: it writes all the time */
};

/* The payload of a PROCESS chunk (wire/chunk.h) being made. Zeroed but for OUT: empty. */
struct osc_process_facts_out {
    unsigned char *out; /* borrowed: OSC_PROCESS_FACTS_BYTES of room */
    size_t len;
    uint64_t n; /* facts */
};

/* Append KEY with VALUE, of which 4,096 bytes count; what is NULL, empty or does not fit
 * is left out. */
void osc_process_facts_add(struct osc_process_facts_out *to, const char *key,
                           const char *value);
void osc_process_facts_add_number(struct osc_process_facts_out *to, const char *key,
                                  uint64_t value);

/* The payload for this process to OUT; its bytes, and how many facts. */
size_t osc_process_facts_collect(const struct osc_process_facts *facts,
                                 unsigned char out[OSC_PROCESS_FACTS_BYTES], uint64_t *n_facts);

#endif
