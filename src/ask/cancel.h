/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.h - which questions a struct osc_cancel (opscope/trace.h) stops.
 *
 * Each question has its own memory account (base/mem.h); canceling that account stops the
 * question.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "base/mem.h"
#include "opscope/trace.h"

/* An account that can be stopped while it is joined. */
struct osc_cancel_entry {
    struct osc_mem_account *account; /* borrowed */
    struct osc_cancel_entry *next;
};

/* From join to leave, C (may be NULL: no effect) can stop the account of E. If C was pulled
 * before, join stops it at once. */
void osc_cancel_join(struct osc_cancel *c, struct osc_cancel_entry *e);
void osc_cancel_leave(struct osc_cancel *c, struct osc_cancel_entry *e);
