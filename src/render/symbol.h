/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - the names of kernels, short enough to read.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"

/*
 * Append the C++ name SYMBOL, fit for a terminal, with "<...>" for each list of
 * template arguments: at::native::f<4, g<float>>(int) is at::native::f<...>(int).
 * A name whose brackets do not pair stays as it is. Of a mangled name (_ZN...) the
 * parameters are folded as well: at::native::f<...>(...).
 */
void osc_symbol_fold(struct osc_strbuf *out, struct osc_str symbol);
