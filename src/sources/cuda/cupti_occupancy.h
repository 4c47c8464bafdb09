/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_occupancy.h - how full a kernel makes a device, as Kineto writes it.
 *
 * Blocks per multiprocessor are those that were launched, evenly spread. Of them so many are
 * resident as warps, blocks, registers and shared memory allow (NVIDIA's occupancy calculator,
 * for devices from compute capability 5.0 on).
 *
 * Threading: pure functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of a device; 0: unknown. */
struct osc_cupti_limits {
    uint32_t n_units, major, minor;
    uint32_t warp_threads, warps_per_unit, blocks_per_unit;
    uint32_t registers_per_unit, registers_per_block;
    uint32_t shared_per_unit;
};

struct osc_cupti_launch {
    int32_t grid[3], block[3];
    uint32_t registers;    /* of a thread */
    uint32_t shared_bytes; /* of a block, both kinds */
};

struct osc_cupti_occupancy {
    bool is_known;
    float blocks_per_unit, warps_per_unit;
    int32_t percent; /* estimated achieved occupancy */
};

struct osc_cupti_occupancy osc_cupti_occupancy_of(const struct osc_cupti_limits *device,
                                                  const struct osc_cupti_launch *launch);
