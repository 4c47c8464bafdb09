/* SPDX-License-Identifier: Apache-2.0 */
/*
 * percent.h - shares as people read them.
 *
 * A share is rounded, but 0 % and 100 % are exact: what is too little for the digits reads as
 * <0.1 %, what lacks as little as 99.9 %.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"

/* Append RATIO with N_DIGITS behind the point, such as 12.3 %. */
void osc_percent_add(struct osc_strbuf *out, double ratio, int n_digits);
