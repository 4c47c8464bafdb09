/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_payload.h - the payloads of an event: bytes whose schema was registered.
 *
 * Each field becomes an argument that is called like it. Categories and colors become those of
 * the event, and a text may be its message. What has no plain type, or lies beyond the end of
 * the bytes, is counted.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "sources/nvtx/nvtx_schema.h"

struct osc_nvtx_payloads {
    const struct osc_nvtx_payload *list;
    size_t n;
};

/* Those of A, if it has such; otherwise none. */
struct osc_nvtx_payloads osc_nvtx_payloads_of(const struct osc_nvtx_attributes *a);

/* The last message in the payloads P of D, which may be NULL; NULL: there is none. */
struct osc_text *osc_nvtx_message_of(const struct osc_nvtx_domain *d,
                                     struct osc_nvtx_payloads p);

/* Add what the payloads P of D say to the last record. */
void osc_nvtx_add_payloads(const struct osc_nvtx_domain *d, struct osc_nvtx_payloads p);
