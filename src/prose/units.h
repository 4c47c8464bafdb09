/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - numbers as people read them.
 *
 * Threading: pure functions.
 */
#pragma once

#include "base/strbuf.h"

/*
 * 512 ns, 1.500 us, 12.346 ms, 3.000 s: three decimals from microseconds on and for fractions
 * of a nanosecond; zero is 0 ns.
 */
void osc_units_time(struct osc_strbuf *out, double ns);
void osc_units_time_int(struct osc_strbuf *out, int64_t ns);

/* A time since the origin: 1200.123457 s, so that those of a long recording differ, too. */
void osc_units_moment(struct osc_strbuf *out, int64_t ns);

/* 512 B, 1.50 KB, 12.35 MB, 3.00 GB: in steps of 1024. */
void osc_units_bytes(struct osc_strbuf *out, double bytes);

/* Bytes in a second, with decimal units as networks have them: 1 GB/s is 10^9. */
void osc_units_rate(struct osc_strbuf *out, double bytes_per_s);

/* A ratio as 12.34 %; see percent.h for what is next to nothing or all. */
void osc_units_ratio(struct osc_strbuf *out, double ratio);
