/* SPDX-License-Identifier: Apache-2.0 */
/*
 * domains.h - the ITT domains of a recording, each with its tasks.
 *
 * A recording has the domain of a task as its argument `domain`. Tasks of one domain of one
 * process, whatever their threads, are drawn together. The first OSC_DOMAINS_MAX in the order
 * of the rows are; files of other programs have none, whatever arguments they have.
 *
 * Threading: made by one thread; read-only afterwards.
 */
#pragma once

#include "base/idmap.h"
#include "base/status.h"
#include "model/trace.h"

#define OSC_DOMAINS_MAX 64u

struct osc_domain {
    osc_sid name;
    uint32_t track; /* osc_track_id: of its first task */
    uint32_t n;     /* tasks that have ended, at least 1 */
};

/* Zeroed, there are none. */
struct osc_domains {
    struct osc_domain v[OSC_DOMAINS_MAX]; /* in order of their first tasks */
    uint32_t n;
    uint32_t *slot_of;      /* owned; by form: the slot of the argument + 1, or 0 */
    struct osc_idmap known; /* by process and name: index in v + 1, or OSC_DOMAINS_MAX + 1 */
};

/* Find those of T, which has FOREST. After a failure D is empty. */
OSC_MUST_USE osc_status osc_domains_find(const struct osc_trace *t, struct osc_domains *d);
void osc_domains_fini(struct osc_domains *d);

/* Put the rows of the tasks to ROWS, domain after domain, each in the order of the file. */
void osc_domains_rows(const struct osc_trace *t, const struct osc_domains *d, uint32_t *rows);
