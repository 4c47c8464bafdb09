/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launchers.h - what launched device work, in four words.
 *
 *   operator      an operator that counts as a row of table `operators`
 *   graph         a call that launches a recorded graph of kernels, outside of operators
 *   runtime call  any other call of the runtime or driver outside of operators
 *   not recorded  the call is not in the trace
 *
 * Threading: pure function over a trace with LINKS.
 */
#pragma once

#include "derive/facts.h"

enum osc_launcher {
    OSC_LAUNCHER_OPERATOR,
    OSC_LAUNCHER_GRAPH,
    OSC_LAUNCHER_CALL,
    OSC_LAUNCHER_NONE,
    OSC_LAUNCHERS
};

/* What launched WORK, of T, whose facts are F. */
enum osc_launcher osc_launcher_of(const struct osc_trace *t, const struct osc_facts *f,
                                  const struct osc_work *work);

/* Whether the call of WORK launches graphs, whoever made it. */
bool osc_launcher_is_graph(const struct osc_trace *t, const struct osc_facts *f,
                           const struct osc_work *work);

/* The word for L that users see; static. */
const char *osc_launcher_text(enum osc_launcher l);
