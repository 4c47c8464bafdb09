/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_state.h - what all sources of the collector share: which of them are wanted, the start
 * of the recorder, and what recordings say of each.
 *
 * A source that is there says so in the recording: "source.itt" in the metadata, with its
 * version and what it found; "source.itt.2" is its second report. Hooks fail silently, so a
 * recording without the report shows that nothing called the source.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Bits of the state of the process. If any is set, calls of clients take the slow path. */
enum osc_source_bits {
    OSC_SOURCE_REPORT_DUE = 1,   /* this recording has not all reports yet */
    OSC_SOURCE_ITT_DETACHED = 2, /* a client of ITT stopped recording for good */
};

extern _Atomic uint32_t osc_source_state_ __attribute__((visibility("hidden")));

struct osc_source {
    const char *name; /* its word in OPSCOPE_SOURCES */
    _Atomic uint32_t n_reports;
};

/* Whether OPSCOPE and OPSCOPE_SOURCES let S record. */
bool osc_source_is_wanted(const struct osc_source *s);

/* Whether OPSCOPE_SOURCES has PyTorch, in whatever way, beside others. */
bool osc_source_is_beside_torch(void);

/* Start the recorder with its defaults, unless a source has done so. */
void osc_source_begin(void);

/* Record TEXT (cut at 255 bytes) as a report of S, also in children of a fork. */
void osc_source_report(struct osc_source *s, const char *text);

/* Record that S is there and cannot record, as "source_failed.NAME". WHY, in one line, says
 * what to do. */
void osc_source_fail(const struct osc_source *s, const char *why);

/* Record all reports: the child of a fork has a recording of its own. */
void osc_source_report_all(void);
