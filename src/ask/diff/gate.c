/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/diff/gate.h"

#include <stdio.h>
#include <string.h>

#include "analysis/diff/change.h"
#include "analysis/table_registry.h"
#include "base/mem.h"
#include "derive/unions.h"
#include "sql/where.h"
#include "table/nearest.h"
#include "table/row_sort.h"

#define NAME_BYTES_MAX     (16u << 10)
#define NAME_SUGGESTED_MAX 64u

/* The rows of diff_steps. */
static const char *const categories[] = {
    "total",
#define CLASS_NAME(name, text) text,
    OSC_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
        "other",
};

/* What is open between the whole gate, or a bracket, and its end. */
struct level {
    size_t at;    /* offset of the bracket */
    size_t chain; /* the first part of the chain of `and` */
    bool has_or;
    bool is_negated; /* by all the brackets around */
    bool is_not;     /* a `not` awaits its operand */
};

struct parser {
    struct osc_gate *g;
    const char *text, *at;
    struct level *levels; /* owned */
    size_t n_levels, cap_levels;
    struct osc_err *err;
};

static osc_status fail(const struct parser *p, const char *at, const char *what)
{
    return osc_fail(p->err, OSC_EINVAL, "%s at '%.40s' (character %zu)", what,
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

/* --- comparisons ------------------------------------------------------------------- */

/* Read a number such as 2 or 0.5, of at most 18 digits. */
static bool read_number(struct parser *p, struct osc_str *number)
{
    const char *const from = p->at;
    const size_t n = strspn(from, "0123456789");
    const size_t n_behind = from[n] == '.' ? 1 + strspn(from + n + 1, "0123456789") : 0;

    p->at += n + n_behind;
    *number = (struct osc_str){from, (uint32_t)(n + n_behind)};
    return n > 0 && n + n_behind <= 19 && *p->at != '.';
}

static osc_status read_limit(struct parser *p, struct osc_gate_part *part)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *const from = p->at;
    struct osc_str number;

    skip_blanks(p);
    if (*p->at == '<' || *p->at == '=')
        return fail(p, from, "only growth breaks a gate: '>' is expected");
    if (*p->at != '>')
        return fail(p, from, "'>' and a limit such as 5% or 2ms are expected");
    p->at++;
    if (*p->at == '=')
        return fail(p, from, "'>' is expected, without '='");
    skip_blanks(p);
    const char *const limit = p->at;
    if (!read_number(p, &number))
        return fail(p, limit, "a limit such as 5% or 2ms is expected");
    snprintf(part->number, sizeof part->number, "%.*s", (int)number.len, number.s);
    skip_blanks(p);
    if (*p->at == '%') {
        p->at++;
        return OSC_OK;
    }
    const struct osc_str unit = read_word(p);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (osc_str_eq(unit, osc_str_c(units[i]))) {
            part->unit = units[i];
            return OSC_OK;
        }
    }
    return fail(p, limit, "a limit needs a unit, %, ns, us, ms or s,");
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
static osc_status read_category(struct parser *p, struct osc_gate_part *part)
{
    const char *const from = p->at;
    char word[40];
    struct osc_nearest near = {.word = word};

    if (!skip_char(p, '.'))
        return fail(p, from, "step.CATEGORY is expected, such as step.total,");
    const struct osc_str category = read_word(p);
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (osc_str_eq(category, osc_str_c(categories[i]))) {
            part->name = osc_str_c(categories[i]);
            return OSC_OK;
        }
    }
    const uint32_t len = category.len < sizeof word - 1 ? category.len : sizeof word - 1;
    memcpy(word, category.s, len);
    word[len] = '\0';
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        osc_nearest_try(&near, categories[i]);
    if (near.best)
        return osc_fail(p->err, OSC_EINVAL, "steps have no part '%s'; did you mean 'step.%s'?",
                        word, near.best);
    return osc_fail(p->err, OSC_EINVAL,
                    "steps have no part '%s'; there are total, kernel, memcpy, memset, "
                    "communication, runtime, dataloader, cpu_exec and other",
                    word);
}

static osc_status read_comparison(struct parser *p, struct osc_str word,
                                  struct osc_gate_part *part)
{
    osc_status st = OSC_OK;

