/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - from a file of any format we read to a sealed trace.
 *
 * Which format, and how it is compressed, is told by the first bytes, never by
 * the name. What is broken in part is read for the rest and counted in
 * osc_trace.findings; an error is returned when nothing could be read.
 *
 * Threading: one call per trace; it uses threads of its own inside.
 */
#pragma once

#include "base/status.h"
#include "import/build/options.h"
#include "model/trace.h"

/*
 * Read PATH ("-": standard input) into T, which is zeroed. OSC_OK: T is sealed.
 * OSC_ELIMIT (of memory: osc_mem_limit()) and OSC_EIO with T->is_partial: T is sealed
 * too and covers what was read before the limit or the error. Anything else: T is
 * empty.
 */
OSC_MUST_USE osc_status osc_import_path(struct osc_trace *t, const char *path,
                                        const struct osc_import_options *o,
                                        struct osc_err *err);

/* The same for LEN bytes at DATA, which may be compressed; NAME is for messages. */
OSC_MUST_USE osc_status osc_import_memory(struct osc_trace *t, const char *name,
                                          struct osc_str data,
                                          const struct osc_import_options *o,
                                          struct osc_err *err);
