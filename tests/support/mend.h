/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mend.h - correct the hashes of an .osc file, whatever else is wrong with it.
 *
 * So changed bytes pass the checks of hashes and reach the code that reads payloads.
 */
#pragma once

#include <string.h>

#include "wire/chunk.h"

/* Correct the header of the chunk at AT. Returns the size of the chunk, limited to the data. */
static inline size_t mend_chunk(uint8_t *data, size_t size, size_t at)
{
    struct osc_wire_header h;

    memcpy(&h, data + at, sizeof h);
    if (h.payload_bytes > size - at - sizeof h)
        h.payload_bytes = size - at - sizeof h;
    h.payload_hash =
        osc_wire_payload_hash(h.type, data + at + sizeof h, (size_t)h.payload_bytes);
    osc_wire_header_seal(&h);
    memcpy(data + at, &h, sizeof h);
    return (size_t)osc_wire_chunk_bytes(h.payload_bytes);
}

/* Correct all chunks of the SIZE bytes at DATA. The entries of an index keep the old hashes. */
static inline void mend(uint8_t *data, size_t size)
{
    struct osc_file_header h;

    if (size < sizeof h)
        return;
    memcpy(&h, data, sizeof h);
    h.version = OSC_FILE_VERSION;
    osc_file_header_seal(&h);
    memcpy(data, &h, sizeof h);
    for (size_t at = sizeof h; size - at >= sizeof(struct osc_wire_header);) {
        const size_t n = mend_chunk(data, size, at);

        if (n > size - at)
            break;
        at += n;
    }
}
