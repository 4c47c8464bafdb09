/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell commands that show the evidence for an advice. Numbers and names from the trace are in
 * --where; options that the user gave are repeated as typed.
 */
#include "analysis/advice/advice_list.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/advice/idle.h"
#include "analysis/shared_options.h"
#include "base/shell.h"

/* Write the kept steps. Ends of several processes differ, so a step may be kept after one that
 * is not. */
static void add_steps(const struct osc_advice_base *a, struct osc_strbuf *out)
{
    bool has_dropped = false;

    osc_strbuf_addf(out, " and step between %u and %u", a->first_step, a->last_step);
    for (uint32_t i = 0; i < a->b->n_steps; i++) {
        const uint32_t ordinal = a->t->steps[i].ordinal;

        if (a->b->steps[i].is_kept || ordinal < a->first_step || ordinal > a->last_step)
            continue;
        osc_strbuf_addf(out, has_dropped ? ", %u" : " and step not in (%u", ordinal);
        has_dropped = true;
    }
    if (has_dropped)
        osc_strbuf_addc(out, ')');
}

/* How times are written in an expression. */
struct times {
    int64_t origin_ns;
    bool is_marked; /* marked, so that osc_advice_place() can find and shift them */
};

#define MARK '\1'

static void add_time(const struct times *t, int64_t at_ns, struct osc_strbuf *out)
{
    if (t->is_marked)
        osc_strbuf_addc(out, MARK);
    osc_strbuf_addi(out, at_ns - t->origin_ns);
    if (t->is_marked)
        osc_strbuf_addc(out, MARK);
}

/*
 * Restrict rows to the kept steps by a column: --steps would refer to the steps of the whole
 * file, of which a selection may have left fewer. In a trace without steps no row belongs to
 * the only step.
 */
static void add_kept(const struct osc_advice_base *a, const struct times *times,
                     struct osc_strbuf *out)
{
    if (a->first_step <= a->last_step) {
        add_steps(a, out);
        return;
    }
    osc_strbuf_adds(out, " and start_ns >= ");
    add_time(times, a->b->steps[0].start_ns, out);
    osc_strbuf_adds(out, " and start_ns < ");
    add_time(times, a->b->steps[0].end_ns, out);
}

/* Restrict rows to those that run in the time of the kept steps. */
static void add_around(const struct osc_advice_base *a, const struct times *times,
                       struct osc_strbuf *out)
{
    if (!a->has_works || a->kept.n == 0) {
        add_kept(a, times, out);
        return;
    }
    osc_strbuf_adds(out, " and start_ns < ");
    add_time(times, a->kept.v[a->kept.n - 1].end_ns, out);
    osc_strbuf_adds(out, " and start_ns + dur_ns > ");
    add_time(times, a->kept.v[0].start_ns, out);
}

/* Write `name in (...)` for the ranges of ITEM. */
static void add_names(const struct osc_advice_base *a, const struct osc_advice_item *item,
                      struct osc_strbuf *out)
{
    osc_strbuf_adds(out, item->has_nameless ? "name in (''" : "name in (");
    for (size_t i = 0; i < item->names.n; i++) {
        osc_strbuf_adds(out, i > 0 || item->has_nameless ? ", " : "");
        osc_shell_add_string(out, osc_trace_str(a->t, item->names.v[i].name));
    }
    osc_strbuf_adds(out, ")");
}

/* Select the ranges of ITEM, and copies for which the host waited. */
static void add_calls(const struct osc_advice_base *a, const struct osc_advice_item *item,
                      struct osc_strbuf *out)
{
    const bool has_names = item->names.n > 0 || item->has_nameless;

    osc_strbuf_adds(out, "(");
    if (has_names)
        add_names(a, item, out);
    if (has_names && item->has_copies)
        osc_strbuf_adds(out, " or ");
    if (item->has_copies)
        osc_strbuf_adds(out, "kind = 'memcpy' and name like '%(Device -> Pageable)%'");
    osc_strbuf_adds(out, ") and dur_ns is not null");
}

/* Select those that take so long. */
static void add_slow_calls(const struct osc_advice_base *a, const struct osc_advice_item *item,
                           struct osc_strbuf *out)
{
    bool has_compilers = false;

