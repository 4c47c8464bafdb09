/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `patterns`: what the pattern matcher of torch finds, by pattern and the place in the program
 * that caused it, or event by event.
 */
#include "analysis/table_registry.h"

#include "analysis/torch/pattern_match.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shell.h"
#include "derive/derive.h"

/* What rows can be grouped by. */
enum { BY_EVENT };

enum {
    PATTERN,
    NAME,
    SOURCE,
    FUNCTION,
    CALLS,
    TOTAL,
    ID,
    START,
    IS_REPORTED,
    TEXT,
    EVIDENCE,
    EVENT,
    N_COLUMNS
};

static const struct osc_column columns[N_COLUMNS] = {
    OSC_COLUMN(PATTERN, "pattern", STRING, NULL, KEY, 0, 0,
               "Which pattern, as a word that scripts can rely on.", .torch = OSC_TORCH_KEY),
    OSC_COLUMN(NAME, "name", STRING, NULL, KEY, 0, OSC_RULE_NAMES,
               "Name of the event that matches, as the file has it."),
    OSC_COLUMN(SOURCE, "source", STRING, NULL, KEY, 0, 0,
               "File and line of the innermost function of Python around the event that is not "
               "torch's: the line that was executed, if the recording has it (opscope run "
               "--torch=stack), else the one where the function begins. Missing without calls "
               "of Python."),
    OSC_COLUMN(FUNCTION, "function", STRING, NULL, KEY, OSC_COLUMN_DEEP, OSC_RULE_NAMES,
               "That function, as the file has it."),
    OSC_COLUMN(CALLS, "calls", INTEGER, NULL, SUM, 0, 0,
               "Number of events that match; 1 with --group-by event.",
               .torch = OSC_TORCH_COUNT),
    OSC_COLUMN(TOTAL, "total_ns", INTEGER, "ns", SUM, 0, 0,
               "Sum of their durations on the host, of which a change can save a part.",
               .torch = OSC_TORCH_CPU),
    OSC_COLUMN(ID, "id", INTEGER, NULL, FIRST, 0, 0, "Id of the first of them in table events.",
               .grouping = "event"),
    OSC_COLUMN(START, "start_ns", INTEGER, "ns", FIRST, OSC_COLUMN_MOMENT, OSC_RULE_TIME,
               "Start of the first of them, from the origin of all files."),
    OSC_COLUMN(IS_REPORTED, "is_reported", BOOLEAN, NULL, FIRST, OSC_COLUMN_DEEP, 0,
               "Whether report_all_anti_patterns of torch looks for the pattern: not for "
               "indexing, which its class finds."),
    OSC_COLUMN(TEXT, "text", STRING, NULL, FIRST, OSC_COLUMN_BELOW, 0,
               "What it is, and what to change."),
    OSC_COLUMN(EVIDENCE, "evidence", STRING, NULL, FINISH, OSC_COLUMN_BELOW, 0,
               "Shell command that prints the events; with --group-by event the one."),
    OSC_COLUMN(EVENT, "event", STRING, NULL, KEY, OSC_COLUMN_HIDDEN, 0,
               "With --group-by event, what tells the event from those of other files."),
};

static const struct {
    const char *word, *text;
} patterns[OSC_PATTERN_COUNT] = {
    [OSC_PATTERN_EXTRA_COPY] =
        {"extra_copy",
         "A tensor is filled on one device and copied to another at once. Create it there: "
         "torch.zeros(..., device=...)."},
    [OSC_PATTERN_FP32_MATMUL] =
        {"fp32_matmul",
         "A product of matrices in FP32 on a device that has TF32. If its precision is enough: "
         "torch.set_float32_matmul_precision('high')."},
    [OSC_PATTERN_SINGLE_TENSOR] =
        {"single_tensor",
         "The optimizer goes tensor by tensor. Pass foreach=True or fused=True "
         "to it."},
    [OSC_PATTERN_DATALOADER] =
        {"dataloader", "The DataLoader makes batches in the thread that waits for them. Pass "
                       "num_workers above 0 to it."},
    [OSC_PATTERN_ZERO_GRAD] = {"zero_grad",
                               "Gradients are set to 0 one by one. Call zero_grad() with "
                               "set_to_none=True, the default since torch 2.0."},
    [OSC_PATTERN_CONV_BIAS] =
        {"conv_bias", "A Conv2d adds a bias, which the BatchNorm2d behind it subtracts again. "
                      "Pass bias=False to the Conv2d."},
    [OSC_PATTERN_UNALIGNED] =
        {"unaligned", "A product of matrices of 16 bits has sizes that are no multiples of 8, "
                      "which Tensor Cores need to be fast. Pad them."},
    [OSC_PATTERN_INDEXING] =
        {"indexing", "A loop indexes a tensor element by element. Use one operator for all of "
                     "them."},
};

