/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables_json.h - the catalog: all tables, columns, options and rules, as JSON.
 *
 *     {"opscope", "schema",
 *      "tables": [{"name", "help", "source", "sorted_by": column or null,
 *                  "group_by": [word...], "patterns": also by name~PATTERN,
 *                  "options": [those that only some tables take...],
 *                  "compares": it is of two runs, "joins_ranks",
 *                  "streams": as long as the trace,
 *                  "columns": [{"name", "type", "unit", "help", "optional", "deep", "symbol",
 *                               "long", "below", "minor", "merge": how values of several
 *                               ranks become one, "sums": they are added, "moment",
 *                               "group_by": word or null, "rules": [index...]}...]}...],
 *      "leading": the columns rank and span, before all others if there are several,
 *      "options": [{"name", "part": "view|question|text", "switch": it has no value; of those
 *                   that only some tables take, too: "kind", "argument", "words", "help"}...],
 *      "forms": [name...],
 *      "rules": [{"title", "text", "source"}...]}
 *
 * Threading: a pure function; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"

/* Append the catalog to OUT. */
void osc_tables_json(struct osc_strbuf *out);
