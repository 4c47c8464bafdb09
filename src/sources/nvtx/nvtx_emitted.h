/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_emitted.h - the names that torch.autograd.profiler.emit_nvtx() makes, such as
 *
 *     aten::mm, seq = 12, op_id = 34, sizes = [[2, 3], [3, 4]], input_op_ids = [...]
 *
 * of which all but the first part may be missing; older ones have no op_id. It counts calls, so
 * each name is another one: taken apart, few are left.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osc_nvtx_emitted {
    size_t name_len; /* 0: it is no such name */
    bool is_operator;
    int64_t sequence;  /* -1: none */
    const char *sizes; /* NULL: none; within the name */
    size_t sizes_len;
};

/* The parts of the name of LEN bytes at S. */
struct osc_nvtx_emitted osc_nvtx_parse_emitted(const char *s, size_t len);