    for (size_t i = 0; i < item->names.n; i++)
        has_compilers |=
            osc_str_has(osc_trace_str(a->t, item->names.v[i].name), OSC_STR(OSC_COMPILE_WORD));
    add_calls(a, item, out);
    osc_strbuf_addf(out, has_compilers ? " and (dur_ns >= %lld or " : " and dur_ns >= %lld",
                    (long long)OSC_SLOW_CALL_NS);
    if (has_compilers)
        osc_strbuf_addf(out, "name like '%%" OSC_COMPILE_WORD "%%' and dur_ns >= %lld)",
                        (long long)OSC_COMPILE_NS);
}

/* Select the steps that waited for data; their classes may hide all of it behind calls of other
 * threads. */
static void add_loading(const struct osc_advice_base *a, const struct osc_advice_item *item,
                        struct osc_strbuf *out)
{
    (void)item;
    osc_strbuf_adds(out, a->cost_ns[OSC_CLASS_DATALOADER] > 0 ? "kept and dataloader_ns > 0"
                                                              : "kept");
}

/* Select what ran in the longest gap of ITEM. */
static void add_longest(const struct osc_advice_item *item, const struct times *times,
                        struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "start_ns <= ");
    add_time(times, item->to_ns, out);
    osc_strbuf_adds(out, " and start_ns + dur_ns >= ");
    add_time(times, item->from_ns, out);
}

/* Select the devices that ITEM names. */
static void add_devices(const struct osc_advice_base *a, const struct osc_advice_item *item,
                        struct osc_strbuf *out)
{
    struct osc_str rest = item->subject;
    const char *before = "device in (";

    (void)a;
    while (rest.len > 0) {
        const char *const end = memmem(rest.s, rest.len, ", ", 2);
        const uint32_t len = end ? (uint32_t)(end - rest.s) : rest.len;

        osc_strbuf_adds(out, before);
        osc_shell_add_string(out, (struct osc_str){rest.s, len});
        before = ", ";
        rest.s += end ? len + 2 : len;
        rest.len -= end ? len + 2 : len;
    }
    osc_strbuf_adds(out, ")");
}

/* Select what launches, without calls that wait: in programs that XLA compiled, scopes stand
 * for operators. */
static void add_launches(const struct osc_advice_base *a, const struct osc_advice_item *item,
                         struct osc_strbuf *out)
{
    osc_strbuf_addf(out, "kind in ('operator', 'communication', 'runtime', 'driver'%s)",
                    a->has_native ? ", 'scope'" : "");
    if (item->names.n > 0) {
        osc_strbuf_adds(out, " and not ");
        add_names(a, item, out);
    }
}

/* Select operators that take so little that the program pays more for calling them. */
static void add_tiny(const struct osc_advice_base *a, const struct osc_advice_item *item,
                     struct osc_strbuf *out)
{
    (void)a;
    (void)item;
    osc_strbuf_addf(out, "kind = 'operator' and dur_ns < %lld", (long long)OSC_TINY_NS);
}

/* Select the kernels of an operator, or without one, or of one without a name. */
static void add_kernels(const struct osc_advice_base *a, const struct osc_advice_item *item,
                        struct osc_strbuf *out)
{
    (void)a;
    osc_strbuf_adds(out,
                    item->is_work ? "operator in ('(none)', '') and name = " : "operator = ");
    osc_shell_add_string(out, item->subject);
}

/* Select the kernels of the operators of ITEM. */
static void add_operators(const struct osc_advice_base *a, const struct osc_advice_item *item,
                          struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "operator in (");
    for (size_t i = 0; i < item->names.n; i++) {
        osc_strbuf_adds(out, i > 0 ? ", " : "");
        osc_shell_add_string(out, osc_trace_str(a->t, item->names.v[i].name));
    }
    osc_strbuf_adds(out, ")");
}

/* Select the steps that are slow: a fast one can be an outlier, too. */
static void add_slow_steps(const struct osc_advice_base *a, const struct osc_advice_item *item,
                           struct osc_strbuf *out)
{
    (void)a;
    osc_strbuf_addf(out, "outlier and total_ns > %lld", (long long)item->facts.median_ns);
}

/* --- the rules ------------------------------------------------------------- */

/* In which time rows are evidence. */
enum within {
    ANY_TIME,
    IN_STEPS,     /* they belong to the kept steps */
    AROUND_STEPS, /* they run in the time of the kept steps */
    IN_GAP        /* they run in the longest gap of the item, or touch it */
};

