/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakdown.h - the length of each step, and how its time divides into classes of work.
 *
 * A step lasts until the device has finished the work launched in it, and begins no earlier
 * than the end of the step before it in its process. Trailing steps are dropped if probably not
 * all of their device work was recorded. Each moment goes to the first class, in order of
 * priority, that runs anywhere at that moment, or else to `other`; so the costs of a step add
 * up to its length. Which lengths are far from the others: steps/outliers.h.
 * In a selected step that is what runs there without the choice of steps (part/bystanders.h).
 * A question may want other rules: see struct osc_step_rules.
 *
 * Threading: not locked; a breakdown belongs to one thread.
 */
#pragma once

#include "base/status.h"
#include "derive/unions.h"
#include "model/trace.h"

/* Costs are indexed by enum osc_class; the last one is the time that no class covers. */
#define OSC_COST_OTHER OSC_CLASS_COUNT
#define OSC_COST_COUNT (OSC_CLASS_COUNT + 1)

/* How steps are measured. Zeroed, it is as above. */
struct osc_step_rules {
    bool compat_tb;       /* by the classes of the TensorBoard plugin */
    bool is_annotation;   /* a step is its annotation, whatever the device does */
    bool keeps_all;       /* none is dropped */
    const char *priority; /* borrowed; "memcpy,kernel": these classes first; NULL: as in enum
                           * osc_class */
};

/* Set ORDER to the classes that TEXT names, then the others in the order of enum osc_class.
 * False: a word is no class, or a class is there twice. */
bool osc_priority_parse(const char *text, uint8_t order[OSC_CLASS_COUNT]);

struct osc_step_cost {
    int64_t start_ns, end_ns; /* including device work; clock of the file */
    int64_t cost_ns[OSC_COST_COUNT];
    uint32_t n_works;      /* device events that its calls launched */
    bool is_behind_device; /* its begin was moved: the device was busy with earlier work */
    bool is_tail;          /* the tail rule drops it */
    bool is_empty;   /* it holds no operator (struct osc_step_bound), and compat_tb is off */
    bool is_kept;    /* averages count it: it is of no tail and not empty, or none is dropped */
    bool is_outlier; /* kept, and its length is far from the median */
};

/* One cost per step of the trace, in the same order. Zeroed, it is empty. */
struct osc_breakdown {
    struct osc_step_cost *steps; /* owned */
    uint32_t n_steps, n_kept;
    struct osc_step whole; /* with COMPAT_TB the only step of a trace with iterations */
    bool is_whole;         /* that is the one in steps */
    int64_t gross_ns[OSC_CLASS_COUNT]; /* how much of the kept steps has an event of the class,
                                        * whatever else runs */
    int64_t median_twice_ns;           /* twice the median length of kept steps; 0: no steps */
    int64_t window_start_ns,
        window_end_ns; /* from the first start of kept steps to the last end */
};

/* Make B from T, which has the facts STEPS and UNIONS. Tables call osc_breakdown_get(). */
OSC_MUST_USE osc_status osc_breakdown_make(const struct osc_trace *t,
                                           const struct osc_step_rules *rules,
                                           unsigned n_threads, struct osc_breakdown *b);
void osc_breakdown_fini(struct osc_breakdown *b);

/* The sentence why no step is kept: there are none, or HAS_STEPS, none but those that the tail
 * rule drops, which a selection may consist of. */
const char *osc_breakdown_why_none(bool has_steps);

/* Words for what counts as the step of a trace without steps, IS_OF_WORK: that is the extent of
 * device work, too. */
const char *osc_breakdown_what_counts(bool is_of_work);

/*
 * Set *B to the breakdown among the facts of T, or with other RULES to one that is made in OWN.
 * OWN is zeroed before; the caller calls osc_breakdown_fini() on it in either case.
 */
OSC_MUST_USE osc_status osc_breakdown_get(const struct osc_trace *t,
                                          const struct osc_step_rules *rules,
                                          unsigned n_threads, struct osc_breakdown *own,
                                          const struct osc_breakdown **b);