/* --- rows of a trace ---------------------------------------------------------------------- */

/* Rows are equal if this is. No padding: its bytes are hashed. */
struct key {
    uint32_t pattern;
    uint32_t name;     /* osc_sid */
    uint32_t source;   /* osc_sid of the patterns */
    uint32_t function; /* osc_sid */
    uint32_t event;    /* osc_row, or 0 */
};

struct group {
    struct key key;
    osc_row first;
    int64_t n_calls, total_ns;
};

/* Zeroed, it is empty. */
struct groups {
    struct group *v; /* owned; in the order of matches */
    size_t n, cap;
    struct osc_intern keys; /* key i belongs to group i - 1 */
    struct osc_arena arena;
};

static osc_status add_match(struct groups *g, const struct osc_trace *t,
                            const struct osc_pattern_match *m, bool by_event)
{
    const struct osc_chunk *const c = osc_chunk_of(&t->events, m->row);
    const uint32_t i = osc_row_place(m->row);
    const struct key key = {(uint32_t)m->pattern, c->name[i], m->source.v, m->function.v,
                            by_event ? m->row.v : 0};
    osc_sid id;
    const osc_status st =
        osc_intern_add(&g->keys, (struct osc_str){(const char *)&key, sizeof key}, &id);

    if (st != OSC_OK)
        return st;
    if (id.v > g->n) {
        if (osc_grow(&g->v, &g->cap, g->n + 1, sizeof *g->v) != OSC_OK)
            return OSC_ENOMEM;
        g->v[g->n++] = (struct group){.key = key, .first = m->row};
    }
    g->v[id.v - 1].n_calls++;
    g->v[id.v - 1].total_ns += c->dur_ns[i];
    return OSC_OK;
}

/* What tells the event in ROW from those with its id in other files. */
static void set_event(const struct osc_trace *t, osc_row row, struct osc_result *out)
{
    const struct osc_chunk *const c = osc_chunk_of(&t->events, row);
    const uint32_t i = osc_row_place(row);
    const struct osc_track *const track = &t->tracks[c->track[i]];
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "%u ", osc_row_number(&t->events, row));
    osc_strbuf_addi(&text, c->ts_ns[i] + t->base_ns);
    osc_strbuf_addc(&text, ' ');
    osc_strbuf_addstr(&text, osc_trace_str(t, track->pid));
    osc_strbuf_addc(&text, ' ');
    osc_strbuf_addstr(&text, osc_trace_str(t, track->tid));
    osc_result_str(out, EVENT, (struct osc_str){text.s, (uint32_t)text.len});
    if (text.status != OSC_OK)
        out->status = text.status;
    osc_strbuf_fini(&text);
}

static void add_row(const struct osc_trace *t, const struct osc_patterns *p,
                    const struct group *g, struct osc_result *out)
{
    const struct osc_chunk *const c = osc_chunk_of(&t->events, g->first);

    osc_result_row(out);
    osc_result_str(out, PATTERN, osc_str_c(patterns[g->key.pattern].word));
    osc_result_str(out, NAME, osc_trace_str(t, (osc_sid){g->key.name}));
    if (g->key.source != 0)
        osc_result_str(out, SOURCE, osc_intern_str(&p->sources, (osc_sid){g->key.source}));
    if (g->key.function != 0)
        osc_result_str(out, FUNCTION, osc_trace_str(t, (osc_sid){g->key.function}));
    osc_result_int(out, CALLS, g->n_calls);
    osc_result_int(out, TOTAL, g->total_ns);
    osc_result_int(out, ID, osc_row_number(&t->events, g->first));
    osc_result_int(out, START, c->ts_ns[osc_row_place(g->first)] - t->origin_ns);
    osc_result_bool(out, IS_REPORTED, g->key.pattern != OSC_PATTERN_INDEXING);
    osc_result_str(out, TEXT, osc_str_c(patterns[g->key.pattern].text));
    if (g->key.event != 0)
        set_event(t, g->first, out);
}

