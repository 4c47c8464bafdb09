/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.h - C++ names that are folded, but for what tells them apart.
 *
 * at::native::f<4, Fill<float>> and at::native::f<4, Mul<float>> become f<..., Fill<...>> and
 * f<..., Mul<...>>: names of the same last word are compared argument by argument, and those by
 * which they differ are shown, each folded in the same way. Arguments are preferred to scopes,
 * and scopes to parameters and result types. Of names that only wrap another, such as that of
 * CUTLASS's device_kernel, the argument that names it is always shown.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/arena.h"
#include "names/elide.h"

/* A part of a name that is shown: which, and its text. */
struct osc_told_part {
    uint64_t place;
    struct osc_str text;
};

/* How what tells names apart is written. */
enum osc_told_form {
    OSC_TOLD_LONG,
    OSC_TOLD_SHORT,    /* arguments without their scopes */
    OSC_TOLD_SHORTEST, /* the same, and of equally telling arguments the shortest ones */
    OSC_TOLD_FORMS
};

/* What is shown of a name besides its words, in each form. */
struct osc_told {
    struct osc_told_part *parts[OSC_TOLD_FORMS]; /* in the arena */
    uint32_t n[OSC_TOLD_FORMS];
};

/* Find what tells N names, scanned and different, apart. The results lie in ARENA. */
OSC_MUST_USE osc_status osc_told_find(const struct osc_symbol *names, uint32_t n,
                                      struct osc_arena *arena, struct osc_told *told);

/*
 * Append the name Y to OUT, which is empty. LEVEL 0 is the longest form; each level up to the
 * last one, which is returned, leaves out more: scopes of arguments, its own scopes, then long
 * arguments for shorter ones. KEPT, which may be NULL, receives what must not be cut. What is
 * no C++ name is appended as it is.
 */
uint32_t osc_told_write(struct osc_strbuf *out, const struct osc_symbol *y,
                        const struct osc_told *told, uint32_t level, struct osc_kept *kept,
                        struct osc_span *main);
