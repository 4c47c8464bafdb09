/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_kind.h - what `opscope run` has to know of one source of events.
 *
 * Each source says it in a file of its own, NAME/NAME_kind.c, and is named once in
 * source_kinds.h. The command is linked with these files and not with the collector's, so they
 * need nothing but libc and source_files.h.
 *
 * Threading: constants; the functions may fork.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct osc_source_kind {
    const char *title; /* in sentences */
    const char *what;  /* what it records, for --list-sources; NULL: a variant of another one */

    /* How to get it; NULL: it was built. */
    const char *missing;

    /* --- of those that libopscope-collect records -------------------------------------- */

    /* By it, clients load the collector; NULL: none. IS_LIST: it may name others after ours,
     * with ':' between. */
    const char *variable;
    bool is_list;

    /* Whether the collector is preloaded for it, because nothing else loads it here. IS_NAMED:
     * the user has named the sources. NULL: never. */
    bool (*is_preloaded)(bool is_named);
    const char *switch_variable; /* set to 1 if it is preloaded; NULL: none */

    /* Whether it is no default here, for it would cost programs something and find nothing;
     * NULL: it is one. */
    bool (*is_left_out)(void);
    bool yields_to_torch; /* it is no default where --torch records the same */

    const char *unused; /* why nothing may have loaded it */

    /* --- what this machine lacks -------------------------------------------------------- */

    /* What it needs that no program brings with it, and how to get that, a static text; NULL:
     * it is there. NULL as a function: there is no such thing. */
    const char *(*lack)(void);

    /* Make TEXT, of SIZE bytes, what else may be missing, and how to get it, for
     * --list-sources. It is "" before, and stays so if nothing is. NULL: nothing can be. */
    void (*check)(char *text, size_t size);

    /* What to say right behind WHAT if nothing is missing, a static text. NULL: nothing. */
    const char *(*remark)(void);
};
