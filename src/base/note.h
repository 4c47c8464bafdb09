/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h - notes to the user that accompany an answer, one line each.
 *
 * Names of files and texts of traces are escaped, so that they can neither control a terminal
 * nor end a line.
 *
 * Threading: the buffer is the caller's.
 */
#pragma once

#include "base/status.h"
#include "base/strbuf.h"

/* Append a line to NOTES. */
void osc_note(struct osc_strbuf *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Call HEAR with each line of NOTES; stops if memory runs out. */
void osc_notes_each(const struct osc_strbuf *notes, void (*hear)(void *ctx, const char *line),
                    void *ctx);

/* Escape the message of ERR. */
void osc_note_clean(struct osc_err *err);
