/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_view.h - the memory records that the user selected.
 *
 * The memory tables apply the selection themselves: an allocation keeps its release and its
 * operator even if only one of the two is in the range, so records are selected in the whole
 * trace. A range of time costs a bisection per device.
 *
 * Threading: not locked; one thread.
 */
#pragma once

#include "base/wide.h"
#include "derive/args.h"
#include "derive/facts.h"
#include "derive/select.h"
#include "table/table.h"

/* Zeroed except for t, it selects everything. */
struct osc_memory_view {
    const struct osc_trace *t;
    const struct osc_facts *f;       /* of t: ALLOCATIONS or CALLERS, and STEPS */
    const struct osc_allocations *a; /* of f */
    int64_t from_ns, to_ns;          /* on the clock of the file: [from, to) */
    bool has_at;                     /* --at: what is allocated at at_ns is asked for */
    int64_t at_ns;                   /* on the clock of the file */
    struct osc_selection rest;       /* the selection without the device */
    struct osc_filter filter;        /* of rest */
    const char *device;              /* as its records say; NULL: all */
    bool has_rest;                   /* something besides time is selected */
    uint32_t *modules;               /* owned; by node - 1: its module + 1; 1: none; 0:
                                      * unknown; NULL: no cache yet */
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

/* The records of D in the selected time; none if the device is not selected. */
struct osc_memory_range osc_memory_view_range(const struct osc_memory_view *v,
                                              const struct osc_memory_device *d);

/* Note in OUT, which has no rows, that records lack totals, which WHAT ("peak") needs; unless
 * no record is selected. */
void osc_memory_view_note_totals(const struct osc_memory_view *v, struct osc_result *out,
                                 const char *what);

/* Whether record K, which is in the selected time, matches the rest of the selection. */
bool osc_memory_view_wants(const struct osc_memory_view *v, uint32_t k);

/* Argument KEY of record K; false if it has none. */
bool osc_memory_view_arg(const struct osc_memory_view *v, uint32_t k, enum osc_arg_key key,
                         int64_t *value);

/* The first selected record of D with the largest total; false if none has a total. */
bool osc_memory_view_peak(const struct osc_memory_view *v, const struct osc_memory_device *d,
                          uint32_t *at);

/* The last selected record of D up to v->at_ns, of those with a total if HAS_TOTAL. */
bool osc_memory_view_last(const struct osc_memory_view *v, const struct osc_memory_device *d,
                          bool has_total, uint32_t *at);

/* Whether record K, of a selected device, is selected. */
bool osc_memory_view_has(const struct osc_memory_view *v, uint32_t k);

/*
 * The operator of allocation K as users see it: its name; "PARENT (aten::empty)" for the
 * functions that only allocate for others; "(none)". Valid until the next call.
 */
struct osc_str osc_memory_view_operator(struct osc_memory_view *v, uint32_t k);

/* The name of the innermost module around record K on its thread; or none. */
osc_sid osc_memory_view_module(struct osc_memory_view *v, uint32_t k);

/* The name of device D's process; empty: it has none. */
struct osc_str osc_memory_view_process_name(const struct osc_memory_view *v,
                                            const struct osc_memory_device *d);

/* Write the pid of device D's process, as in the file, to COLUMN, and its name to the next. */
void osc_memory_view_add_process(const struct osc_memory_view *v,
                                 const struct osc_memory_device *d, struct osc_result *out,
                                 uint32_t column);

/* Show COLUMN of OUT, the process, and the next, its name, if devices of several processes have
 * records. */
void osc_memory_view_show_process(const struct osc_memory_view *v, struct osc_result *out,
                                  uint32_t column);

/* Add a note to OUT that says why it is empty, or what its rows leave out. */
void osc_memory_view_note(const struct osc_memory_view *v, struct osc_result *out);
