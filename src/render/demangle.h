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
 * Append to the empty OUT, safe for a terminal, the name in SYMBOL (Itanium C++ ABI), with
 * "<...>" for each list of template arguments and "(...)" for parameters:
 * at::native::f<...>(...). False: it is not mangled, or uses what is not supported; OUT may
 * have been written to.
 */
bool osc_demangle(struct osc_strbuf *out, struct osc_str symbol);
