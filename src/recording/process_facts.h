/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_facts.h - facts about the recorded process, as a PROCESS chunk.
 *
 * The command line is included, the environment is not, since it may contain passwords. The
 * exceptions are the few variables in which launchers of distributed programs number
 * processes.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSC_PROCESS_FACTS_BYTES 16384u

/* Facts that the kernel does not provide. */
struct osc_process_facts {
    uint64_t start_unix_ns; /* of the recording */
    uint64_t ticks_hz;      /* 0: unknown, left out */
    const char *clock_name;
    const char *mode; /* "flight", "schedule"; NULL: it writes everything */
    bool is_late;     /* ranges may have begun before the recording */
};

/* The payload of a PROCESS chunk (wire/chunk.h) under construction. Zeroed except for OUT, it
 * is empty. */
struct osc_process_facts_out {
    unsigned char *out; /* borrowed: OSC_PROCESS_FACTS_BYTES of room */
    size_t len;
    uint64_t n; /* facts */
};

/* Append KEY with the first 4,096 bytes of VALUE. Does nothing if VALUE is NULL, empty or does
 * not fit. */
void osc_process_facts_add(struct osc_process_facts_out *to, const char *key,
                           const char *value);
void osc_process_facts_add_number(struct osc_process_facts_out *to, const char *key,
                                  uint64_t value);

/* Write the payload for this process to OUT; returns its size. *N_FACTS is the number of
 * facts. */
size_t osc_process_facts_collect(const struct osc_process_facts *facts,
                                 unsigned char out[OSC_PROCESS_FACTS_BYTES], uint64_t *n_facts);
