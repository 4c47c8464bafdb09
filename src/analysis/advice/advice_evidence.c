/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions whose rows are the evidence for an advice. Names and numbers from the trace are
 * in `where`; options that the user gave are repeated as typed.
 */
#include "analysis/advice/advice_list.h"

#include <string.h>

#include "analysis/advice/idle.h"
#include "base/shell.h"
#include "table/question.h"

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

/* Append NAME as a string of SQL, on one line. */
static void add_string(struct osc_strbuf *out, struct osc_str name)
{
    osc_strbuf_addc(out, '\'');
    for (uint32_t i = 0; i < name.len; i++) {
        const char c = name.s[i];

        if ((unsigned char)c < ' ')
            osc_strbuf_addf(out, "' || char(%d) || '", c);
        else if (c == '\'')
            osc_strbuf_adds(out, "''");
        else
            osc_strbuf_addc(out, c);
    }
    osc_strbuf_addc(out, '\'');
}

/* Write `name in (...)` for the ranges of ITEM. */
static void add_names(const struct osc_advice_base *a, const struct osc_advice_item *item,
                      struct osc_strbuf *out)
{
    osc_strbuf_adds(out, item->has_nameless ? "name in (''" : "name in (");
    for (size_t i = 0; i < item->names.n; i++) {
        osc_strbuf_adds(out, i > 0 || item->has_nameless ? ", " : "");
        add_string(out, osc_trace_str(a->t, item->names.v[i].name));
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
        add_string(out, (struct osc_str){rest.s, len});
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
    add_string(out, item->subject);
}

/* Select the kernels of the operators of ITEM. */
static void add_operators(const struct osc_advice_base *a, const struct osc_advice_item *item,
                          struct osc_strbuf *out)
{
    osc_strbuf_adds(out, "operator in (");
    for (size_t i = 0; i < item->names.n; i++) {
        osc_strbuf_adds(out, i > 0 ? ", " : "");
        add_string(out, osc_trace_str(a->t, item->names.v[i].name));
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
    const char *table;
    const char *name, *value; /* an option of it, or NULL */
    /* Write which rows it is about, before WHERE; or NULL. */
    void (*select)(const struct osc_advice_base *a, const struct osc_advice_item *item,
                   struct osc_strbuf *out);
    const char *where; /* what these rows have */
    enum within within;
    bool heeds_compat; /* which rows these are depends on --compat */
} rules[OSC_ADVICE_COUNT] = {
    [OSC_ADVICE_DATA_LOADING] = {"steps", "sort", "dataloader_ns", add_loading, "", ANY_TIME,
                                 true},
    [OSC_ADVICE_DATA_PARALLEL] = {"events", NULL, NULL, NULL, WRAPPER("DataParallel.forward"),
                                  ANY_TIME, false},
    [OSC_ADVICE_BACKEND] = {"events", NULL, NULL, NULL,
                            WRAPPER("DistributedDataParallel.forward"), ANY_TIME, false},
    [OSC_ADVICE_COMMUNICATION] = {"steps", "sort", "communication_ns", NULL,
                                  "kept and communication_ns > 0", ANY_TIME, true},
    [OSC_ADVICE_LOW_UTILIZATION] = {"devices", NULL, NULL, add_devices, "", ANY_TIME, true},
    [OSC_ADVICE_TENSOR_CORES] = {"kernels", "group-by", "op", NULL, "op_tc_eligible", ANY_TIME,
                                 true},
    [OSC_ADVICE_MEMORY_LIMIT] = {"memory_peaks", NULL, NULL, NULL,
                                 "10 * peak_bytes > 9 * capacity_bytes", ANY_TIME, false},
    [OSC_ADVICE_SYNCHRONIZATION] = {"events", "sort", "dur_ns", add_calls, "", AROUND_STEPS,
                                    false},
    [OSC_ADVICE_PAGEABLE_COPIES] =
        {"events", "sort", "dur_ns", NULL,
         "kind = 'memcpy' and name like '%(Pageable -> Device)%' and "
         "dur_ns is not null",
         IN_STEPS, false},
    [OSC_ADVICE_LAUNCH_BOUND] = {"events", "sort", "self_ns", add_launches, " and dur_ns > 0",
                                 IN_GAP, false},
    [OSC_ADVICE_ALLOCATOR] = {"events", "sort", "dur_ns", add_calls, "", AROUND_STEPS, false},
    [OSC_ADVICE_SLOW_STEPS] = {"steps", "sort", "total_ns", add_slow_steps, "", ANY_TIME,
                               false},
    [OSC_ADVICE_HOST_SYNC] = {"events", "sort", "dur_ns", add_names,
                              " and kind = 'operator' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_COPIES] = {"events", "sort", "dur_ns", add_names,
                           " and kind = 'operator' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_FLOAT64] = {"events", "sort", "dur_ns", NULL,
                            "kind = 'operator' and args like '%double%' and dur_ns > 0",
                            AROUND_STEPS, false},
    [OSC_ADVICE_SLOW_CONVOLUTION] = {"events", "sort", "dur_ns", add_names,
                                     " and kind = 'operator' and dur_ns > 0", AROUND_STEPS,
                                     false},
    [OSC_ADVICE_TINY_OPERATORS] = {"events", NULL, NULL, add_tiny, " and dur_ns > 0",
                                   AROUND_STEPS, false},
    [OSC_ADVICE_SINGLE_TENSOR] = {"events", "sort", "dur_ns", NULL,
                                  "kind = 'optimizer' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_PYTHON] = {"events", "sort", "self_ns", NULL, PYTHON, AROUND_STEPS, false},
    [OSC_ADVICE_UNRECORDED] = {"steps", "sort", "other_ns", NULL, "kept", ANY_TIME, false},
    [OSC_ADVICE_MEMORY_GROWTH] = {"memory_events", "sort", "bytes", NULL,
                                  "bytes > 0 and free_ns is null", ANY_TIME, false},
    [OSC_ADVICE_OVERHEAD] = {"events", "sort", "dur_ns", NULL,
                             "kind = 'overhead' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_OPTIMIZER] = {"events", "sort", "dur_ns", NULL,
                              "kind = 'optimizer' and dur_ns > 0", AROUND_STEPS, false},
    [OSC_ADVICE_IDLE_PYTHON] = {"events", "sort", "self_ns", NULL, PYTHON, AROUND_STEPS, false},
    [OSC_ADVICE_IDLE_UNRECORDED] = {"events", NULL, NULL, NULL, "", IN_GAP, false},
    [OSC_ADVICE_HANDOVER] = {"events", NULL, NULL, NULL, "", IN_GAP, false},
    [OSC_ADVICE_SLOW_CALL] = {"events", "sort", "self_ns", add_slow_calls, "", AROUND_STEPS,
                              false},
    [OSC_ADVICE_LATE_START] = {"events", NULL, NULL, NULL, "", IN_GAP, false},
    [OSC_ADVICE_UNALIGNED] = {"kernels", "group-by", "op", add_operators, "", ANY_TIME, false},
    [OSC_ADVICE_FP32_MATMUL] = {"kernels", "group-by", "op", add_operators, "", ANY_TIME,
                                false},
    [OSC_ADVICE_DEVICE_COPIES] = {"events", "sort", "dur_ns", NULL,
                                  "kind = 'memcpy' and name not like '%(Pageable -> Device)%' "
                                  "and dur_ns is not null",
                                  IN_STEPS, false},
    [OSC_ADVICE_DEVICE_KERNELS] = {"kernels", "group-by", "op", add_kernels, "", ANY_TIME,
                                   false},
};

/* --- which rows ------------------------------------------------------------- */

/* Take the rows that belong to the kept steps: by a column, as --steps would refer to the steps
 * of the whole file, of which a selection may have left fewer. In a trace without steps no row
 * belongs to the only step. */
static void take_kept(const struct osc_advice_base *a, struct osc_advice_rows *r)
{
    if (a->first_step <= a->last_step) {
        add_steps(a, &r->select);
        return;
    }
    r->when = OSC_ADVICE_BEGINS;
    r->from_ns = a->b->steps[0].start_ns;
    r->to_ns = a->b->steps[0].end_ns;
}

/* Take the rows that run in the time of the kept steps. */
static void take_around(const struct osc_advice_base *a, struct osc_advice_rows *r)
{
    if (!a->has_works || a->kept.n == 0) {
        take_kept(a, r);
        return;
    }
    r->when = OSC_ADVICE_RUNS;
    r->from_ns = a->kept.v[0].start_ns;
    r->to_ns = a->kept.v[a->kept.n - 1].end_ns;
}

void osc_advice_find_rows(const struct osc_advice_base *a, enum osc_advice_code code,
                          const struct osc_advice_item *item, struct osc_advice_rows *r)
{
    const struct evidence *const e = &rules[code];

    *r = (struct osc_advice_rows){0};
    if (e->select)
        e->select(a, item, &r->select);
    osc_strbuf_adds(&r->select, e->where);
    switch (e->within) {
    case ANY_TIME:
        break;
    case IN_STEPS:
        take_kept(a, r);
        break;
    case AROUND_STEPS:
        take_around(a, r);
        break;
    case IN_GAP:
        r->when = OSC_ADVICE_TOUCHES;
        r->from_ns = item->from_ns;
        r->to_ns = item->to_ns;
    }
}

void osc_advice_add_where(struct osc_strbuf *out, struct osc_str select,
                          enum osc_advice_when when, int64_t from_ns, int64_t to_ns)
{
    const long long from = from_ns, to = to_ns;

    osc_strbuf_addstr(out, select);
    if (when != OSC_ADVICE_ANY_TIME && select.len > 0)
        osc_strbuf_adds(out, " and ");
    switch (when) {
    case OSC_ADVICE_ANY_TIME:
        break;
    case OSC_ADVICE_BEGINS:
        osc_strbuf_addf(out, "start_ns >= %lld and start_ns < %lld", from, to);
        break;
    case OSC_ADVICE_RUNS:
        osc_strbuf_addf(out, "start_ns < %lld and start_ns + dur_ns > %lld", to, from);
        break;
    case OSC_ADVICE_TOUCHES:
        osc_strbuf_addf(out, "start_ns <= %lld and start_ns + dur_ns >= %lld", to, from);
        break;
    }
}

/* --- the question ------------------------------------------------------------ */

void osc_advice_ask(struct osc_strbuf *q, enum osc_advice_code code, struct osc_str where,
                    const struct osc_advice_asked *of)
{
    const struct evidence *const e = &rules[code];
    struct osc_view view = of->view ? *of->view : (struct osc_view){0};

    if (code == OSC_ADVICE_STRAGGLER) {
        osc_question_begin(q, "table", "stragglers");
        osc_question_add_view(q, &view, "ns");
        return;
    }
    osc_question_begin(q, "table", e->table);
    if (of->is_compat && e->heeds_compat)
        osc_question_add(q, "compat", "tb");
    if (e->name)
        osc_question_add(q, e->name, e->value);
    osc_question_add_str(q, "where", where);
    /* Memory records are rows of the host, whatever device they are about. */
    if (code == OSC_ADVICE_MEMORY_LIMIT)
        view.device = NULL;
    view.has_from = view.has_from && view.from_ns + of->later_ns > 0;
    view.from_ns += of->later_ns;
    view.to_ns += of->later_ns;
    osc_question_add_view(q, &view, "");
}

void osc_advice_print(struct osc_strbuf *out, enum osc_advice_code code,
                      const struct osc_trace *t, const struct osc_advice_rows *r,
                      const struct osc_advice_asked *of)
{
    const int64_t own_ns = t->own_origin_ns;
    struct osc_view view = of->view ? *of->view : (struct osc_view){0};
    const struct osc_advice_asked own = {&view, of->is_compat, t->origin_ns - own_ns};
    const struct osc_str file = t->is_stdin ? OSC_STR("-") : osc_trace_str(t, t->source);
    struct osc_strbuf where = {0}, q = {0}, word = {0};

    view.ranks = view.spans = NULL; /* it is the only file */
    osc_advice_add_where(&where, osc_strbuf_str(&r->select), r->when, r->from_ns - own_ns,
                         r->to_ns - own_ns);
    osc_advice_ask(&q, code, osc_strbuf_str(&where), &own);
    /* A file named like an option needs a path. */
    osc_strbuf_adds(&word, file.len > 1 && file.s[0] == '-' ? "./" : "");
    osc_strbuf_addstr(&word, file);
    osc_question_print(out, osc_strbuf_str(&q));
    osc_strbuf_addc(out, ' ');
    osc_shell_add_word(out, word.s ? word.s : "");
    if (where.status != OSC_OK || q.status != OSC_OK || word.status != OSC_OK)
        out->status = OSC_ENOMEM;
    osc_strbuf_fini(&where);
    osc_strbuf_fini(&q);
    osc_strbuf_fini(&word);
}

/* --- of several ranks --------------------------------------------------------- */

/* The rows of one rank: a line of the joined cells, in which words follow each other. */
struct part {
    struct osc_str rank, span, where;
};

void osc_advice_add_part(struct osc_strbuf *out, const struct osc_placing *at,
                         struct osc_str where)
{
    osc_question_add_number(out, "rank", at->rank);
    osc_question_add_number(out, "span", at->span);
    osc_question_add_str(out, "where", where);
}

/* Take the first part off PARTS. False: there is none. */
static bool next_part(struct osc_str *parts, struct part *part)
{
    enum { N_WORDS = 3 };
    struct osc_str *const values[N_WORDS] = {&part->rank, &part->span, &part->where};
    struct osc_question_word word;

    if (parts->len > 0 && parts->s[0] == '\n') {
        parts->s++;
        parts->len--;
    }
    for (size_t i = 0; i < N_WORDS; i++) {
        if (!osc_question_next(parts, &word))
            return false;
        *values[i] = word.value;
    }
    return true;
}

static bool is_alike(const struct part *a, const struct part *b)
{
    return osc_str_eq(a->span, b->span) && osc_str_eq(a->where, b->where);
}

/* Whether PARTS are N parts of one span that select the same rows. */
static bool is_same_everywhere(struct osc_str parts, uint32_t n)
{
    struct part first = {0}, part;
    bool is_same = next_part(&parts, &first);

    for (n--; next_part(&parts, &part); n--)
        is_same = is_same && is_alike(&part, &first);
    return is_same && n == 0;
}

/* Select the rows of FIRST in all ranks of PARTS that have the same selection. */
static void add_ranks(struct osc_str parts, const struct part *first, struct osc_strbuf *out)
{
    const char *before = "(rank in (";
    struct part part;

    while (next_part(&parts, &part)) {
        if (!is_alike(&part, first))
            continue;
        osc_strbuf_adds(out, before);
        osc_strbuf_addstr(out, part.rank);
        before = ", ";
    }
    osc_strbuf_adds(out, ") and span = ");
    osc_strbuf_addstr(out, first->span);
    osc_strbuf_adds(out, " and ");
    osc_strbuf_addstr(out, first->where);
    osc_strbuf_addc(out, ')');
}

/* Whether a part before FIRST has the same selection in its span. */
static bool is_said(struct osc_str parts, const struct part *first)
{
    struct part part;

    while (next_part(&parts, &part) && part.where.s != first->where.s) {
        if (is_alike(&part, first))
            return true;
    }
    return false;
}

void osc_advice_join_parts(struct osc_strbuf *out, struct osc_str parts, uint32_t n_traces)
{
    struct osc_str rest = parts;
    const char *before = "";
    struct part part;

    if (is_same_everywhere(parts, n_traces)) {
        if (next_part(&rest, &part))
            osc_strbuf_addstr(out, part.where);
        return;
    }
    while (next_part(&rest, &part)) {
        if (is_said(parts, &part))
            continue;
        osc_strbuf_adds(out, before);
        add_ranks(parts, &part, out);
        before = " or ";
    }
}
