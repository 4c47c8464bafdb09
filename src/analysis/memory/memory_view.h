/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_view.h - which memory records the user asked for.
 *
 * The tables of memory take the selection themselves: an allocation keeps its release and
 * its operator where only one of the two lies in the range, so rows are chosen on the whole
 * trace and nothing is removed from it. A range of time costs a bisection per device.
 *
 * Threading: not locked; one thread.
 */
#pragma once

#include "base/wide.h"
#include "derive/facts.h"
#include "derive/select.h"
#include "table/table.h"

/* Zeroed but for t, it shows everything. */
struct osc_memory_view {
    const struct osc_trace *t;
    const struct osc_facts *f;       /* of t: ALLOCATIONS or CALLERS, and STEPS */
    const struct osc_allocations *a; /* of f */
    int64_t from_ns, to_ns;          /* on the clock of the file: [from, to) */
    int64_t at_ns;                   /* of --at, likewise */
    struct osc_selection rest;       /* without the device */
    struct osc_filter filter;        /* of rest */
    const char *device;              /* NULL: all */
    bool has_rest;                   /* more than time is asked for */
    uint32_t *modules;               /* owned; by node - 1: its module + 1, 1: none, 0: not
                                        asked yet; NULL: no node was */
    struct osc_strbuf label;         /* scratch */
};

/* Records [begin, end) of device d. */
struct osc_memory_range {
    uint32_t begin, end;
};

OSC_MUST_USE osc_status osc_memory_view_init(struct osc_memory_view *v,
                                             const struct osc_trace *t,
                                             const struct osc_options *o, struct osc_err *err);
void osc_memory_view_fini(struct osc_memory_view *v);

/* The records of D that lie in the range of time; none of a device not asked for. */
struct osc_memory_range osc_memory_view_range(const struct osc_memory_view *v,
                                              const struct osc_memory_device *d);

/* Whether record K, in the range of time, is wanted otherwise. */
bool osc_memory_view_wants(const struct osc_memory_view *v, uint32_t k);

/* Whether record K, of a device asked for, is wanted. */
bool osc_memory_view_has(const struct osc_memory_view *v, uint32_t k);

/*
 * What users see as the operator of allocation K: its name; "PARENT (aten::empty)" for the
 * functions that only make room for others; "(none)". Good until the next call.
 */
struct osc_str osc_memory_view_operator(struct osc_memory_view *v, uint32_t k);

/* The name of the innermost module around record K on its thread; none if there is none. */
osc_sid osc_memory_view_module(struct osc_memory_view *v, uint32_t k);

/* The pid of device D's process, as the file has it. */
struct osc_str osc_memory_view_process(const struct osc_memory_view *v,
                                       const struct osc_memory_device *d);

/* Show COLUMN of OUT, which tells the process, if devices of several have records. */
void osc_memory_view_show_process(const struct osc_memory_view *v, struct osc_result *out,
                                  uint32_t column);

/* Say in OUT why it is empty, or what its rows do not show. */
void osc_memory_view_note(const struct osc_memory_view *v, struct osc_result *out);
