/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mend.h - put the hashes of an .osc file right, whatever else is wrong with it.
 *
 * So a changed byte gets past them to those who read payloads.
 */
#pragma once

#include <string.h>

#include "wire/chunk.h"

/* Put right what a chunk at AT says of itself; its bytes, cut to what there is. */
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

/* All chunks of the SIZE bytes at DATA. What is an index still has the hashes of before. */
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
