/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - what there is to say beside an answer, a line each.
 *
 * Names of files and words of traces must not steer a terminal, nor end a line: what does
 * is escaped.
 *
 * Threading: the buffer is the caller's.
 */
#pragma once

#include "base/status.h"
#include "base/strbuf.h"

/* Append a line to NOTES. */
void osc_note(struct osc_strbuf *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Call HEAR with each line of NOTES, for as long as there is memory. */
void osc_notes_each(const struct osc_strbuf *notes, void (*hear)(void *ctx, const char *line),
                    void *ctx);

/* Escape what MESSAGE of ERR has in it. */
void osc_note_clean(struct osc_err *err);
