/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - what a trace says in ten seconds: at most 40 lines of 80 columns.
 *
 * Every number is a cell of a table; the screen only picks rows and adds shares. Each
 * section is cut to a number of rows of its own, and names and hints to what fits. A path
 * is never cut in a command, which is there to be copied, and so may be longer than a line;
 * a command for which no lines are left is left out.
 *
 * Threading: one thread.
 */
#ifndef OSC_CLI_SCREEN_SCREEN_H
#define OSC_CLI_SCREEN_SCREEN_H

#include "ask/chosen.h"
#include "cli/options.h"
#include "table/query.h"

enum osc_screen_table {
    OSC_SCREEN_INFO,
    OSC_SCREEN_QUALITY,
    OSC_SCREEN_STEPS,
    OSC_SCREEN_OVERVIEW,
    OSC_SCREEN_RANKS, /* overview again, a block for each rank and span */
    OSC_SCREEN_OPERATORS,
    OSC_SCREEN_KERNELS,
    OSC_SCREEN_ADVICE,
    OSC_SCREEN_TABLES
};

/* What is shown: filled by cmd_screen.c. */
struct osc_screen {
    const struct osc_chosen *chosen;
    const struct osc_args *args;
    struct osc_answer
        answers[OSC_SCREEN_TABLES]; /* owned; merged but for STEPS, RANKS, ADVICE */
    unsigned width;                 /* of the terminal; 0: it is none */
    bool has_colour;
};

/* Append the screen to OUT. */
void osc_screen_write(const struct osc_screen *s, struct osc_strbuf *out);

#endif