    if (osc_str_eq(word, OSC_STR("step"))) {
        part->table = OSC_GATE_STEPS;
        st = read_category(p, part);
    } else if (osc_str_eq(word, OSC_STR("operator"))) {
        part->table = OSC_GATE_OPERATORS;
        st = read_name(p, &part->name);
        if (st == OSC_OK && (!skip_char(p, '.') || !osc_str_eq(read_word(p), OSC_STR("self"))))
            st = fail(p, p->at, "operator('NAME').self is expected");
    } else if (osc_str_eq(word, OSC_STR("kernel"))) {
        part->table = OSC_GATE_KERNELS;
        st = read_name(p, &part->name);
    } else {
        st = fail(p, word.s,
                  "step.CATEGORY, operator('NAME').self, kernel('NAME') or significant is "
                  "expected");
    }
    if (st == OSC_OK)
        st = read_limit(p, part);
    if (st != OSC_OK)
        return st;
    part->text.len = (uint32_t)(p->at - word.s);
    part->text.s = osc_arena_dup(&p->g->arena, word.s, part->text.len);
    return part->text.s ? OSC_OK : osc_fail(p->err, OSC_ENOMEM, "out of memory");
}

/* --- the whole --------------------------------------------------------------------- */

/* Add C to the form of the gate. */
static osc_status add_form(struct parser *p, char c)
{
    if (p->g->form.len >= OSC_GATE_PARTS_MAX)
        return osc_fail(p->err, OSC_EINVAL, "more than %u parts", OSC_GATE_PARTS_MAX);
    osc_strbuf_addc(&p->g->form, c);
    return p->g->form.status == OSC_OK ? OSC_OK : osc_fail(p->err, OSC_ENOMEM, "out of memory");
}

static struct level *top(struct parser *p)
{
    return &p->levels[p->n_levels - 1];
}

static osc_status open_level(struct parser *p, size_t at, bool is_negated)
{
    if (osc_grow(&p->levels, &p->cap_levels, p->n_levels + 1, sizeof *p->levels) != OSC_OK)
        return osc_fail(p->err, OSC_ENOMEM, "out of memory");
    p->levels[p->n_levels++] =
        (struct level){.at = at, .chain = p->g->n, .is_negated = is_negated};
    return OSC_OK;
}

/*
 * End the chain of `and` of the level on top. If it has comparisons, each `significant` that
 * stands in it, perhaps in brackets of its own, is about them and true by itself. Returns
 * whether the chain is such a word: nothing but the same one, which may belong to a chain
 * around it.
 */
static bool end_chain(struct parser *p)
{
    struct osc_gate *const g = p->g;
    struct osc_gate_part *const chain = g->parts + top(p)->chain;
    const size_t n = g->n - top(p)->chain;
    bool has_comparison = false, wants = false, wants_not = false, is_word = true;

    for (size_t i = 0; i < n; i++) {
        has_comparison |= chain[i].table != OSC_GATE_TABLES;
        wants |= chain[i].is_word && !chain[i].is_not;
        wants_not |= chain[i].is_word && chain[i].is_not;
        is_word = is_word && chain[i].is_word;
    }
    is_word = is_word && wants != wants_not;
    for (size_t i = 0; i < n && has_comparison; i++) {
        const bool is_any = chain[i].table == OSC_GATE_TABLES;

        chain[i].is_beside |= chain[i].is_word;
        chain[i].wants_significant |= wants;
        chain[i].wants_not_significant |= !is_any && wants_not;
    }
    return is_word;
}

/* Read what may stand where an operand is expected; *IS_READ: it was one. */
static osc_status read_operand(struct parser *p, bool *is_read)
{
    struct level *const l = top(p);
    struct osc_gate *const g = p->g;

    skip_blanks(p);
    const char *const from = p->at;
    *is_read = false;
    if (skip_char(p, '(')) {
        const osc_status st = add_form(p, '(');
        return st == OSC_OK
                   ? open_level(p, (size_t)(from - p->text), l->is_negated != l->is_not)
                   : st;
    }
    const struct osc_str word = read_word(p);
    if (osc_str_eq(word, OSC_STR("not"))) {
        l->is_not = !l->is_not;
        return add_form(p, '!');
    }
    const bool is_word = osc_str_eq(word, OSC_STR("significant"));
    struct osc_gate_part part = {.table = OSC_GATE_TABLES,
                                 .wants_significant = is_word,
                                 .is_word = is_word,
                                 .is_not = l->is_not,
                                 .is_negated = l->is_negated != l->is_not};
    osc_status st = is_word ? OSC_OK : read_comparison(p, word, &part);
    if (st == OSC_OK)
        st = add_form(p, '?');
    if (st == OSC_OK && osc_grow(&g->parts, &g->cap, g->n + 1, sizeof part) != OSC_OK)
        st = osc_fail(p->err, OSC_ENOMEM, "out of memory");
    if (st != OSC_OK)
        return st;
    g->asks_significance |= is_word;
    g->parts[g->n++] = part;
    l->is_not = false;
    *is_read = true;
    return st;
}

