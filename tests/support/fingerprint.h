/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint.h - one number for the whole content of a loaded trace.
 *
 * Two loads of the same text must have the same one, whatever the number of threads, the size
 * of units and blocks, and the kernel. Ids of strings, forms and tracks may differ; the bytes
 * that they stand for are compared.
 */
#pragma once

#include <string.h>

#include "base/hash.h"
#include "model/trace.h"

static inline uint64_t mix_str(uint64_t h, struct osc_str s)
{
    return osc_hash_u64(h ^ osc_hash(s.s, s.len, s.len));
}

static inline uint64_t mix_store(uint64_t h, const struct osc_trace *t,
                                 const struct osc_store *store)
{
    for (uint32_t c = 1; c < store->n_chunks; c++) {
        const struct osc_chunk *k = store->chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            const struct osc_form *f = osc_row_form(t, k, i);
            const struct osc_track *track = &t->tracks[k->track[i]];

            h = osc_hash_u64(h ^ (uint64_t)k->ts_ns[i]);
            if (store == &t->events)
                h = osc_hash_u64(h ^ (uint64_t)k->dur_ns[i] ^ k->kind[i]);
            else if (k->dur_ns) /* column files have none, and their ends are in the rows */
                h = osc_hash_u64(h ^ ((uint64_t)k->first_event + (uint64_t)k->dur_ns[i]));
            h = mix_str(h, osc_row_name(t, k, i));
            h = mix_str(h, osc_trace_str(t, track->pid));
            h = mix_str(h, osc_trace_str(t, track->tid));
            h = mix_str(h, osc_trace_str(t, f->category));
            h = osc_hash_u64(h ^ f->shape ^ (uint64_t)f->has_args << 8 ^
                             (uint64_t)(uint8_t)f->chrome_ph << 16);
            for (uint32_t j = 0; j < f->n_slots; j++) {
                const struct osc_arg arg = osc_row_slot(t, k, i, j);
                uint64_t bits;

                memcpy(&bits, &arg.d, sizeof bits);
                h = mix_str(h, osc_trace_str(t, f->slots[j].key));
                h = osc_hash_u64(h ^ (uint64_t)arg.type ^ (uint64_t)f->slots[j].is_member << 8);
                h = osc_hash_u64(h ^ (uint64_t)arg.i);
                h = osc_hash_u64(h ^ bits);
                if (arg.type >= OSC_ARG_STRING)
                    h = mix_str(h, osc_trace_str(t, arg.sid));
            }
        }
    }
    return h;
}

static inline uint64_t fingerprint(const struct osc_trace *t)
{
    uint64_t h = 1;

    h = mix_store(h, t, &t->events);
    h = mix_store(h, t, &t->others);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        h = mix_str(h, osc_trace_str(t, t->metas[i].key));
        h = mix_str(h, osc_trace_str(t, t->metas[i].value));
    }
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++) {
        const struct osc_finding *f = &t->findings.by_code[i];
        h = osc_hash_u64(h ^ f->count);
        if (f->count > 0) {
            h = osc_hash_u64(h ^ f->first_offset);
            h = osc_hash_u64(h ^ (uint64_t)f->first_ns);
        }
    }
    return osc_hash_u64(h ^ (uint64_t)t->rank ^ (uint64_t)t->base_ns);
}