#define PYTHON "kind in ('python', 'module', 'frame') and dur_ns > 0"

/* The host ranges called NAME that are not asynchronous. */
#define WRAPPER(name)                                                                       \
    "name = '" name "' and kind in ('operator', 'annotation', 'python') and device is null" \
    " and self_ns is not null"

static const struct evidence {
    const char *table, *options;
    /* Write which rows it is about, before WHERE; or NULL. */
    void (*select)(const struct osc_advice_base *a, const struct osc_advice_item *item,
                   struct osc_strbuf *out);
    const char *where; /* what these rows have */
    enum within within;
    bool heeds_compat; /* table and options depend on --compat */
} rules[OSC_ADVICE_COUNT] = {
    [OSC_ADVICE_DATA_LOADING] = {"steps", " --sort dataloader_ns", add_loading, "", ANY_TIME,
                                 true},
    [OSC_ADVICE_DATA_PARALLEL] = {"events", "", NULL, WRAPPER("DataParallel.forward"), ANY_TIME,
                                  false},
    [OSC_ADVICE_BACKEND] = {"events", "", NULL, WRAPPER("DistributedDataParallel.forward"),
                            ANY_TIME, false},
    [OSC_ADVICE_COMMUNICATION] = {"steps", " --sort communication_ns", NULL,
                                  "kept and communication_ns > 0", ANY_TIME, true},
    [OSC_ADVICE_LOW_UTILIZATION] = {"devices", "", add_devices, "", ANY_TIME, true},
    [OSC_ADVICE_TENSOR_CORES] = {"kernels", " --group-by op", NULL, "op_tc_eligible", ANY_TIME,
                                 true},
    [OSC_ADVICE_MEMORY_LIMIT] = {"memory_peaks", "", NULL,
                                 "10 * peak_bytes > 9 * capacity_bytes", ANY_TIME, false},
    [OSC_ADVICE_SYNCHRONIZATION] = {"events", " --sort dur_ns", add_calls, "", AROUND_STEPS,
                                    false},
    [OSC_ADVICE_PAGEABLE_COPIES] =
        {"events", " --sort dur_ns", NULL,
         "kind = 'memcpy' and name like '%(Pageable -> Device)%' and "
         "dur_ns is not null",
         IN_STEPS, false},
    [OSC_ADVICE_LAUNCH_BOUND] = {"events", " --sort self_ns", add_launches, " and dur_ns > 0",
                                 IN_GAP, false},
    [OSC_ADVICE_ALLOCATOR] = {"events", " --sort dur_ns", add_calls, "", AROUND_STEPS, false},
    [OSC_ADVICE_SLOW_STEPS] = {"steps", " --sort total_ns", add_slow_steps, "", ANY_TIME,
                               false},
    [OSC_ADVICE_HOST_SYNC] = {"events", " --sort dur_ns", add_names,
                              " and kind = 'operator' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_COPIES] = {"events", " --sort dur_ns", add_names,
                           " and kind = 'operator' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_FLOAT64] = {"events", " --sort dur_ns", NULL,
                            "kind = 'operator' and args like '%double%' and dur_ns > 0",
                            AROUND_STEPS, false},
    [OSC_ADVICE_SLOW_CONVOLUTION] = {"events", " --sort dur_ns", add_names,
                                     " and kind = 'operator' and dur_ns > 0", AROUND_STEPS,
                                     false},
    [OSC_ADVICE_TINY_OPERATORS] = {"events", "", add_tiny, " and dur_ns > 0", AROUND_STEPS,
                                   false},
    [OSC_ADVICE_SINGLE_TENSOR] = {"events", " --sort dur_ns", NULL,
                                  "kind = 'optimizer' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_PYTHON] = {"events", " --sort self_ns", NULL, PYTHON, AROUND_STEPS, false},
    [OSC_ADVICE_UNRECORDED] = {"steps", " --sort other_ns", NULL, "kept", ANY_TIME, false},
    [OSC_ADVICE_MEMORY_GROWTH] = {"memory_events", " --sort bytes", NULL,
                                  "bytes > 0 and free_ns is null", ANY_TIME, false},
    [OSC_ADVICE_OVERHEAD] = {"events", " --sort dur_ns", NULL,
                             "kind = 'overhead' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_OPTIMIZER] = {"events", " --sort dur_ns", NULL,
                              "kind = 'optimizer' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_IDLE_PYTHON] = {"events", " --sort self_ns", NULL, PYTHON, AROUND_STEPS, false},
    [OSC_ADVICE_IDLE_UNRECORDED] = {"events", "", NULL, "", IN_GAP, false},
    [OSC_ADVICE_HANDOVER] = {"events", "", NULL, "", IN_GAP, false},
    [OSC_ADVICE_SLOW_CALL] = {"events", " --sort self_ns", add_slow_calls, "", AROUND_STEPS,
                              false},
    [OSC_ADVICE_LATE_START] = {"events", "", NULL, "", IN_GAP, false},
    [OSC_ADVICE_UNALIGNED] = {"kernels", " --group-by op", add_operators, "", ANY_TIME, false},
    [OSC_ADVICE_FP32_MATMUL] = {"kernels", " --group-by op", add_operators, "", ANY_TIME,
                                false},
    [OSC_ADVICE_DEVICE_COPIES] = {"events", " --sort dur_ns", NULL,
                                  "kind = 'memcpy' and name not like '%(Pageable -> Device)%' "
                                  "and dur_ns is not null",
                                  IN_STEPS, false},
    [OSC_ADVICE_DEVICE_KERNELS] = {"kernels", " --group-by op", add_kernels, "", ANY_TIME,
                                   false},
};

/* Write the --where expression that selects the rows of the table for CODE. */
static void add_rows(const struct osc_advice_base *a, enum osc_advice_code code,
                     const struct osc_advice_item *item, const struct times *times,
                     struct osc_strbuf *out)
{
    const struct evidence *const e = &rules[code];

    if (e->select)
        e->select(a, item, out);
    osc_strbuf_adds(out, e->where);
    switch (e->within) {
    case ANY_TIME:
        return;
    case IN_STEPS:
        add_kept(a, times, out);
        return;
    case AROUND_STEPS:
        add_around(a, times, out);
        return;
    case IN_GAP:
        osc_strbuf_adds(out, e->select ? " and " : "");
        add_longest(item, times, out);
    }
}

/* Write the command up to the opening quotation mark of the --where expression. */
static void add_table(enum osc_advice_code code, bool is_compat, struct osc_strbuf *out)
{
    const struct evidence *const e = &rules[code];

    osc_strbuf_addf(out, "opscope table %s%s%s --where \"", e->table,
                    is_compat && e->heeds_compat ? " --compat tb" : "", e->options);
}

/*
 * Repeat the options in S, with times shifted by LATER_NS. Memory records are rows of the
 * host, whatever device they are about.
 */
static void add_selection(enum osc_advice_code code, const struct osc_selection *s,
                          int64_t later_ns, struct osc_strbuf *out)
{
    const struct {
        const char *option, *value;
    } texts[] = {{" --process ", s->process},
                 {" --thread ", s->thread},
                 {" --device ", code == OSC_ADVICE_MEMORY_LIMIT ? NULL : s->device},
                 {" --steps ", s->steps}};
    const int64_t from_ns = s->from_ns + later_ns, to_ns = s->to_ns + later_ns;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].value)
            continue;
        osc_strbuf_adds(out, texts[i].option);
        osc_shell_add_word(out, texts[i].value);
    }
    if (s->has_from && from_ns > 0)
        osc_strbuf_addf(out, " --from %lld", (long long)from_ns);
    if (s->has_to)
        osc_strbuf_addf(out, " --to %lld", (long long)to_ns);
}

