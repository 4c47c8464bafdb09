/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint.h - which files a trace was read from, and whether they have changed since.
 *
 * The digest of a file covers its path, size, time of change and inode. For a live directory,
 * in use or left over, it covers the content. Files whose digest has not changed need not be
 * read again.
 *
 * Threading: thread-safe.
 */
#pragma once

#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

/*
 * Compute the digest *D of the N files at PATHS, which are read as one trace. A missing file
 * is part of it, too. OSC_ENOMEM: *D is unchanged.
 */
OSC_MUST_USE osc_status osc_files_digest(struct osc_digest *d, const char *const *paths,
                                         uint32_t n);

/* Size of a fingerprint as text: hexadecimal digits and a NUL. */
#define OSC_FINGERPRINT_BYTES 33u

/* Write D to TEXT, a buffer of OSC_FINGERPRINT_BYTES. */
void osc_fingerprint_text(char *text, const struct osc_digest *d);
