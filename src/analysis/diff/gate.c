/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/gate.h"

#include <string.h>

#include "analysis/diff/change.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/unions.h"
#include "table/nearest.h"
#include "table/row_sort.h"

#define NAME_BYTES_MAX (16u << 10)

/* The rows of diff_steps. */
static const char *const categories[] = {
    "total",
#define CLASS_NAME(name, text) text,
    OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
        "other",
};

/* An operand that was parsed: the nodes [first, end of its parent or of all). */
struct operand {
    size_t first;
    bool has_comparison;
    bool is_word, is_not;  /* only `significant`, or `not significant` */
    bool wants, wants_not; /* `and significant` of this chain, also for what follows */
};

/* An operator that waits for its right side. */
struct waiting {
    char what; /* '(' '!' '&' '|' */
    size_t at; /* offset in the text */
};

struct parser {
    struct osc_gate *g;
    const char *text, *at;
    struct operand *operands; /* owned */
    struct waiting *waiting;  /* owned */
    size_t n_operands, n_waiting, cap_operands, cap_waiting;
    struct osc_err *err;
};

static osc_status fail(const struct parser *p, const char *at, const char *what)
{
    return osc_fail(p->err, OSC_EINVAL, "--fail-on: %s at '%.40s' (character %zu)", what,
                    *at ? at : "the end", (size_t)(at - p->text) + 1);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

/* The word at P, and skip it. */
static struct osc_str read_word(struct parser *p)
{
    const char *const from = p->at;

    while (is_letter(*p->at))
        p->at++;
    return (struct osc_str){from, (uint32_t)(p->at - from)};
}

static bool skip_char(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    skip_blanks(p);
    return true;
}

/* --- nodes ------------------------------------------------------------------------- */

static osc_status add_node(struct parser *p, struct osc_gate_node node)
{
    struct osc_gate *const g = p->g;

    if (g->n >= OSC_GATE_PARTS_MAX)
        return osc_fail(p->err, OSC_EINVAL, "--fail-on: more than %u parts",
                        OSC_GATE_PARTS_MAX);
    if (osc_grow(&g->nodes, &g->cap, g->n + 1, sizeof *g->nodes) != OSC_OK)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    g->nodes[g->n++] = node;
    return OSC_OK;
}

static osc_status push_operand(struct parser *p, struct operand o)
{
    if (osc_grow(&p->operands, &p->cap_operands, p->n_operands + 1, sizeof *p->operands) !=
        OSC_OK)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    p->operands[p->n_operands++] = o;
    return OSC_OK;
}

static osc_status push_waiting(struct parser *p, char what, const char *at)
{
    if (p->n_waiting >= OSC_GATE_PARTS_MAX)
        return osc_fail(p->err, OSC_EINVAL, "--fail-on: more than %u parts",
                        OSC_GATE_PARTS_MAX);
    if (osc_grow(&p->waiting, &p->cap_waiting, p->n_waiting + 1, sizeof *p->waiting) != OSC_OK)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    p->waiting[p->n_waiting++] = (struct waiting){what, (size_t)(at - p->text)};
    return OSC_OK;
}

/* Let the comparisons among nodes [FROM, TO) want what O wants. */
static void qualify(struct osc_gate *g, size_t from, size_t to, bool wants, bool wants_not)
{
    for (size_t i = from; i < to && (wants || wants_not); i++) {
        g->nodes[i].wants_significant |= wants;
        g->nodes[i].wants_not_significant |= wants_not;
    }
}

/* `significant` among nodes [FROM, TO) qualifies comparisons: it means nothing by itself. */
static void absorb(struct osc_gate *g, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        g->nodes[i].part = g->nodes[i].part == OSC_GATE_ANY   ? OSC_GATE_TRUE
                           : g->nodes[i].part == OSC_GATE_NOT ? OSC_GATE_NOTHING
                                                              : g->nodes[i].part;
}

/* Join the operands A and B, of which B ends the nodes, by `and`. */
static struct operand join_by_and(struct osc_gate *g, struct operand a, struct operand b)
{
    struct operand both = {.first = a.first,
                           .has_comparison = a.has_comparison || b.has_comparison,
                           .wants = a.wants || b.wants,
                           .wants_not = a.wants_not || b.wants_not};

    if (both.has_comparison && a.is_word) {
        absorb(g, a.first, b.first);
        both.wants |= !a.is_not;
        both.wants_not |= a.is_not;
    }
    if (both.has_comparison && b.is_word) {
        absorb(g, b.first, g->n);
        both.wants |= !b.is_not;
        both.wants_not |= b.is_not;
    }
    if (a.is_word && b.is_word && a.is_not == b.is_not) {
        absorb(g, b.first, g->n); /* twice the same */
        both.is_word = true;
        both.is_not = a.is_not;
    }
    qualify(g, a.first, g->n, both.wants, both.wants_not);
    return both;
}

/* Apply the operator on top to the operands on top. */
static osc_status reduce(struct parser *p)
{
    struct osc_gate *const g = p->g;
    const struct waiting w = p->waiting[--p->n_waiting];
    struct operand *const b = &p->operands[p->n_operands - 1];

    if (w.what == '!') {
        for (size_t i = b->first; i < g->n; i++)
            g->nodes[i].is_negated = !g->nodes[i].is_negated;
        const bool is_word = b->is_word;
        const bool is_not = is_word && !b->is_not;
        *b = (struct operand){.first = b->first,
                              .has_comparison = b->has_comparison,
                              .is_word = is_word,
                              .is_not = is_not};
        return add_node(p, (struct osc_gate_node){.part = OSC_GATE_NOT});
    }
    struct operand *const a = b - 1;
    const struct operand both =
        w.what == '&'
            ? join_by_and(g, *a, *b)
            : (struct operand){.first = a->first,
                               .has_comparison = a->has_comparison || b->has_comparison};

    *a = both;
    p->n_operands--;
    return add_node(p,
                    (struct osc_gate_node){.part = w.what == '&' ? OSC_GATE_AND : OSC_GATE_OR});
}

/* Apply operators that bind at least as much as WHAT. */
static osc_status reduce_to(struct parser *p, char what)
{
    while (p->n_waiting > 0) {
        const char top = p->waiting[p->n_waiting - 1].what;

        if (top == '(' || (what == '&' && top == '|'))
            break;
        const osc_status st = reduce(p);
        if (st != OSC_OK)
            return st;
    }
    return OSC_OK;
}

/* --- comparisons ------------------------------------------------------------------- */

/* Read a number such as 2 or 0.5. */
static bool read_number(struct parser *p, double *v)
{
    double scale = 1;
    int n_digits = 0;

    *v = 0;
    for (; *p->at >= '0' && *p->at <= '9' && n_digits < 18; p->at++, n_digits++)
        *v = *v * 10 + (*p->at - '0');
    if (n_digits > 0 && *p->at == '.') {
        for (p->at++; *p->at >= '0' && *p->at <= '9' && n_digits < 18; p->at++, n_digits++) {
            *v = *v * 10 + (*p->at - '0');
            scale *= 10;
        }
    }
    *v /= scale;
    return n_digits > 0 && !(*p->at >= '0' && *p->at <= '9') && *p->at != '.';
}

static osc_status read_limit(struct parser *p, struct osc_gate_node *node)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const char *const from = p->at;

    skip_blanks(p);
    if (*p->at == '<' || *p->at == '=')
        return fail(p, from, "only growth breaks a gate: '>' is expected");
    if (*p->at != '>')
        return fail(p, from, "'>' and a limit such as 5% or 2ms are expected");
    p->at++;
    if (*p->at == '=')
        return fail(p, from, "'>' is expected, without '='");
    skip_blanks(p);
    const char *const number = p->at;
    if (!read_number(p, &node->limit))
        return fail(p, number, "a limit such as 5% or 2ms is expected");
    skip_blanks(p);
    if (*p->at == '%') {
        p->at++;
        node->is_share = true;
        return OSC_OK;
    }
    const struct osc_str unit = read_word(p);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (osc_str_eq(unit, osc_str_c(units[i].name))) {
            node->limit *= units[i].ns;
            return OSC_OK;
        }
    }
    return fail(p, number, "a limit needs a unit, %, ns, us, ms or s,");
}

