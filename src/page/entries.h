/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries.h - answers with the questions that they answer, compressed, up to a limit of bytes.
 *
 *     entry   u32: bytes of the key, u32: bytes of the answer (both little-endian);
 *             the key, padded with zeros to a multiple of 8; the answer, likewise
 *
 * The entries follow each other, and the whole is one gzip member. Each entry is compressed by
 * itself, so what it costs is known before it is taken.
 *
 * Threading: one thread.
 */
#pragma once

#include "base/strbuf.h"
#include "codec/deflate.h"

struct osc_pack {
    struct osc_deflate *z; /* owned */
    struct osc_deflate_sum sum;
    struct osc_strbuf entry;
    struct osc_strbuf out; /* the gzip member, whole after osc_pack_end() */
};

/* OSC_EINVAL: this build cannot compress. The caller frees P in any case. */
OSC_MUST_USE osc_status osc_pack_begin(struct osc_pack *p);
void osc_pack_fini(struct osc_pack *p);

/*
 * Take the N bytes at BYTES as the answer to KEY. *IS_TAKEN is false, and nothing has changed,
 * if all entries would then need more than MOST bytes, or the answer has 1 GiB. OSC_ENOMEM.
 */
OSC_MUST_USE osc_status osc_pack_add(struct osc_pack *p, const char *key, const char *bytes,
                                     size_t n, size_t most, bool *is_taken);

OSC_MUST_USE osc_status osc_pack_end(struct osc_pack *p);
