/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflate_pipe.h - inflate on one core what is parsed on another.
 *
 * A thread of its own reads the compressed input, inflates it into a few blocks
 * that go round, and hands them to the parser's window. It stops when nobody
 * wants more.
 *
 * Threading: opened, drained and closed by one thread.
 */
#pragma once

#include "codec/inflate.h"
#include "import/bytes/input.h"

struct osc_pipe;

/*
 * Begin to inflate IN. *BLOCKS is borrowed. With IS_THREADED false, everything is
 * done by the calling thread.
 */
OSC_MUST_USE osc_status osc_pipe_open(struct osc_pipe **pipe, struct osc_input *in,
                                      enum osc_inflate_format format, size_t block_bytes,
                                      bool is_threaded, struct osc_err *err);
void osc_pipe_close(struct osc_pipe *pipe);

struct osc_blocks *osc_pipe_blocks(struct osc_pipe *pipe);

/* Compressed bytes taken so far, for progress. Thread-safe. */
uint64_t osc_pipe_taken(const struct osc_pipe *pipe);

/* Whether bytes that are no compressed text stand behind it. Once it was drained. */
bool osc_pipe_has_garbage(const struct osc_pipe *pipe);