/* Read the end of a bracket, which is an operand of the level around it. */
static osc_status close_level(struct parser *p, const char *from)
{
    if (p->n_levels == 1)
        return fail(p, from, "a bracket is closed that was not opened");
    const struct level inner = *top(p);
    const bool is_word = end_chain(p) && !inner.has_or;

    p->n_levels--;
    for (size_t i = inner.chain; i < p->g->n; i++) {
        p->g->parts[i].is_word = is_word;
        p->g->parts[i].is_not ^= is_word && top(p)->is_not;
    }
    top(p)->is_not = false;
    return add_form(p, ')');
}

/* Read what may stand behind an operand: `and`, `or`, a closing bracket. */
static osc_status read_operator(struct parser *p, bool *wants_operand)
{
    const char *const from = p->at;

    if (skip_char(p, ')'))
        return close_level(p, from);
    const struct osc_str word = read_word(p);
    *wants_operand = true;
    if (osc_str_eq(word, OSC_STR("and")))
        return OSC_OK;
    if (!osc_str_eq(word, OSC_STR("or")))
        return fail(p, from, "'and', 'or' or the end is expected");
    (void)end_chain(p);
    for (size_t i = top(p)->chain; i < p->g->n; i++)
        p->g->parts[i].is_word = false;
    top(p)->chain = p->g->n;
    top(p)->has_or = true;
    return add_form(p, '|');
}

static osc_status parse(struct parser *p)
{
    bool wants_operand = true;
    osc_status st = open_level(p, 0, false);

    for (skip_blanks(p); st == OSC_OK && (*p->at || wants_operand); skip_blanks(p)) {
        bool is_read = false;

        if (wants_operand) {
            st = read_operand(p, &is_read);
            wants_operand = !is_read;
        } else {
            st = read_operator(p, &wants_operand);
        }
    }
    if (st == OSC_OK && p->n_levels > 1)
        return fail(p, p->text + top(p)->at, "a bracket is not closed");
    if (st == OSC_OK)
        (void)end_chain(p);
    return st;
}

osc_status osc_gate_parse(struct osc_gate *g, const char *text, struct osc_err *err)
{
    struct parser p = {.g = g, .text = text, .at = text, .err = err};

    *g = (struct osc_gate){0};
    const osc_status st = parse(&p);
    osc_free(p.levels);
    return st;
}

