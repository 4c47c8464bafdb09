/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args_json.h - the arguments of an event as JSON, in the order and with the types of the file.
 *
 * Threading: one thread; the trace is read-only.
 */
#pragma once

#include "base/idmap.h"
#include "base/strbuf.h"
#include "model/trace.h"

/* Zeroed, it is empty. For one trace. */
struct osc_args_json {
    struct osc_strbuf text; /* owned; of the last event */
    struct osc_idmap right; /* lists and objects whose text is valid JSON already: 1 */
};

/* Write the arguments of row I of C to s->text; false: it has none. Look at s->text.status. */
bool osc_args_json_write(struct osc_args_json *s, const struct osc_trace *t,
                         const struct osc_chunk *c, uint32_t i);
void osc_args_json_fini(struct osc_args_json *s);
