/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/chunk.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t osc_wire_hash(const void *p, size_t len)
{
    return XXH64(p ? p : "", p ? len : 0, 0);
}

uint64_t osc_wire_payload_hash(uint16_t type, const void *p, size_t len)
{
    return type < OSC_CHUNK_MODEL ? osc_wire_hash(p, len) : XXH3_64bits(p, len);
}

void osc_file_header_seal(struct osc_file_header *h)
{
    memcpy(h->magic, OSC_FILE_MAGIC, sizeof h->magic);
    h->hash = osc_wire_hash(h, offsetof(struct osc_file_header, hash));
}

bool osc_file_header_is_good(const struct osc_file_header *h)
{
    return memcmp(h->magic, OSC_FILE_MAGIC, sizeof h->magic) == 0 &&
           h->hash == osc_wire_hash(h, offsetof(struct osc_file_header, hash));
}

void osc_wire_header_seal(struct osc_wire_header *h)
{
    h->magic = OSC_CHUNK_MAGIC;
    h->hash = osc_wire_hash(h, offsetof(struct osc_wire_header, hash));
}

bool osc_wire_header_is_good(const struct osc_wire_header *h)
{
    return h->magic == OSC_CHUNK_MAGIC &&
           h->hash == osc_wire_hash(h, offsetof(struct osc_wire_header, hash));
}

uint64_t osc_wire_chunk_bytes(uint64_t payload_bytes)
{
    if (payload_bytes > UINT64_MAX - UINT64_C(2) * OSC_WIRE_ALIGN)
        return 0;
    return sizeof(struct osc_wire_header) +
           (payload_bytes + OSC_WIRE_ALIGN - 1) / OSC_WIRE_ALIGN * OSC_WIRE_ALIGN;
}
