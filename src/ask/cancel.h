/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.h - which questions a struct osc_cancel (opscope/trace.h) stops.
 *
 * A question pays for its memory from an account of its own (base/mem.h); to stop it is to
 * cancel that account.
 *
 * Threading: thread-safe.
 */
#pragma once

#include "base/mem.h"
#include "opscope/trace.h"

/* One account that may be stopped, for as long as it is joined. */
struct osc_cancel_entry {
    struct osc_mem_account *account; /* borrowed */
    struct osc_cancel_entry *next;
};

/* Let C (NULL: nothing) stop the account of E from now on, or at once; and no longer. */
void osc_cancel_join(struct osc_cancel *c, struct osc_cancel_entry *e);
void osc_cancel_leave(struct osc_cancel *c, struct osc_cancel_entry *e);
