/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_cells.h - a cell of torch's table(), formatted as torch does.
 *
 * Numbers are rounded as in Python: the exact double, half to even.
 *
 * Threading: pure functions; the buffers are the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

/* Room for any number cell. */
struct osc_torch_cell {
    char s[64];
};

/* 12.345us, 1.234ms, 1.234s; negative times stay in us. */
struct osc_str osc_torch_time(struct osc_torch_cell *cell, double us);

/* Percentage of TOTAL_US; NaN if that is 0. */
struct osc_str osc_torch_share(struct osc_torch_cell *cell, double us, double total_us);

/* 512 B, 1.50 KB; as in torch 1.13: 512 b, 1.50 Kb. */
struct osc_str osc_torch_memory(struct osc_torch_cell *cell, int64_t bytes, bool is_113);

/* FLOPs in units of 1000^POWER; -- for none. */
struct osc_str osc_torch_flops(struct osc_torch_cell *cell, int64_t flops, unsigned power);

/* 0 to 5 for FLOPs to PFLOPs: the unit for MIN_FLOPS, the smallest positive number. */
unsigned osc_torch_flops_power(int64_t min_flops);

/* Append NAME, cut to MAX_WIDTH minus three characters if it is longer (negative: never
 * cut). */
void osc_torch_name(struct osc_strbuf *out, struct osc_str name, int32_t max_width);

/* Append the tail of PATH that fits WIDTH characters, with dots in front if it is cut. */
void osc_torch_path(struct osc_strbuf *out, struct osc_str path, size_t width);

/* The first N characters of S. */
struct osc_str osc_torch_head(struct osc_str s, size_t n);
