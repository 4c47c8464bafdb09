/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint.h - which files a trace was read from, and whether they are what they were.
 *
 * A file is told by its path, size, time of change and inode; of what a recorder is still
 * writing, and of what it left in a live directory, the content counts. Who has the digest
 * of some files from before need not read them again if it has not changed.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

/*
 * Find the digest *D of the N files at PATHS, which are read as one. A file that is not there
 * has one too. OSC_ENOMEM: *D is as before.
 */
OSC_MUST_USE osc_status osc_files_digest(struct osc_digest *d, const char *const *paths,
                                         uint32_t n);

/* Hexadecimal digits of a fingerprint, and the NUL behind them. */
#define OSC_FINGERPRINT_BYTES 33u

/* Put D into TEXT, which has OSC_FINGERPRINT_BYTES. */
void osc_fingerprint_text(char *text, const struct osc_digest *d);
