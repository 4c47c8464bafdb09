/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_file.h - the tables of an exported trace (wire/column_layout.h) as chunk payloads.
 *
 * In a trace that was cut or redacted, texts, forms and tracks that no written row refers to
 * are blank, so that nothing that was left out is in the file. Ids do not change.
 *
 * Threading: not locked.
 */
#pragma once

#include "base/status.h"
#include "base/strbuf.h"
#include "model/trace.h"

/* Which texts, forms and tracks are referred to: bytes by id, owned. All NULL: all are. */
struct osc_column_file_used {
    uint8_t *texts, *forms, *tracks;
    uint32_t n_texts;
};

/* Whether record I of the other store is written: only metadata and arrows are, since ends
 * were joined with their begins. */
bool osc_column_file_keeps(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i);

/* Find what the written rows of T refer to, and unless it IS_PART of a trace, or redacted, its
 * devices. Call osc_column_file_used_fini() even after a failure. */
OSC_MUST_USE osc_status osc_column_file_used_find(struct osc_column_file_used *u,
                                                  const struct osc_trace *t, bool is_part);
void osc_column_file_used_fini(struct osc_column_file_used *u);

/* Append the payloads of the chunks to OUT, whose status is sticky. */
void osc_column_file_model(const struct osc_trace *t, uint64_t n_others, uint32_t n_traces,
                           struct osc_strbuf *out);
void osc_column_file_texts(const struct osc_trace *t, const struct osc_column_file_used *u,
                           struct osc_strbuf *out);
void osc_column_file_forms(const struct osc_trace *t, const struct osc_column_file_used *u,
                           struct osc_strbuf *out);
void osc_column_file_tracks(const struct osc_trace *t, const struct osc_column_file_used *u,
                            struct osc_strbuf *out);
void osc_column_file_devices(const struct osc_trace *t, struct osc_strbuf *out);
