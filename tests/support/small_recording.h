/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_recording.h - recordings made in memory, for tests of their readers.
 *
 * Records are put into a live block as by the recorder, and blocks become chunks through
 * wire/pack.h.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "wire/chunk.h"
#include "wire/pack.h"

#define RECORDING_FILL 20000u

struct small_recording {
    unsigned char bytes[1 << 17]; /* of the file */
    size_t n_bytes;
    uint64_t n_records;
    unsigned char log[4096]; /* of names; its first byte has offset 64 */
    uint32_t n_log;
    struct osc_block block; /* being filled */
    uint32_t n_slots;
};

static inline void recording_begin(struct small_recording *r)
{
    struct osc_file_header h = {
        .version = OSC_FILE_VERSION, .header_bytes = sizeof h, .recording = {1, 2}, .part = 1};

    memset(r, 0, sizeof *r);
    osc_file_header_seal(&h);
    memcpy(r->bytes, &h, sizeof h);
    r->n_bytes = sizeof h;
    r->block = (struct osc_block){.seq = 1, .thread = 1, .tag = 1, .state = OSC_BLOCK_OPEN};
}

static inline uint32_t recording_name(struct small_recording *r, const char *text)
{
    const uint32_t len = (uint32_t)strlen(text), at = r->n_log;
    const uint32_t head[] = {len + 1, (uint32_t)osc_wire_hash(text, len)};

    assert(at + sizeof head + len + 8 <= sizeof r->log);
    memcpy(r->log + at, head, sizeof head);
    memcpy(r->log + at + sizeof head, text, len);
    r->n_log += (uint32_t)(sizeof head + len + 7) & ~7u;
    return (OSC_STRINGS_AT + at) / 8;
}

/* Add a record of one slot, followed by the N words of WORDS if N is not 0. */
static inline void recording_add(struct small_recording *r, uint32_t kind, uint32_t id,
                                 uint64_t value, const uint64_t *words, uint32_t n)
{
    struct osc_record_slot *s = &r->block.slots[r->n_slots];
    const uint32_t n_slots = 1 + (n + 1) / 2;

    s[0] = (struct osc_record_slot){value, osc_record_word(id, r->block.tag, kind, n_slots)};
    for (uint32_t i = 0; i < n; i++)
        *(i % 2 ? &s[1 + i / 2].word : &s[1 + i / 2].value) = words[i];
    r->n_slots += n_slots;
}

static inline void recording_chunk(struct small_recording *r, uint16_t type,
                                   const void *payload, size_t len, uint64_t n_items)
{
    struct osc_wire_header h = {.type = type,
                                .payload_bytes = len,
                                .payload_hash = osc_wire_hash(payload, len),
                                .n_items = n_items,
                                .n_before = r->n_records};
    const size_t all = (size_t)osc_wire_chunk_bytes(len);

    assert(r->n_bytes + all <= sizeof r->bytes);
    osc_wire_header_seal(&h);
    memcpy(r->bytes + r->n_bytes, &h, sizeof h);
    memcpy(r->bytes + r->n_bytes + sizeof h, payload, len);
    r->n_bytes += all;
    if (type == OSC_CHUNK_RECORDS)
        r->n_records += n_items;
}

/* Make a chunk of the block and begin the next block. */
static inline void recording_flush(struct small_recording *r)
{
    static unsigned char packed[65536];
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    const size_t n = osc_pack_block(
        &r->block, (struct osc_pack_range){.end_slot = r->n_slots, .take_all = true}, &s,
        packed + sizeof s, &times);

    memcpy(packed, &s, sizeof s);
    recording_chunk(r, OSC_CHUNK_RECORDS, packed, sizeof s + n, s.n_records);
    r->block.seq++;
    r->block.tag++;
    r->n_slots = 0;
}

/* Add more instants than a chunk of rows can have, one per tick from TICKS on. */
static inline void recording_fill(struct small_recording *r, uint64_t ticks)
{
    const uint32_t name = recording_name(r, "instant");

    for (uint32_t i = 0; i < RECORDING_FILL; i++) {
        if (r->n_slots == OSC_BLOCK_SLOTS)
            recording_flush(r);
        recording_add(r, OSC_RECORD_INSTANT, name, ticks + i, NULL, 0);
    }
    recording_flush(r);
}

/* Add the names, threads and anchors, and then the end for REASON, or no end. */
static inline void recording_end_for(struct small_recording *r, uint32_t reason)
{
    const struct osc_clock_anchor anchors[] = {{.ticks = 1, .monotonic_ns = 1},
                                               {.ticks = 1000001, .monotonic_ns = 1000001}};
    const struct osc_wire_thread thread = {.ordinal = 1, .tid = 7, .lost = {0, 0, 0, 0}};
    const struct osc_wire_end end = {.reason = reason};
    unsigned char strings[8 + sizeof r->log] = {OSC_STRINGS_AT};

    memcpy(strings + 8, r->log, r->n_log);
    recording_chunk(r, OSC_CHUNK_STRINGS, strings, 8 + r->n_log, 1);
    recording_chunk(r, OSC_CHUNK_CLOCK, anchors, sizeof anchors, 2);
    recording_chunk(r, OSC_CHUNK_THREADS, &thread, sizeof thread, 1);
    if (reason > 0)
        recording_chunk(r, OSC_CHUNK_END, &end, sizeof end, 1);
}

static inline void recording_end(struct small_recording *r)
{
    recording_end_for(r, OSC_END_STOPPED);
}
