/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - the names in mangled names of C++.
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * Append to the empty OUT, safe for a terminal, the name in SYMBOL (Itanium C++ ABI, 5.1) with
 * its template arguments, but without result type and parameters: at::native::f<4, float>. A
 * template parameter that a function within the name mentions is T, an expression that is more
 * than a value or an address is "...". False: it is not mangled, or not the name of a function
 * or object (virtual tables, guards); OUT may have been written to. Time and memory are
 * bounded, however often a name repeats itself.
 */
bool osc_demangle(struct osc_strbuf *out, struct osc_str symbol);