void osc_advice_evidence(const struct osc_advice_base *a, enum osc_advice_code code,
                         const struct osc_advice_item *item, const struct osc_selection *s,
                         struct osc_strbuf *out)
{
    const struct osc_trace *const t = a->t;
    struct osc_strbuf file = {0};

    add_table(code, a->is_compat, out);
    add_rows(a, code, item, &(struct times){.origin_ns = t->own_origin_ns}, out);
    osc_strbuf_adds(out, "\"");
    if (s)
        add_selection(code, s, t->origin_ns - t->own_origin_ns, out);
    osc_strbuf_addstr(&file, t->is_stdin ? OSC_STR("-") : osc_trace_str(t, t->source));
    if (file.status != OSC_OK)
        out->status = file.status;
    /* A file named like an option needs a path. */
    osc_strbuf_adds(out, file.len > 1 && file.s[0] == '-' ? " ./" : " ");
    osc_shell_add_word(out, file.s ? file.s : "");
    osc_strbuf_fini(&file);
}

void osc_advice_rows(const struct osc_advice_base *a, enum osc_advice_code code,
                     const struct osc_advice_item *item, struct osc_strbuf *out)
{
    const struct times times = {.origin_ns = a->t->origin_ns, .is_marked = true};

    add_rows(a, code, item, &times, out);
}