/* Read ('NAME') into the arena; a quote in NAME is written twice. */
static osc_status read_name(struct parser *p, struct osc_str *name)
{
    const char *const from = p->at;
    uint32_t n = 0;

    if (!skip_char(p, '('))
        return fail(p, from, "a name in brackets and quotes, ('NAME'), is expected");
    skip_blanks(p);
    const char quote = *p->at;
    if (quote != '\'' && quote != '"')
        return fail(p, p->at, "a name in quotes is expected");
    const char *at = ++p->at;
    const size_t room = strnlen(at, NAME_BYTES_MAX);
    char *const bytes = osc_arena_alloc(&p->g->arena, room + 1);
    if (!bytes)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    for (; *at && n < room; at++) {
        if (*at == quote && at[1] == quote)
            at++;
        else if (*at == quote)
            break;
        bytes[n++] = *at;
    }
    if (*at != quote)
        return fail(p, p->at, "the quote of a name is not closed");
    p->at = at + 1;
    bytes[n] = '\0';
    *name = (struct osc_str){bytes, n};
    return skip_char(p, ')') ? OSC_OK : fail(p, p->at, "a bracket is not closed");
}

/* Read .CATEGORY. */
static osc_status read_category(struct parser *p, struct osc_gate_node *node)
{
    const char *const from = p->at;
    char word[40];
    struct osc_nearest near = {.word = word};

    if (!skip_char(p, '.'))
        return fail(p, from, "step.CATEGORY is expected, such as step.total,");
    const struct osc_str category = read_word(p);
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (osc_str_eq(category, osc_str_c(categories[i]))) {
            node->name = osc_str_c(categories[i]);
            return OSC_OK;
        }
    }
    const uint32_t len = category.len < sizeof word - 1 ? category.len : sizeof word - 1;
    memcpy(word, category.s, len);
    word[len] = '\0';
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        osc_nearest_try(&near, categories[i]);
    if (near.best)
        return osc_fail(p->err, OSC_EINVAL,
                        "--fail-on: steps have no part '%s'; did you mean 'step.%s'?", word,
                        near.best);
    return osc_fail(
        p->err, OSC_EINVAL,
        "--fail-on: steps have no part '%s'; there are total, kernel, memcpy, memset, "
        "communication, runtime, dataloader, cpu_exec and other",
        word);
}

