/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_list.h - what the rules of `advice` found, before it becomes text.
 *
 * A rule is a row of osc_advice_rules. Whether it applies, what it measured and the time at
 * stake are numbers (advice_plugin.c, advice_idle.c, advice_device.c). The sentence is made
 * from named facts alone (advice_text.c), so that it can be made again for merged ranks; the
 * question that shows the rows is a row of a table, too (advice_evidence.c).
 *
 * Threading: not locked.
 */
#pragma once

#include "analysis/advice/advice_base.h"
#include "base/strbuf.h"
#include "derive/select.h"
#include "prose/phrase.h"
#include "table/table.h"

/* What has more than 1 / OSC_ADVICE_MUCH of the kept steps is much of them. */
#define OSC_ADVICE_MUCH 50

/* First the seven rules of torch-tb-profiler in its order, then our own. */
enum osc_advice_code {
    OSC_ADVICE_DATA_LOADING,
    OSC_ADVICE_DATA_PARALLEL,
    OSC_ADVICE_BACKEND,
    OSC_ADVICE_COMMUNICATION,
    OSC_ADVICE_LOW_UTILIZATION,
    OSC_ADVICE_TENSOR_CORES,
    OSC_ADVICE_MEMORY_LIMIT,
    OSC_ADVICE_SYNCHRONIZATION,
    OSC_ADVICE_PAGEABLE_COPIES,
    OSC_ADVICE_LAUNCH_BOUND,
    OSC_ADVICE_ALLOCATOR,
    OSC_ADVICE_SLOW_STEPS,
    OSC_ADVICE_HOST_SYNC,
    OSC_ADVICE_COPIES,
    OSC_ADVICE_FLOAT64,
    OSC_ADVICE_SLOW_CONVOLUTION,
    OSC_ADVICE_TINY_OPERATORS,
    OSC_ADVICE_SINGLE_TENSOR,
    OSC_ADVICE_PYTHON,
    OSC_ADVICE_UNRECORDED,
    OSC_ADVICE_MEMORY_GROWTH,
    OSC_ADVICE_OVERHEAD,
    OSC_ADVICE_OPTIMIZER,
    OSC_ADVICE_IDLE_PYTHON,
    OSC_ADVICE_IDLE_UNRECORDED,
    OSC_ADVICE_HANDOVER,
    OSC_ADVICE_SLOW_CALL,
    OSC_ADVICE_LATE_START,
    OSC_ADVICE_UNALIGNED,
    OSC_ADVICE_FP32_MATMUL,
    OSC_ADVICE_DEVICE_COPIES,
    OSC_ADVICE_DEVICE_KERNELS, /* where no other rule applies */
    OSC_ADVICE_STRAGGLER,      /* of all ranks together: straggler.h */
    OSC_ADVICE_COUNT
};

/*
 * Facts that rules measure for their sentences: name, kind (prose/phrase.h), and how those of
 * several ranks merge. Each is a hidden column, and a phrase names it as it is called here.
 */
#define OSC_ADVICE_FACT_LIST(X)                                                            \
    X(idle_ns, NS, SUM)          /* no device has work */                                  \
    X(most_ns, NS, SUM)          /* of the impact, what subject has */                     \
    X(queued_ns, NS, SUM)        /* of it, what waits for work that was launched before */ \
    X(is_after_last, COUNT, MAX) /* most of it lies after the last work */                 \
    X(mark_ns, NS, SUM)          /* of it, what lies in grew */                            \
    X(marked_ns, NS, SUM)        /* of it, what the program marked */                      \
    X(kernel_ns, NS, SUM)        /* the median kernel */                                   \
    X(call_ns, NS, SUM)          /* the median launch */                                   \
    X(n_uncached, COUNT, SUM)    /* parts whose steps allocate and release very often */   \
    X(n_steps, COUNT, SUM)       /* kept steps; of communication, times devices */         \
    X(communication_ns, NS, SUM) /* all of it, hidden or not */                            \
    X(n_collectives, COUNT, SUM)                                                           \
    X(half_ns, NS, SUM)        /* of the impact, collectives of values of 16 bits */       \
    X(longest_ns, NS, SUM)     /* of it, the longest kernel, if others like it take far    \
                                * less, or 0 */                                            \
    X(waited_ns, NS, SUM)      /* how long collectives waited for other ranks */           \
    X(collectives_ns, NS, SUM) /* how long they took; 0: no other rank is there, so that   \
                                * nothing says how long they waited */                     \
    X(n_devices, COUNT, SUM)                                                               \
    X(eligible_ns, NS, SUM)     /* kernels that could use Tensor Cores */                  \
    X(excess_ns, NS, SUM)       /* what the slowest step has over the median */            \
    X(median_ns, NS, SUM)       /* the median step */                                      \
    X(grew_ns, NS, SUM)         /* by what grew grew */                                    \
    X(is_on_device, COUNT, MAX) /* it did so on the device */                              \
    X(copy_way, COUNT, MAX)     /* enum osc_copy_way of most copies */                     \
    X(way_ns, NS, SUM)          /* what these take */                                      \
    X(n_chained, COUNT, SUM)    /* copies that another follows at once */                  \
    X(n_asked, COUNT, SUM)      /* steps whose program asks for one tensor at a time */

#define OSC_ADVICE_FACT_MEMBER(name, kind, merge) int64_t name;
struct osc_advice_facts {
    OSC_ADVICE_FACT_LIST(OSC_ADVICE_FACT_MEMBER)
};

