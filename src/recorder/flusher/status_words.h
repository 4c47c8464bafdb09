/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_words.h - the answer of a recording to `opscope ctl status`.
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

/* Write "ok" and the words for FACTS, with the losses until now, to OUT, as
 * control_socket.h describes; returns the length. */
size_t osc_status_write(const struct osc_status_facts *facts, char *out, size_t room);