static osc_status read_comparison(struct parser *p, struct osc_str word)
{
    struct osc_gate_node node = {.part = OSC_GATE_COMPARE};
    osc_status st = OSC_OK;

    if (osc_str_eq(word, OSC_STR("step"))) {
        node.table = OSC_GATE_STEPS;
        st = read_category(p, &node);
    } else if (osc_str_eq(word, OSC_STR("operator"))) {
        node.table = OSC_GATE_OPERATORS;
        st = read_name(p, &node.name);
        if (st == OSC_OK && (!skip_char(p, '.') || !osc_str_eq(read_word(p), OSC_STR("self"))))
            st = fail(p, p->at, "operator('NAME').self is expected");
    } else if (osc_str_eq(word, OSC_STR("kernel"))) {
        node.table = OSC_GATE_KERNELS;
        st = read_name(p, &node.name);
    } else {
        st = fail(p, word.s,
                  "step.CATEGORY, operator('NAME').self, kernel('NAME') or significant is "
                  "expected");
    }
    if (st == OSC_OK)
        st = read_limit(p, &node);
    if (st != OSC_OK)
        return st;
    const size_t len = (size_t)(p->at - word.s);
    const char *const text = osc_arena_dup(&p->g->arena, word.s, len);
    if (!text)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    node.text = (struct osc_str){text, (uint32_t)len};
    st = push_operand(p, (struct operand){.first = p->g->n, .has_comparison = true});
    return st == OSC_OK ? add_node(p, node) : st;
}

/* --- the whole --------------------------------------------------------------------- */

/* Read what may stand where an operand is expected; *IS_READ: it was one. */
static osc_status read_operand(struct parser *p, bool *is_read)
{
    skip_blanks(p);
    const char *const from = p->at;

    *is_read = false;
    if (skip_char(p, '('))
        return push_waiting(p, '(', from);
    const struct osc_str word = read_word(p);
    if (osc_str_eq(word, OSC_STR("not")))
        return push_waiting(p, '!', from);
    *is_read = true;
    if (!osc_str_eq(word, OSC_STR("significant")))
        return read_comparison(p, word);
    p->g->asks_significance = true;
    const osc_status st = push_operand(p, (struct operand){.first = p->g->n, .is_word = true});
    return st == OSC_OK ? add_node(p, (struct osc_gate_node){.part = OSC_GATE_ANY}) : st;
}

/* Read what may stand behind an operand: `and`, `or`, a closing bracket. */
static osc_status read_operator(struct parser *p, bool *wants_operand)
{
    const char *const from = p->at;
    osc_status st = OSC_OK;

    if (skip_char(p, ')')) {
        st = reduce_to(p, '|');
        if (st == OSC_OK && p->n_waiting == 0)
            return fail(p, from, "a bracket is closed that was not opened");
        if (st == OSC_OK)
            p->n_waiting--;
        /* What the chain in brackets wants is not for the chain around them. */
        struct operand *const o = &p->operands[p->n_operands - 1];
        o->wants = o->wants_not = false;
        return st;
    }
    const struct osc_str word = read_word(p);
    char what = '\0';

    if (osc_str_eq(word, OSC_STR("and")))
        what = '&';
    else if (osc_str_eq(word, OSC_STR("or")))
        what = '|';
    if (what == '\0')
        return fail(p, from, "'and', 'or' or the end is expected");
    *wants_operand = true;
    st = reduce_to(p, what);
    return st == OSC_OK ? push_waiting(p, what, from) : st;
}

