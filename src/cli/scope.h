/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - which options have a meaning for which tables and forms.
 *
 * What would change nothing is refused, rather than ignored: it shows that the user
 * expects something else. For which tables an option is follows from their
 * definitions; one list in scope.c says how.
 *
 * Threading: constants.
 */
#ifndef OSC_CLI_SCOPE_H
#define OSC_CLI_SCOPE_H

#include "base/strbuf.h"
#include "cli/options.h"

/*
 * Whether option ID is for all tables, for the text of its own that a table has, and
 * for DEF.
 */
bool osc_scope_is_all(enum osc_option_id id);
bool osc_scope_is_own_text(enum osc_option_id id);
bool osc_scope_has(enum osc_option_id id, const struct osc_table_def *def);

/* Append "a, b and c", the tables that option ID is for. */
void osc_scope_add_tables(struct osc_strbuf *out, enum osc_option_id id);

/*
 * Whether each option that was given has a meaning for DEF in the form that ARGS ask
 * for; if not, OSC_EXIT_MISUSED after a message.
 */
int osc_scope_check(const struct osc_args *args, const struct osc_table_def *def);

#endif