static osc_status map(const struct osc_trace *t, const struct osc_options *o,
                      struct osc_result *out, struct osc_err *err)
{
    struct osc_patterns p = {0};
    struct groups g = {.keys = {.arena = &g.arena, .seed = osc_hash_seed()}};
    osc_status st = osc_patterns_find(t, &p);

    for (size_t k = 0; k < p.n && st == OSC_OK; k++)
        st = add_match(&g, t, &p.v[k], osc_is_grouped(o, BY_EVENT));
    for (size_t k = 0; k < g.n && st == OSC_OK; k++)
        add_row(t, &p, &g.v[k], out);
    if (st == OSC_OK && g.n == 0)
        osc_result_why_empty(
            out, p.has_python && p.has_types
                     ? "none of the patterns was found"
                     : "none of the patterns was found; most need calls of Python and inputs "
                       "of operators: opscope run --torch=stack, or with_stack and "
                       "record_shapes of torch.profiler");
    osc_free(g.v);
    osc_intern_fini(&g.keys);
    osc_arena_fini(&g.arena);
    osc_patterns_fini(&p);
    if (st == OSC_OK)
        st = out->status;
    return st == OSC_OK ? st : osc_fail(err, st, "patterns: %s", osc_status_text(st));
}

/* Ranks may have equal events: they are told apart by where they are. */
static osc_status place(struct osc_result *part, const struct osc_placing *from,
                        const struct osc_placing *to)
{
    struct osc_strbuf text = {0};

    (void)from;
    for (uint64_t i = 0; i < part->n_rows && text.status == OSC_OK; i++) {
        if (!osc_result_has(part, i, EVENT))
            continue;
        osc_strbuf_clear(&text);
        osc_strbuf_addf(&text, "%d %d ", to->rank, to->span);
        osc_strbuf_addstr(&text, osc_result_get_str(part, i, EVENT));
        osc_result_set_str(part, i, EVENT, (struct osc_str){text.s, (uint32_t)text.len});
    }
    const osc_status st = text.status == OSC_OK ? part->status : text.status;
    osc_strbuf_fini(&text);
    return st;
}

/* --- evidence ----------------------------------------------------------------------------- */

/* Write which rows of the same table are those of row I. */
static void add_conditions(const struct osc_result *r, uint64_t i, struct osc_strbuf *out)
{
    for (uint32_t column = PATTERN; column <= SOURCE; column++) {
        osc_strbuf_addf(out, "%s%s", column > PATTERN ? " and " : "", columns[column].name);
        if (osc_result_has(r, i, column)) {
            osc_strbuf_adds(out, " = ");
            osc_shell_add_string(out, osc_result_get_str(r, i, column));
        } else {
            osc_strbuf_adds(out, " is null");
        }
    }
}

static osc_status set_evidence(struct osc_result *r, uint64_t i, const struct osc_options *o)
{
    struct osc_strbuf text = {0};

    osc_strbuf_addf(&text, "opscope table %s%s --where \"",
                    osc_is_grouped(o, BY_EVENT) ? "events" : "patterns --group-by event",
                    o->selected ? o->selected : "");
    if (osc_is_grouped(o, BY_EVENT))
        osc_strbuf_addf(&text, "id = %lld", (long long)osc_result_get_int(r, i, ID));
    else
        add_conditions(r, i, &text);
    osc_strbuf_addf(&text, "\" %s", o->operands);
    const osc_status st = text.status;
    if (st == OSC_OK)
        osc_result_set_str(r, i, EVIDENCE, (struct osc_str){text.s, (uint32_t)text.len});
    osc_strbuf_fini(&text);
    return st;
}

static osc_status finish(struct osc_result *r, const struct osc_options *o, struct osc_err *err)
{
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < r->n_rows && o->operands && st == OSC_OK; i++)
        st = set_evidence(r, i, o);
    if (st == OSC_OK)
        st = r->status;
    return st == OSC_OK ? st : osc_fail(err, st, "patterns: %s", osc_status_text(st));
}

static const char *const groupings[] = {[BY_EVENT] = "event", NULL};

const struct osc_table_def osc_table_patterns = {
    .name = "patterns",
    .help = "What the pattern matcher of torch finds: habits of the program that cost time.",
    .source = "names and inputs of events, and what they lie in.",
    .rules = OSC_RULE_PATTERNS,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .groupings = groupings,
    .facts = OSC_FACT_FOREST | OSC_FACT_LINKS,
    .map = map,
    .place = place,
    .finish = finish,
};
