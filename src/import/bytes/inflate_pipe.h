/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate_pipe.h - inflate on one core while another core parses.
 *
 * A separate thread reads the compressed input, inflates it into a few blocks that are reused
 * in turn, and passes them to the parser's window. It stops when the parser does.
 *
 * Threading: opened, drained and closed by one thread.
 */
#pragma once

#include "codec/inflate.h"
#include "import/bytes/input.h"

struct osc_pipe;

/*
 * Begin to inflate IN. *BLOCKS is borrowed. Without IS_THREADED the calling thread does all
 * the work.
 */
OSC_MUST_USE osc_status osc_pipe_open(struct osc_pipe **pipe, struct osc_input *in,
                                      enum osc_inflate_format format, size_t block_bytes,
                                      bool is_threaded, struct osc_err *err);
void osc_pipe_close(struct osc_pipe *pipe);

struct osc_blocks *osc_pipe_blocks(struct osc_pipe *pipe);

/* Compressed bytes read so far, for progress. Thread-safe. */
uint64_t osc_pipe_taken(const struct osc_pipe *pipe);

/* Whether bytes follow the compressed text that do not belong to it. Call it after
 * draining. */
bool osc_pipe_has_garbage(const struct osc_pipe *pipe);