void osc_advice_place(struct osc_str rows, const struct osc_placing *from,
                      const struct osc_placing *to, struct osc_strbuf *out)
{
    const int64_t later_ns = from->origin_ns - to->origin_ns;

    osc_strbuf_addf(out, "%d %d ", to->rank, to->span);
    while (rows.len > 0) {
        const char *const mark = memchr(rows.s, MARK, rows.len);
        const uint32_t len = mark ? (uint32_t)(mark - rows.s) : rows.len;
        char *end;

        osc_strbuf_add(out, rows.s, len);
        rows.s += len;
        rows.len -= len;
        if (!mark)
            return;
        osc_strbuf_addi(out, strtoll(mark + 1, &end, 10) + later_ns);
        end += *end == MARK;
        rows.len -= (uint32_t)(end - rows.s);
        rows.s = end;
    }
}

/* A parsed line of osc_advice_rows(). */
struct part {
    long rank, span;
    struct osc_str rows;
};

/* Cut the first line off TEXT, which is not empty. */
static struct part cut_line(struct osc_str *text)
{
    const char *const end = memchr(text->s, '\n', text->len);
    const uint32_t len = end ? (uint32_t)(end - text->s) : text->len;
    char *at;
    struct part part = {.rank = strtol(text->s, &at, 10)};

    part.span = strtol(at, &at, 10);
    part.rows = (struct osc_str){at + 1, len - (uint32_t)(at + 1 - text->s)};
    text->s += end ? len + 1 : len;
    text->len -= end ? len + 1 : len;
    return part;
}

/* Whether PARTS are N parts of one span that select the same rows. */
static bool is_same_everywhere(struct osc_str parts, uint32_t n)
{
    const struct part first = cut_line(&parts);
    bool is_same = true;

    for (n--; parts.len > 0; n--) {
        const struct part part = cut_line(&parts);

        is_same = is_same && part.span == first.span && osc_str_eq(part.rows, first.rows);
    }
    return is_same && n == 0;
}

/* Select the rows of FIRST in all ranks of PARTS that have the same selection. */
static void add_ranks(struct osc_str parts, const struct part *first, struct osc_strbuf *out)
{
    const char *before = "(rank in (";

    while (parts.len > 0) {
        const struct part part = cut_line(&parts);

        if (part.span != first->span || !osc_str_eq(part.rows, first->rows))
            continue;
        osc_strbuf_addf(out, "%s%ld", before, part.rank);
        before = ", ";
    }
    osc_strbuf_addf(out, ") and span = %ld and ", first->span);
    osc_strbuf_addstr(out, first->rows);
    osc_strbuf_addc(out, ')');
}

/* Whether a part before FIRST has the same selection in its span. */
static bool is_said(struct osc_str parts, const struct part *first)
{
    while (parts.len > 0) {
        const struct part part = cut_line(&parts);

        if (part.rows.s == first->rows.s)
            return false;
        if (part.span == first->span && osc_str_eq(part.rows, first->rows))
            return true;
    }
    return false;
}

void osc_advice_evidence_of_all(enum osc_advice_code code, struct osc_str parts,
                                const struct osc_options *o, struct osc_strbuf *out)
{
    struct osc_str rest = parts;

    add_table(code, osc_is_compat_tb(o), out);
    if (is_same_everywhere(parts, o->n_traces)) {
        osc_strbuf_addstr(out, cut_line(&rest).rows);
        rest.len = 0;
    }
    for (const char *before = ""; rest.len > 0;) {
        const struct part part = cut_line(&rest);

        if (is_said(parts, &part))
            continue;
        osc_strbuf_adds(out, before);
        add_ranks(parts, &part, out);
        before = " or ";
    }
    osc_strbuf_adds(out, "\"");
    if (o->selection)
        add_selection(code, o->selection, 0, out);
    osc_strbuf_addf(out, " %s", o->operands);
}