struct osc_advice_item {
    bool applies;
    int64_t impact_ns;
    int64_t part, whole;          /* the measured share: part / whole */
    int64_t count;                /* number of rows of evidence */
    struct osc_str subject, grew; /* borrowed from the trace or the list's arena */
    bool is_work;                 /* subject is the name of device work */
    struct osc_advice_facts facts;
    int64_t from_ns, to_ns;     /* of the longest gap; clock of the file */
    struct osc_name_sums names; /* the ranges of the evidence, with their time */
    bool has_nameless;          /* some of them have no name */
    bool has_copies;            /* the evidence also has copies to memory that is not pinned */
};

/* Zeroed, it is empty. */
struct osc_advice_list {
    struct osc_advice_item of[OSC_ADVICE_COUNT];
    struct osc_arena arena;
};

void osc_advice_list_fini(struct osc_advice_list *l);

/* Apply the rules of torch-tb-profiler; with A->is_compat with its own thresholds. */
OSC_MUST_USE osc_status osc_advice_plugin_rules(const struct osc_advice_base *a,
                                                struct osc_advice_list *l);

/* Apply the rules about copies, slow steps and, without device work, the allocator. */
OSC_MUST_USE osc_status osc_advice_device_rules(const struct osc_advice_base *a,
                                                struct osc_advice_list *l);

/* Apply the rules about why devices have nothing to do (idle.h). */
OSC_MUST_USE osc_status osc_advice_idle_rules(const struct osc_advice_base *a,
                                              struct osc_advice_list *l);

/* Apply the rules for traces without device work, for which A has a split. */
OSC_MUST_USE osc_status osc_advice_host_rules(const struct osc_advice_base *a,
                                              struct osc_advice_list *l);

/* Measure the copies that devices make while none computes. A has device work. */
OSC_MUST_USE osc_status osc_advice_device_copies(const struct osc_advice_base *a,
                                                 struct osc_advice_item *item);

/* Measure the kernels that compute, and what launches most of them. A has device work. */
OSC_MUST_USE osc_status osc_advice_device_kernels(const struct osc_advice_base *a,
                                                  struct osc_advice_item *item);

/* Apply the rules about products of matrices, after those of the plugin. A has device work. */
OSC_MUST_USE osc_status osc_advice_products(const struct osc_advice_base *a,
                                            struct osc_advice_list *l);

/* Measure what every step allocates and nothing releases. */
OSC_MUST_USE osc_status osc_advice_memory_growth(const struct osc_advice_base *a,
                                                 struct osc_advice_item *item);

/* The columns from which a sentence is made. */
struct osc_advice_numbers {
    int64_t impact_ns, kept_ns, part, whole, count;
    int64_t n_parts; /* ranks and spans merged into the row */
    struct osc_str subject, grew;
    bool is_work;          /* subject is the name of device work */
    struct osc_str traits; /* osc_program_traits() of the first part */
    struct osc_advice_facts facts;
};

/* What a rule says. */
struct osc_advice_rule {
    const char *code, *title;
    const char *text; /* a phrase (prose/phrase.h); NULL: the row has its sentence */
};

/* Indexed by code. */
extern const struct osc_advice_rule osc_advice_rules[OSC_ADVICE_COUNT];

/* What their phrases may name. */
extern const struct osc_prose osc_advice_prose, osc_earlier_prose;

/* Append the sentence of CODE, which has one, about N. */
OSC_MUST_USE osc_status osc_advice_say(enum osc_advice_code code,
                                       const struct osc_advice_numbers *n,
                                       struct osc_strbuf *out);

/* When the rows of an advice run. */
enum osc_advice_when {
    OSC_ADVICE_ANY_TIME,
    OSC_ADVICE_BEGINS, /* they begin in the range */
    OSC_ADVICE_RUNS,   /* they overlap it */
    OSC_ADVICE_TOUCHES /* they overlap or touch it */
};

/* The rows that are the evidence for an advice. */
struct osc_advice_rows {
    struct osc_strbuf select; /* owned; an expression that leaves their time open */
    enum osc_advice_when when;
    int64_t from_ns, to_ns; /* clock of the file */
};

/* Find the rows of ITEM. The caller frees R->select, and checks its status. */
void osc_advice_find_rows(const struct osc_advice_base *a, enum osc_advice_code code,
                          const struct osc_advice_item *item, struct osc_advice_rows *r);

/* Append the expression that selects such rows; the times count from the origin of the reader.
 */
void osc_advice_add_where(struct osc_strbuf *out, struct osc_str select,
                          enum osc_advice_when when, int64_t from_ns, int64_t to_ns);

/* What an advice was asked of. */
struct osc_advice_asked {
    const struct osc_view *view; /* NULL: everything */
    bool is_compat;
    int64_t later_ns; /* to be added to the times of VIEW */
};

/* Make Q, which is empty, the question for the rows that WHERE selects. */
void osc_advice_ask(struct osc_strbuf *q, enum osc_advice_code code, struct osc_str where,
                    const struct osc_advice_asked *of);

/* Print the command that shows the rows R of the trace T alone, whose times count from its own
 * start. */
void osc_advice_print(struct osc_strbuf *out, enum osc_advice_code code,
                      const struct osc_trace *t, const struct osc_advice_rows *r,
                      const struct osc_advice_asked *of);

/* Append the rows that WHERE selects of the trace AT: a part. */
void osc_advice_add_part(struct osc_strbuf *out, const struct osc_placing *at,
                         struct osc_str where);

/* Append the expression that selects the rows of all PARTS, one a line, of N_TRACES traces. */
void osc_advice_join_parts(struct osc_strbuf *out, struct osc_str parts, uint32_t n_traces);

/* The first note of R, a result of the table, about work from before the recording; empty:
 * there is none. */
struct osc_str osc_advice_earlier_note(const struct osc_result *r);