static osc_status parse(struct parser *p)
{
    bool wants_operand = true;
    osc_status st = OSC_OK;

    for (skip_blanks(p); st == OSC_OK && (*p->at || wants_operand); skip_blanks(p)) {
        bool is_read = false;

        if (wants_operand) {
            st = read_operand(p, &is_read);
            wants_operand = !is_read;
        } else {
            st = read_operator(p, &wants_operand);
        }
    }
    if (st == OSC_OK)
        st = reduce_to(p, '|');
    if (st == OSC_OK && p->n_waiting > 0)
        return fail(p, p->text + p->waiting[p->n_waiting - 1].at, "a bracket is not closed");
    return st;
}

osc_status osc_gate_parse(struct osc_gate *g, const char *text, struct osc_err *err)
{
    struct parser p = {.g = g, .text = text, .at = text, .err = err};

    *g = (struct osc_gate){0};
    const osc_status st = parse(&p);
    osc_free(p.operands);
    osc_free(p.waiting);
    return st;
}

void osc_gate_fini(struct osc_gate *g)
{
    osc_free(g->nodes);
    osc_arena_fini(&g->arena);
    *g = (struct osc_gate){0};
}

/* --- evaluation -------------------------------------------------------------------- */

static struct osc_change_columns columns_of(enum osc_gate_table table,
                                            const struct osc_result *r)
{
    return table == OSC_GATE_STEPS ? *osc_diff_steps_columns()
                                   : osc_change_columns(r->def, osc_change_time(r));
}

static bool has_grown(const struct osc_change *c)
{
    return c->new_ns > c->base_ns;
}

/* Say in ERR why R, the table of steps, has no rows. */
static osc_status fail_without_steps(const struct osc_result *r, struct osc_err *err)
{
    const size_t len = r->notes.len > 0 ? strcspn(r->notes.s, "\n") : 0;

    return osc_fail(err, OSC_EFORMAT, "%.*s", (int)len, len > 0 ? r->notes.s : "");
}

/* Find the row that NODE names. */
static osc_status find_row(struct osc_gate_node *node, const struct osc_result *r,
                           struct osc_err *err)
{
    const struct osc_change_columns at = columns_of(node->table, r);
    struct osc_nearest near = {.word = node->name.s};

    for (uint64_t i = 0; i < r->n_rows && !node->has_row; i++) {
        node->has_row = osc_str_eq(osc_result_get_str(r, i, at.name), node->name);
        node->row = i;
    }
    if (node->has_row)
        return OSC_OK;
    if (node->table == OSC_GATE_STEPS)
        return r->n_rows > 0 ? OSC_OK : fail_without_steps(r, err);
    const char *const what = node->table == OSC_GATE_KERNELS ? "kernel" : "operator";
    char *words = NULL;
    for (uint64_t i = 0; i < r->n_rows; i++) {
        const struct osc_str name = osc_result_get_str(r, i, at.name);
        char word[65];

        if (name.len >= sizeof word || near.word[0] == '\0')
            continue;
        memcpy(word, name.s, name.len);
        word[name.len] = '\0';
        const char *const before = near.best;
        osc_nearest_try(&near, word);
        if (near.best == before)
            continue;
        /* WORD is gone after this round. */
        osc_free(words);
        words = osc_malloc(sizeof word);
        if (!words)
            break;
        memcpy(words, word, sizeof word);
        near.best = words;
    }
    const osc_status st =
        near.best ? osc_fail(err, OSC_ENOTFOUND,
                             "--fail-on: neither run has the %s '%.200s'; did you mean '%s'?",
                             what, node->name.s, near.best)
                  : osc_fail(err, OSC_ENOTFOUND, "--fail-on: neither run has the %s '%.200s'",
                             what, node->name.s);
    osc_free(words);
    return st;
}

/* Whether the row of NODE grew beyond its limit. */
static bool compare(const struct osc_gate_node *node, const struct osc_result *r)
{
    const struct osc_change_columns at = columns_of(node->table, r);

    if (!node->has_row)
        return false;
    const struct osc_change c = osc_change_at(r, node->row, &at);
    const double growth = c.new_ns - c.base_ns;
    const bool exceeds = node->is_share ? growth > 0 && growth * 100 > node->limit * c.base_ns
                                        : growth > 0 && growth > node->limit;
    return exceeds && (!node->wants_significant || c.is_significant) &&
           (!node->wants_not_significant || !c.is_significant);
}