void osc_gate_fini(struct osc_gate *g)
{
    for (int t = 0; t < OSC_GATE_TABLES; t++)
        osc_free(g->grown[t]);
    osc_free(g->parts);
    osc_strbuf_fini(&g->form);
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

/* Say in ERR why R, the table of steps, has no rows. */
static osc_status fail_without_steps(const struct osc_result *r, struct osc_err *err)
{
    const size_t len = r->notes.len > 0 ? strcspn(r->notes.s, "\n") : 0;

    return osc_fail(err, OSC_EFORMAT, "%.*s", (int)len, len > 0 ? r->notes.s : "");
}

/* Say in ERR that R has no row that PART names, and which name of R is near it. */
static osc_status fail_without_row(struct osc_gate *g, const struct osc_gate_part *part,
                                   const struct osc_result *r, struct osc_err *err)
{
    const struct osc_change_columns at = columns_of(part->table, r);
    const char *const what = part->table == OSC_GATE_KERNELS ? "kernel" : "operator";
    struct osc_nearest near = {.word = part->name.s};

    for (uint64_t i = 0; i < r->n_rows && part->name.len > 0; i++) {
        const struct osc_str name = osc_result_get_str(r, i, at.name);
        const char *const word =
            name.len <= NAME_SUGGESTED_MAX ? osc_arena_dup(&g->arena, name.s, name.len) : NULL;

        if (word)
            osc_nearest_try(&near, word);
    }
    if (near.best)
        return osc_fail(err, OSC_ENOTFOUND,
                        "neither run has the %s '%.200s'; did you mean '%s'?", what,
                        part->name.s, near.best);
    return osc_fail(err, OSC_ENOTFOUND, "neither run has the %s '%.200s'", what, part->name.s);
}

/* Find the row that PART names. */
static osc_status find_row(struct osc_gate *g, struct osc_gate_part *part,
                           const struct osc_result *r, struct osc_err *err)
{
    const struct osc_change_columns at = columns_of(part->table, r);

    part->has_row = false;
    for (uint64_t i = 0; i < r->n_rows && !part->has_row; i++) {
        part->has_row = osc_str_eq(osc_result_get_str(r, i, at.name), part->name);
        part->row = i;
    }
    if (part->has_row)
        return OSC_OK;
    if (part->table == OSC_GATE_STEPS)
        return r->n_rows > 0 ? OSC_OK : fail_without_steps(r, err);
    return fail_without_row(g, part, r, err);
}

/* Write what PART asks of a row of R, of TABLE, as an expression for --where. */
static void add_expression(struct osc_strbuf *out, const struct osc_gate_part *part,
                           enum osc_gate_table table, const struct osc_result *r)
{
    const struct osc_change_columns at = columns_of(table, r);
    const bool has_steps = r->n_rows > 0 && osc_result_has(r, 0, at.mean_delta_ns);
    const struct osc_column *const c = r->def->columns;
    const char *const base = c[has_steps ? at.mean_base_ns : at.base_ns].name;
    const char *const new_ = c[has_steps ? at.mean_new_ns : at.new_ns].name;
    const char *const significant = c[at.significant].name;

    /* A number with a point overflows in no unit. */
    osc_strbuf_addf(out, "coalesce(%s, 0) - coalesce(%s, 0) > %s(%s%s)", new_, base,
                    part->unit ? part->unit : "ns", part->unit ? part->number : "0",
                    part->unit && !strchr(part->number, '.') ? ".0" : "");
    if (!part->unit && part->table != OSC_GATE_TABLES)
        osc_strbuf_addf(out, " and (%s - coalesce(%s, 0)) * 100 > %s * coalesce(%s, 0)", new_,
                        base, part->number, base);
    if (part->wants_significant)
        osc_strbuf_addf(out, " and %s", significant);
    if (part->wants_not_significant)
        osc_strbuf_addf(out, " and not coalesce(%s, 0)", significant);
}

/* Set *KEEP, which the caller frees, for the rows of R, of TABLE, that PART asks for. */
static osc_status find_rows(const struct osc_gate_part *part, enum osc_gate_table table,
                            const struct osc_result *r, bool **keep, struct osc_err *err)
{
    const struct osc_rows rows = {r, NULL, r->n_rows, OSC_NO_RANK, OSC_NO_RANK};
    struct osc_strbuf text = {0};
    struct osc_where *where = NULL;

    osc_free(*keep);
    *keep = osc_calloc(r->n_rows + 1, sizeof **keep);
    add_expression(&text, part, table, r);
    osc_status st = *keep ? text.status : OSC_ENOMEM;
    if (st != OSC_OK)
        (void)osc_fail(err, st, "out of memory");
    else
        st = osc_where_open(&where, r->def, text.s, NULL, err);
    if (st == OSC_OK)
        st = osc_where_keep(where, &rows, *keep, err);
    osc_where_close(where);
    osc_strbuf_fini(&text);
    return st;
}

/* Find out whether PART, a comparison, holds. */
static osc_status compare(struct osc_gate *g, struct osc_gate_part *part,
                          const struct osc_result *r, struct osc_err *err)
{
    bool *keep = NULL;
    osc_status st = find_row(g, part, r, err);

    if (st == OSC_OK && part->has_row)
        st = find_rows(part, part->table, r, &keep, err);
    part->holds = st == OSC_OK && part->has_row && keep[part->row];
    osc_free(keep);
    return st;
}

/* Find out whether anything grew as PART, `significant`, asks. Parts that want the same
 * find the same: the first one sets *GREW, which is -1 before. */
static osc_status find_grown(struct osc_gate *g, struct osc_gate_part *part,
                             const struct osc_result *const *tables, int *grew,
                             struct osc_err *err)
{
    osc_status st = OSC_OK;

    part->holds = *grew > 0 && !part->is_beside;
    if (*grew >= 0 || part->is_beside)
        return OSC_OK;
    for (int t = 0; t < OSC_GATE_TABLES && st == OSC_OK; t++) {
        st = find_rows(part, (enum osc_gate_table)t, tables[t], &g->grown[t], err);
        part->holds |= st == OSC_OK && memchr(g->grown[t], true, tables[t]->n_rows);
    }
    *grew = part->holds;
    return st;
}

/* What is known of a level of brackets. */
struct sum {
    bool any;    /* a chain before holds */
    bool all;    /* all of this chain hold */
    bool is_not; /* the next operand is negated */
};

static void add_operand(struct sum *s, bool holds)
{
    s->all = s->all && holds != s->is_not;
    s->is_not = false;
}

/* Whether the form of G holds; LEVELS has room for all of its brackets. */
static bool holds(const struct osc_gate *g, struct sum *levels)
{
    const struct osc_gate_part *part = g->parts;
    struct sum *s = levels;

    *s = (struct sum){.all = true};
    for (size_t i = 0; i < g->form.len; i++) {
        switch (g->form.s[i]) {
        case '(':
            *++s = (struct sum){.all = true};
            break;
        case ')':
            s--;
            add_operand(s, s[1].any || s[1].all);
            break;
        case '!':
            s->is_not = !s->is_not;
            break;
        case '|':
            s->any |= s->all;
            s->all = true;
            break;
        default:
            add_operand(s, part->is_beside ? !part->is_not : part->holds);
            part++;
        }
    }
    return s->any || s->all;
}

osc_status osc_gate_evaluate(struct osc_gate *g, const struct osc_result *const *tables,
                             struct osc_err *err)
{
    struct sum *const levels = osc_calloc(g->form.len + 1, sizeof *levels);
    bool names_growth = false; /* what holds by `not` alone is no growth */
    int grew[2][2] = {{-1, -1}, {-1, -1}};
    osc_status st = levels ? OSC_OK : osc_fail(err, OSC_ENOMEM, "out of memory");

    for (size_t i = 0; i < g->n && st == OSC_OK; i++) {
        struct osc_gate_part *const part = &g->parts[i];

        int *const known = &grew[part->wants_significant][part->wants_not_significant];

        st = part->table == OSC_GATE_TABLES ? find_grown(g, part, tables, known, err)
                                            : compare(g, part, tables[part->table], err);
        names_growth |= part->holds && !part->is_negated;
    }
    g->is_broken = st == OSC_OK && names_growth && holds(g, levels);
    osc_free(levels);
    return st;
}

typedef void tell_row(void *ctx, enum osc_gate_table table, uint64_t row, struct osc_str text);

/* Pass up to MOST of the rows of R that GROWN has to TELL, the largest change first; returns
 * how many. Without memory they stand in the order of R. */
static uint64_t tell_grown(enum osc_gate_table table, const struct osc_result *r,
                           const bool *grown, uint64_t most, tell_row *tell, void *ctx)
{
    const struct osc_sort_key key = {.column = columns_of(table, r).order, .divisor = -1};
    uint32_t *order = NULL;
    uint64_t n = 0;

    if (osc_sort_rows(r, &key, &order) != OSC_OK)
        order = NULL;
    for (uint64_t i = 0; i < r->n_rows && n < most; i++) {
        const uint64_t row = order ? order[i] : i;

        if (!grown[row])
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
        const struct osc_gate_part *const part = &g->parts[i];

        if (!part->holds || part->is_negated)
            continue;
        if (part->table == OSC_GATE_TABLES) {
            is_any = true;
            continue;
        }
        tell(ctx, part->table, part->row, part->text);
        n++;
    }
    for (int t = 0; t < OSC_GATE_TABLES && is_any && n < most; t++)
        n += tell_grown((enum osc_gate_table)t, tables[t], g->grown[t], most - n, tell, ctx);
}

bool osc_gate_knows_significance(const struct osc_result *const *tables)
{
    const struct osc_result *const steps = tables[OSC_GATE_STEPS];

    return steps->n_rows > 0 && osc_result_has(steps, 0, osc_diff_steps_columns()->significant);
}
