/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - read a file of any supported format into a sealed trace.
 *
 * Format and compression are recognised by the first bytes, never by the name. In a damaged
 * file everything readable is read, and the rest is counted in osc_trace.findings. An error is
 * returned if nothing could be read.
 *
 * Threading: one call per trace; it uses threads of its own inside.
 */
#pragma once

#include "base/status.h"
#include "import/build/options.h"
#include "model/trace.h"

/*
 * Read PATH ("-": standard input) into T, which is zeroed. OSC_OK: T is sealed. OSC_ELIMIT (of
 * memory) and OSC_EIO with T->is_partial: T is sealed and contains everything
 * before the limit or the error. Any other status: T is empty.
 */
OSC_MUST_USE osc_status osc_import_path(struct osc_trace *t, const char *path,
                                        const struct osc_import_options *o,
                                        struct osc_err *err);

/* As osc_import_path(), for LEN bytes at DATA, which may be compressed. NAME is for
 * messages. */
OSC_MUST_USE osc_status osc_import_memory(struct osc_trace *t, const char *name,
                                          struct osc_str data,
                                          const struct osc_import_options *o,
                                          struct osc_err *err);