/* Whether anything grew significantly. */
static bool any_grew(const struct osc_result *const *tables)
{
    for (int t = 0; t < OSC_GATE_TABLES; t++) {
        const struct osc_change_columns at = columns_of((enum osc_gate_table)t, tables[t]);

        for (uint64_t i = 0; i < tables[t]->n_rows; i++) {
            const struct osc_change c = osc_change_at(tables[t], i, &at);

            if (c.is_significant && has_grown(&c))
                return true;
        }
    }
    return false;
}

/* Whether something that is part of what makes G true grew: `not` alone is no growth. */
static bool names_growth(const struct osc_gate *g)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct osc_gate_node *const node = &g->nodes[i];

        if ((node->part == OSC_GATE_COMPARE || node->part == OSC_GATE_ANY) && node->holds &&
            !node->is_negated)
            return true;
    }
    return false;
}

osc_status osc_gate_evaluate(struct osc_gate *g, const struct osc_result *const *tables,
                             struct osc_err *err)
{
    bool *const stack = osc_calloc(g->n + 1, sizeof *stack);
    size_t n = 0;
    osc_status st = OSC_OK;

    if (!stack)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    for (size_t i = 0; i < g->n && st == OSC_OK; i++) {
        struct osc_gate_node *const node = &g->nodes[i];

        switch (node->part) {
        case OSC_GATE_COMPARE:
            node->has_row = false;
            st = find_row(node, tables[node->table], err);
            node->holds = st == OSC_OK && compare(node, tables[node->table]);
            stack[n++] = node->holds;
            break;
        case OSC_GATE_ANY:
            node->holds = any_grew(tables);
            stack[n++] = node->holds;
            break;
        case OSC_GATE_TRUE:
            stack[n++] = true;
            break;
        case OSC_GATE_NOTHING:
            break;
        case OSC_GATE_NOT:
            stack[n - 1] = !stack[n - 1];
            break;
        case OSC_GATE_AND:
            stack[n - 2] = stack[n - 2] && stack[n - 1];
            n--;
            break;
        case OSC_GATE_OR:
            stack[n - 2] = stack[n - 2] || stack[n - 1];
            n--;
            break;
        }
    }
    g->is_broken = st == OSC_OK && n > 0 && stack[0] && names_growth(g);
    osc_free(stack);
    return st;
}

typedef void tell_row(void *ctx, enum osc_gate_table table, uint64_t row, struct osc_str text);

/* Pass up to MOST rows of R that grew significantly to TELL, the largest change first; returns
 * how many. Without memory they stand in the order of R. */
static uint64_t tell_grown(enum osc_gate_table table, const struct osc_result *r, uint64_t most,
                           tell_row *tell, void *ctx)
{
    const struct osc_change_columns at = columns_of(table, r);
    const struct osc_sort_key key = {.column = at.order, .divisor = -1};
    uint32_t *order = NULL;
    uint64_t n = 0;

    if (osc_sort_rows(r, &key, &order) != OSC_OK)
        order = NULL;
    for (uint64_t i = 0; i < r->n_rows && n < most; i++) {
        const uint64_t row = order ? order[i] : i;
        const struct osc_change c = osc_change_at(r, row, &at);

        if (!c.is_significant || !has_grown(&c))
            continue;
        tell(ctx, table, row, OSC_STR("significant"));
        n++;
    }
    osc_free(order);
    return n;
}

void osc_gate_each(const struct osc_gate *g, const struct osc_result *const *tables,
                   uint64_t most,
                   void (*tell)(void *ctx, enum osc_gate_table table, uint64_t row,
                                struct osc_str text),
                   void *ctx)
{
    bool is_any = false;
    uint64_t n = 0;

    for (size_t i = 0; i < g->n && n < most; i++) {
        const struct osc_gate_node *const node = &g->nodes[i];

        is_any |= node->part == OSC_GATE_ANY && node->holds && !node->is_negated;
        if (node->part != OSC_GATE_COMPARE || !node->holds || node->is_negated)
            continue;
        tell(ctx, node->table, node->row, node->text);
        n++;
    }
    for (int t = 0; t < OSC_GATE_TABLES && is_any && n < most; t++)
        n += tell_grown((enum osc_gate_table)t, tables[t], most - n, tell, ctx);
}

bool osc_gate_knows_significance(const struct osc_result *const *tables)
{
    const struct osc_result *const steps = tables[OSC_GATE_STEPS];

    return steps->n_rows > 0 && osc_result_has(steps, 0, osc_diff_steps_columns()->significant);
}
