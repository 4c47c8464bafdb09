/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/cuda/cupti_occupancy.h"

#define REGISTER_UNIT   256u  /* registers of a warp are given out in these */
#define SHARED_RESERVED 1024u /* of each block, from 8.0 on */

static uint64_t round_up(uint64_t x, uint64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

/* Parts of a multiprocessor, each with registers of its own. */
static uint64_t parts_of(const struct osc_cupti_limits *d)
{
    return d->major == 6 && d->minor == 0 ? 2 : 4;
}

/* How many blocks of N_WARPS warps the registers allow. */
static uint64_t fit_registers(const struct osc_cupti_limits *d, uint64_t registers,
                              uint64_t n_warps)
{
    const uint64_t parts = parts_of(d);
    const uint64_t of_warp = round_up(registers * d->warp_threads, REGISTER_UNIT);

    if (of_warp == 0 || d->registers_per_unit == 0)
        return UINT64_MAX;
    if (d->registers_per_block > 0 &&
        of_warp * round_up(n_warps, parts) > d->registers_per_block)
        return 0;
    return d->registers_per_unit / parts / of_warp * parts / n_warps;
}

static uint64_t fit_shared(const struct osc_cupti_limits *d, uint64_t bytes)
{
    const uint64_t reserved = d->major >= 8 ? SHARED_RESERVED : 0;
    const uint64_t of_block = round_up(bytes + reserved, d->major >= 8 ? 128 : 256);

    return of_block == 0 || d->shared_per_unit == 0 ? UINT64_MAX
                                                    : d->shared_per_unit / of_block;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Blocks of LAUNCH that can be resident on a multiprocessor at once. */
static uint64_t resident_blocks(const struct osc_cupti_limits *d,
                                const struct osc_cupti_launch *launch, uint64_t threads)
{
    const uint64_t n_warps = (threads + d->warp_threads - 1) / d->warp_threads;
    uint64_t n = d->warps_per_unit / n_warps;

    if (d->blocks_per_unit > 0)
        n = least(n, d->blocks_per_unit);
    n = least(n, fit_registers(d, launch->registers, n_warps));
    return least(n, fit_shared(d, launch->shared_bytes));
}

struct osc_cupti_occupancy osc_cupti_occupancy_of(const struct osc_cupti_limits *device,
                                                  const struct osc_cupti_launch *launch)
{
    const struct osc_cupti_occupancy unknown = {0};
    uint64_t blocks = 1, threads = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] <= 0 || launch->block[i] <= 0 || launch->block[i] > 65536)
            return unknown;
        blocks *= (uint32_t)launch->grid[i];
        threads *= (uint32_t)launch->block[i];
        if (blocks > UINT32_MAX * UINT64_C(65536))
            return unknown;
    }
    if (device->n_units == 0 || device->warp_threads == 0 || device->warps_per_unit == 0)
        return unknown;
    /* In single precision, as Kineto computes it: the digits are those of its traces. */
    const float per_unit = (float)blocks / (float)device->n_units;
    const float fit = (float)resident_blocks(device, launch, threads);
    const float resident = fit < per_unit ? fit : per_unit;
    const float share =
        resident * (float)threads / (float)(device->warps_per_unit * device->warp_threads);
    return (struct osc_cupti_occupancy){
        .is_known = true,
        .blocks_per_unit = per_unit,
        .warps_per_unit = per_unit * (float)threads / (float)device->warp_threads,
        .percent = (int32_t)(0.5 + (double)share * 100.0),
    };
}
