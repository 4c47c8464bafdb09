/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_list.h - what the rules of `advice` found, before it is put in words.
 *
 * A rule is a row of osc_advice_rules. Whether it applies, what it measured and how much time
 * is at stake are numbers (advice_plugin.c, advice_device.c); the sentence is made of these
 * numbers alone (advice_text.c), so that merged ranks get a sentence of their own; the
 * command that shows the rows is made of what each of them asks for (advice_evidence.c).
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/advice_base.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "table/table.h"

/* The seven of torch-tb-profiler in its order, then our own. */
enum osc_advice_code {
    OSC_ADVICE_DATA_LOADING,
    OSC_ADVICE_DATA_PARALLEL,
    OSC_ADVICE_BACKEND,
    OSC_ADVICE_COMMUNICATION,
    OSC_ADVICE_LOW_UTILIZATION,
    OSC_ADVICE_TENSOR_CORES,
    OSC_ADVICE_MEMORY_LIMIT,
    OSC_ADVICE_IDLE_DEVICE,
    OSC_ADVICE_SYNCHRONIZATION,
    OSC_ADVICE_PAGEABLE_COPIES,
    OSC_ADVICE_LAUNCH_BOUND,
    OSC_ADVICE_ALLOCATOR,
    OSC_ADVICE_SLOW_STEPS,
    OSC_ADVICE_COUNT
};

/* Numbers of a rule beside its share, for its sentence; its sentence tells which. */
#define OSC_ADVICE_MORE 4

struct osc_advice_item {
    bool applies;
    int64_t impact_ns;
    int64_t part, whole;          /* what the rule measured: a share, part / whole */
    int64_t count;                /* rows that it rests on */
    struct osc_str subject, grew; /* borrowed from the trace or the list's arena */
    int64_t more[OSC_ADVICE_MORE];
    int64_t from_ns, to_ns;     /* of the longest gap; clock of the file */
    struct osc_name_sums names; /* of the calls it rests on, with their time */
    bool has_copies;            /* beside these, of copies into memory that is not pinned */
};

/* Zeroed, it is empty. */
struct osc_advice_list {
    struct osc_advice_item of[OSC_ADVICE_COUNT];
    struct osc_arena arena;
};

void osc_advice_list_fini(struct osc_advice_list *l);

/* The rules of torch-tb-profiler; with A->is_compat by its own numbers. */
OSC_MUST_USE osc_status osc_advice_plugin_rules(const struct osc_advice_base *a,
                                                struct osc_advice_list *l);

/* What device and host cost each other, and slow steps. */
OSC_MUST_USE osc_status osc_advice_device_rules(const struct osc_advice_base *a,
                                                struct osc_advice_list *l);

/* The columns that a sentence is made of. */
struct osc_advice_numbers {
    int64_t impact_ns, kept_ns, part, whole, count;
    int64_t n_parts; /* ranks and spans that the row was merged from */
    struct osc_str subject, grew;
    int64_t more[OSC_ADVICE_MORE];
};

/* All that is known of a rule but how it is measured. */
struct osc_advice_rule {
    const char *code, *title;
    const char *table, *options; /* that show the rows it rests on */
    bool heeds_compat;           /* these go by --compat */
    /* The sentence: what was measured, then what to do about it. */
    void (*say)(const struct osc_advice_numbers *n, struct osc_strbuf *out);
};

/* By code. */
extern const struct osc_advice_rule osc_advice_rules[OSC_ADVICE_COUNT];

/* A command for the shell that prints the rows that ITEM of A, of which S (or NULL) was
 * selected, rests on. */
void osc_advice_evidence(const struct osc_advice_base *a, enum osc_advice_code code,
                         const struct osc_advice_item *item, const struct osc_selection *s,
                         struct osc_strbuf *out);

/* Which rows of the trace these are, before it is placed among others: osc_advice_place(). */
void osc_advice_rows(const struct osc_advice_base *a, enum osc_advice_code code,
                     const struct osc_advice_item *item, struct osc_strbuf *out);

/*
 * A line for osc_advice_evidence_of_all(): which of the rows of all traces ROWS, of
 * osc_advice_rows(), are. Its trace was at FROM when they were written, and is at TO.
 */
void osc_advice_place(struct osc_str rows, const struct osc_placing *from,
                      const struct osc_placing *to, struct osc_strbuf *out);

/* A command that prints the rows of all PARTS, lines of osc_advice_place(): O has operands. */
void osc_advice_evidence_of_all(enum osc_advice_code code, struct osc_str parts,
                                const struct osc_options *o, struct osc_strbuf *out);
