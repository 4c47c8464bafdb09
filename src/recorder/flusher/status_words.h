/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_words.h - the answers of a recording to `opscope ctl`: status, enable, sample.
 *
 * Threading: one thread, the flusher.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "recording/part_writer.h"

struct osc_status_facts {
    const char *state;            /* recording, held, paused; static */
    const struct osc_parts *file; /* what is being written */
    int64_t step;
    uint32_t n_blocks;
    int error; /* errno of writing; 0: it works */
};

/* Do what COMMAND asks if it is "enable LIST" or "sample LIST", and write the answer to OUT;
 * returns its length, or 0. Call osc_session_republish() then. */
size_t osc_status_switch(const char *command, char *out);

/* Write "error WHY" to OUT; returns the length. */
size_t osc_status_error(char *out, const char *why);

/* Write "ok" and the words for FACTS, with the losses until now, to OUT, as
 * control_socket.h describes; returns the length. */
size_t osc_status_write(const struct osc_status_facts *facts, char *out, size_t room);
