/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_totals.h - count what a run has left in its directory, and what it lost.
 *
 *   - A directory may have recordings of other runs, which every table shows as spans of their
 *     own. A recording that names no run counts as a file of this run, but its losses do not.
 *   - The losses of a recording with a live directory are those that the directory counts, and
 *     those of threads that it does not know any more, which the last part of the file tells.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdint.h>

#include "wire/record.h"

struct osc_run_totals {
    uint32_t n_files;              /* recordings of the run, also those without a file yet */
    uint32_t n_others;             /* recordings of other runs */
    uint64_t bytes;                /* of the run's files */
    uint32_t n_harmed;             /* of its files were removed, moved or cut meanwhile */
    uint32_t write_error;          /* errno of a write that failed; 0: none did */
    uint64_t lost[OSC_LOSS_COUNT]; /* records, by cause; as far as files could be read */
};

/* Count the recordings of the run RUN_ID in DIRECTORY; none, if it cannot be read. */
void osc_run_totals_count(struct osc_run_totals *h, const char *directory, const char *run_id);
