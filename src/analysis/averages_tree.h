/* SPDX-License-Identifier: Apache-2.0 */
/*
 * averages_tree.h - torch's list of function events, as an overlay of a trace.
 *
 * torch's tree is not the containment forest of derive/: ranges of a process group
 * are outside of it, calls of the device runtime move to the thread of the operator
 * that made them, and a range whose parent has the same name and no other child is
 * folded into the parent (TP 3, torch213.md 6).
 *
 *   - Nodes of the host stand in torch's order: start, longer first, order of the
 *     file, over all threads. So a parent stands before its children. Behind them,
 *     from n_host on, those of devices, queue by queue.
 *   - Nothing is clamped: self times and bytes may be negative.
 *   - Beside exact nanoseconds, a node has the doubles of microseconds that torch
 *     had, with their rounding errors, for the last digit of printed numbers
 *     (torch213.md 7.3).
 *
 * Threading: not locked; one thread builds, then any number of readers.
 */
#ifndef OSC_ANALYSIS_AVERAGES_TREE_H
#define OSC_ANALYSIS_AVERAGES_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/flops.h"
#include "base/idmap.h"
#include "base/status.h"
#include "base/wide.h"
#include "model/trace.h"

enum osc_avg_flag {
    OSC_AVG_ANNOTATION = 1, /* with OSC_AVG_DEVICE: the variant, part of the key */
    OSC_AVG_DEVICE = 2,
    OSC_AVG_PYTHON = 4,
    OSC_AVG_CALL = 8, /* of the device runtime or driver */
    OSC_AVG_OPERATOR = 16,
    OSC_AVG_ASYNC = 32,     /* outside the tree */
    OSC_AVG_FOLDED = 64,    /* merged into its parent: counts nowhere */
    OSC_AVG_RECORD = 128,   /* made of a [memory] or [OutOfMemory] record */
    OSC_AVG_CHILD = 256,    /* it has a child */
    OSC_AVG_CHILDREN = 512, /* it has more than one */
};
#define OSC_AVG_VARIANTS 4u

struct osc_avg_name {
    struct osc_str text;               /* borrowed; as torch shows it */
    uint32_t groups[OSC_AVG_VARIANTS]; /* for averages_groups.c: group + 1 */
    uint8_t flops_rule;                /* enum osc_flops_rule */
    bool is_filtered;                  /* torch leaves it out (TP 3.3) */
    bool is_collective;                /* as an annotation it is async (torch213.md 6.3) */
    bool is_wrapper;                   /* of a backward function (torch213.md 6.7) */
};

struct osc_avg_node {
    int64_t start_ns, end_ns;
    int64_t child_ns;  /* durations of its children together */
    double elapsed_us; /* its duration as torch had it */
    double child_us;   /* child_ns as torch summed it */
    uint32_t row;      /* osc_row */
    uint32_t name;     /* index in names */
    uint32_t parent;   /* node + 1, or 0; may be a folded one */
    uint32_t flags;    /* bits of enum osc_avg_flag, then the family from bit 16 on */
};
#define OSC_AVG_FAMILY_SHIFT 16

struct osc_avg_bytes {
    osc_wide cpu, device;             /* of all records in the closed interval */
    osc_wide child_cpu, child_device; /* of its children together */
};

struct osc_avg_device_ns {
    int64_t own_ns;   /* work that it launched itself */
    int64_t child_ns; /* device totals of its children together */
};

/* Zeroed, it is empty. */
struct osc_avg_tree {
    const struct osc_trace *trace;
    struct osc_avg_node *nodes;       /* pages, owned */
    struct osc_avg_bytes *bytes;      /* pages, owned; NULL: no memory was recorded */
    struct osc_avg_device_ns *device; /* pages, owned; NULL: no device worked */
    uint32_t n_nodes, n_host;
    size_t nodes_size, bytes_size, device_size; /* of the pages */
    struct osc_avg_name *names;                 /* owned */
    size_t n_names, cap_names;
    uint32_t *name_of_sid; /* pages, owned: name + 1 */
    size_t name_of_sid_size;
    struct osc_str families[64]; /* "cuda", "xpu", …; borrowed */
    uint32_t n_families;
    int64_t zero_ns; /* torch's start of the trace */
    bool has_memory; /* the file has records of memory, or says so */
    bool has_queue;  /* the file has a device */
};

/*
 * Build the tree of T, for which OSC_FACT_LINKS was derived. On failure TREE is empty or
 * partial; fini() is allowed and needed in any case.
 */
OSC_MUST_USE osc_status osc_avg_tree_build(struct osc_avg_tree *tree, const struct osc_trace *t,
                                           struct osc_err *err);
void osc_avg_tree_fini(struct osc_avg_tree *tree);

static inline const struct osc_chunk *osc_avg_chunk(const struct osc_avg_tree *tree,
                                                    const struct osc_avg_node *n)
{
    return osc_chunk_of(&tree->trace->events, (osc_row){n->row});
}

/* The family of a device row, such as "cuda". */
static inline struct osc_str osc_avg_family(const struct osc_avg_tree *tree, uint32_t flags)
{
    return tree->families[flags >> OSC_AVG_FAMILY_SHIFT];
}

#endif
