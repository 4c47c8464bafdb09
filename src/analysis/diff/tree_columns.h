/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_columns.h - the columns of a digest that is a tree.
 *
 * Threading: constants.
 */
#pragma once

/* Columns. Rows stand behind those of their parents. */
enum {
    OSC_TREE_HASH, /* of the place */
    OSC_TREE_SPAN,
    OSC_TREE_STEP,   /* ordinal, or one of those below */
    OSC_TREE_PARENT, /* the hash of the place around it; 0: none */
    OSC_TREE_NAME,
    OSC_TREE_KIND, /* enum osc_kind */
    OSC_TREE_CALLS,
    OSC_TREE_HOST,
    OSC_TREE_DEVICE, /* of what was launched in it */
    OSC_TREE_COLUMNS
};

/* Slow first steps are known only when all ranks are there. So many of each span may be, and
 * have rows of their own. */
#define OSC_SLOW_STEPS_MAX 8u
#define OSC_TREE_LATER     (-1) /* any later step */
#define OSC_TREE_OUTSIDE   (-2) /* no step, or one that is not kept */
