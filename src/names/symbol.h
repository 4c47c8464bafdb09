/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - the parts of a C++ name, such as that of a kernel.
 *
 *   void a::b<4, c<float>>::f<int>(int, float*) const
 *
 * has the result type void, the components a, b with two arguments, and f with one, two
 * parameters and the suffix const. A name is scanned once for its brackets: a ">" that stands
 * in parentheses or belongs to an operator or an arrow closes nothing. What cannot be C++
 * (brackets that are not paired, words of other kinds) has no parts and is shown as it is.
 *
 * Threading: pure functions; a struct osc_symbol is read-only once scanned.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

#define OSC_SYMBOL_BYTES_MAX (64u << 10) /* longer names have no parts */
#define OSC_SYMBOL_PARTS_MAX 20 /* the first ones are taken together if there are more */

/* A text with its brackets. Zeroed, it is empty. */
struct osc_symbol {
    struct osc_str text; /* borrowed */
    uint32_t *match; /* owned; of each bracket that opens the index of its end, else 0; NULL:
                      * TEXT has no parts */
};

/* Part of the text, from the first byte to before the last. */
struct osc_span {
    uint32_t from, to;
};

/* A component of a qualified name. */
struct osc_symbol_part {
    struct osc_span word;  /* with the symbol of an operator */
    struct osc_span args;  /* between the brackets; from is 0: none */
    struct osc_span given; /* parameters, the same */
};

/* The parts of a name or type. */
struct osc_symbol_name {
    struct osc_span result; /* empty: none */
    struct osc_symbol_part parts[OSC_SYMBOL_PARTS_MAX];
    uint32_t n_parts;
    uint32_t main;          /* index of the last part that is no lambda and no operator() */
    struct osc_span suffix; /* const, *, [clone x] and the like, with the blank before it */
};

/* Whether NAME, of anything, can only be that of a C++ function: mangled, or void f(int). */
bool osc_symbol_is_function(struct osc_str name);

/* Scan TEXT, which is borrowed, for brackets. OSC_ENOMEM, or OSC_OK. */
OSC_MUST_USE osc_status osc_symbol_scan(struct osc_symbol *y, struct osc_str text);
void osc_symbol_fini(struct osc_symbol *y);

/*
 * Split the part AT of Y. IS_FUNCTION: it may have a result type and parameters; else it is an
 * argument. False: it is no name, such as a literal, or a type of functions.
 */
bool osc_symbol_split(const struct osc_symbol *y, struct osc_span at, bool is_function,
                      struct osc_symbol_name *name);

/* The argument that starts at *AT of a list that ends at END; *AT moves behind its comma. False
 * at the end. */
bool osc_symbol_argument(const struct osc_symbol *y, uint32_t *at, uint32_t end,
                         struct osc_span *arg);

/* Append PART, its arguments folded and its parameters left out. */
void osc_symbol_write_part(struct osc_strbuf *out, const struct osc_symbol *y,
                           const struct osc_symbol_part *part);

/*
 * Append the C++ name SYMBOL, safe for a terminal, without its result type and parameters and
 * with
 * "<...>" for each list of template arguments: void at::f<4, g<float>>(int) becomes
 * at::f<...>. What is no C++ name is not changed. Takes time linear in the length.
 */
void osc_symbol_fold(struct osc_strbuf *out, struct osc_str symbol);
