/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_cells.h - one cell of torch's table(), as torch writes it.
 *
 * Numbers are rounded as Python rounds them: the double, exactly, half to even.
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

/* Per cent of TOTAL_US; NaN of nothing. */
struct osc_str osc_torch_share(struct osc_torch_cell *cell, double us, double total_us);

/* 512 B, 1.50 KB; in the words of torch 1.13: 512 b, 1.50 Kb. */
struct osc_str osc_torch_memory(struct osc_torch_cell *cell, int64_t bytes, bool is_113);

/* FLOPs in units of 1000^POWER; -- for none. */
struct osc_str osc_torch_flops(struct osc_torch_cell *cell, int64_t flops, unsigned power);

/* 0 to 5 for FLOPs to PFLOPs: the unit of the least positive number, MIN_FLOPS. */
unsigned osc_torch_flops_power(int64_t min_flops);

/* Append NAME, cut from three characters below MAX_WIDTH on (negative: never). */
void osc_torch_name(struct osc_strbuf *out, struct osc_str name, int32_t max_width);

/* Append the tail of PATH that fits WIDTH characters, dots in front of what is cut. */
void osc_torch_path(struct osc_strbuf *out, struct osc_str path, size_t width);

/* The first N characters of S. */
struct osc_str osc_torch_head(struct osc_str s, size_t n);
