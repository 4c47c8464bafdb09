/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - shorten the names of kernels.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"

/*
 * Append the C++ name SYMBOL, safe for a terminal, with "<...>" for each list of template
 * arguments: at::native::f<4, g<float>>(int) becomes at::native::f<...>(int). A name with
 * unpaired brackets is not changed. For a mangled name (_ZN...) the parameters are folded as
 * well: at::native::f<...>(...).
 */
void osc_symbol_fold(struct osc_strbuf *out, struct osc_str symbol);
