/* SPDX-License-Identifier: Apache-2.0 */
#include "names/symbol.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "names/demangle.h"

/* --- brackets ------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c == '~' || c == '\'' || (c & 0x80) != 0;
}

/* Length of "operator" and its symbol at AT of S, such as operator-> or operator(); 0: none. */
static uint32_t operator_length(struct osc_str s, uint32_t at)
{
    static const char *const symbols[] = {
        "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<",  ">",
        "==", "!=", "&&",  "||", "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "^=", "&=",
        "|=", ",",  "=",   "+",  "-",   "*",   "/",   "%",  "^",  "&",  "|",  "~",  "!"};
    const struct osc_str rest = {s.s + at, s.len - at}, word = OSC_STR("operator");

    if (!osc_str_starts(rest, word) || (at > 0 && is_word(s.s[at - 1])))
        return 0;
    const struct osc_str after = {rest.s + word.len, rest.len - word.len};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        const struct osc_str symbol = osc_str_c(symbols[i]);

        if (osc_str_starts(after, symbol))
            return word.len + symbol.len;
    }
    return 0;
}

/* Brackets that are open; they are linked through match, by index + 1. */
struct scan {
    struct osc_symbol *y;
    uint32_t top;
};

static void open_bracket(struct scan *s, uint32_t i)
{
    s->y->match[i] = s->top;
    s->top = i + 1;
}

static uint32_t take_top(struct scan *s)
{
    const uint32_t i = s->top - 1;

    s->top = s->y->match[i];
    s->y->match[i] = 0;
    return i;
}

/* Close the bracket that C ends. A "<" within that did not end was no bracket. */
static bool close_bracket(struct scan *s, uint32_t i, char c)
{
    const char *const closing = ")]}", *const opening = "([{";
    const char *const text = s->y->text.s;

    while (s->top > 0 && text[s->top - 1] == '<')
        take_top(s);
    if (s->top == 0 || text[s->top - 1] != opening[strchr(closing, c) - closing])
        return false;
    s->y->match[take_top(s)] = i;
    return true;
}

/* Whether the "<" at I opens a list: a name stands before it. */
static bool is_list(struct osc_str text, uint32_t i, uint32_t end_of_operator)
{
    if (i == 0)
        return false;
    return is_word(text.s[i - 1]) || text.s[i - 1] == ']' ||
           (end_of_operator > 0 &&
            (i == end_of_operator || (text.s[i - 1] == ' ' && i - 1 == end_of_operator)));
}

static bool scan(struct scan *s)
{
    const struct osc_str text = s->y->text;
    uint32_t end_of_operator = 0;

    for (uint32_t i = 0; i < text.len; i++) {
        const char c = text.s[i];

        if (c == 'o' && operator_length(text, i) > 0) {
            end_of_operator = i + operator_length(text, i);
            i = end_of_operator - 1;
        } else if (c == '\'' && i + 2 < text.len && text.s[i + 2] == '\'') {
            i += 2; /* a character */
        } else if (c == '(' || c == '[' || c == '{' ||
                   (c == '<' && is_list(text, i, end_of_operator))) {
            open_bracket(s, i);
        } else if (c == ')' || c == ']' || c == '}') {
            if (!close_bracket(s, i, c))
                return false;
        } else if (c == '>' && s->top > 0 && text.s[s->top - 1] == '<' &&
                   text.s[i - 1] != '-') {
            s->y->match[take_top(s)] = i;
        }
    }
    while (s->top > 0 && text.s[s->top - 1] == '<')
        take_top(s);
    return s->top == 0;
}

bool osc_symbol_is_function(struct osc_str name)
{
    return osc_str_starts(name, OSC_STR("_Z")) ||
           (osc_str_starts(name, OSC_STR("void ")) && osc_str_has(name, OSC_STR("(")));
}

osc_status osc_symbol_scan(struct osc_symbol *y, struct osc_str text)
{
    struct scan s = {.y = y};

    *y = (struct osc_symbol){.text = text};
    if (text.len == 0 || text.len > OSC_SYMBOL_BYTES_MAX)
        return OSC_OK;
    y->match = osc_calloc(text.len, sizeof *y->match);
    if (!y->match)
        return OSC_ENOMEM;
    if (!scan(&s))
        osc_symbol_fini(y);
    y->text = text;
    return OSC_OK;
}

void osc_symbol_fini(struct osc_symbol *y)
{
    osc_free(y->match);
    *y = (struct osc_symbol){0};
}

/* --- parts -----------------------------------------------------------------------------------
 */

static bool has_at(const struct osc_symbol *y, uint32_t i, uint32_t end, const char *what)
{
    const size_t len = strlen(what);

    return end - i >= len && memcmp(y->text.s + i, what, len) == 0;
}

/* The index behind what is at I: a bracket with all in it, an operator, or a character. */
static uint32_t step(const struct osc_symbol *y, uint32_t i, uint32_t end)
{
    uint32_t next = i + 1;

    if (y->match[i] > 0)
        next = y->match[i] + 1;
    else if (y->text.s[i] == 'o' && operator_length(y->text, i) > 0)
        next = i + operator_length(y->text, i);
    return next < end ? next : end;
}

/* Length of " const" and the like at I, outside all brackets; 0: none. */
static uint32_t qualifier_length(const struct osc_symbol *y, uint32_t i, uint32_t end)
{
    static const char *const words[] = {" const", " volatile", " noexcept", " &&", " &"};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const uint32_t len = (uint32_t)strlen(words[k]);

        if (has_at(y, i, end, words[k]) && (i + len == end || !is_word(y->text.s[i + len])))
            return len;
    }
    return 0;
}

/* Whether nothing but qualifiers is between I and "::", which is at *SCOPE then. */
static bool leads_to_scope(const struct osc_symbol *y, uint32_t i, uint32_t end,
                           uint32_t *scope)
{
    uint32_t len;

    while (i < end && (len = qualifier_length(y, i, end)) > 0)
        i += len;
    *scope = i;
    return has_at(y, i, end, "::");
}

/* Whether what is from I to END may follow the parameters of a function. */
static bool is_suffix(const struct osc_symbol *y, uint32_t i, uint32_t end)
{
    uint32_t len;

    while (i < end && (len = qualifier_length(y, i, end)) > 0)
        i += len;
    return i == end || has_at(y, i, end, " [") || has_at(y, i, end, "[") ||
           has_at(y, i, end, " (.") || has_at(y, i, end, ".");
}

/* Whether the symbol of an operator ends before I. */
static bool ends_operator(const struct osc_symbol *y, uint32_t from, uint32_t i)
{
    uint32_t k = i;

    while (k > from && i - k < 3 && strchr("=<>+-*/%^&|~!,", y->text.s[k - 1]))
        k--;
    return k < i && k >= from + 8 && memcmp(y->text.s + k - 8, "operator", 8) == 0;
}

/* Whether the "(" at I of a part that begins at FROM opens parameters. */
static bool opens_parameters(const struct osc_symbol *y, uint32_t from, uint32_t i)
{
    if (i == from || y->text.s[i] != '(' || y->match[i] == 0)
        return false;
    const char before = y->text.s[i - 1];
    return (is_word(before) || before == '>' || before == ']' || before == ')' ||
            ends_operator(y, from, i));
}

/* Whether the blank at I belongs to a name: operator int, operator< <int>. */
static bool is_operator_blank(const struct osc_symbol *y, uint32_t i, uint32_t end)
{
    return (i >= 8 && memcmp(y->text.s + i - 8, "operator", 8) == 0) ||
           (i + 1 < end && y->text.s[i + 1] == '<' && y->match[i + 1] > 0);
}

/* Find the parameters of the function AT, and where its name begins. False: it is none. */
static bool find_function(const struct osc_symbol *y, struct osc_span at, uint32_t *begin,
                          uint32_t *given)
{
    uint32_t scope;

    *begin = at.from;
    *given = 0;
    for (uint32_t i = at.from; i < at.to; i = step(y, i, at.to)) {
        const char c = y->text.s[i];

        if (c == '(' && opens_parameters(y, *begin, i)) {
            *given = i;
        } else if (*given > 0 && has_at(y, i, at.to, "::")) {
            *given = 0; /* those of a function around this one */
        } else if (c == ' ' && *given > 0 && leads_to_scope(y, i, at.to, &scope)) {
            i = scope - 1;
        } else if (c == ' ' && *given > 0 && is_suffix(y, y->match[*given] + 1, at.to)) {
            return true;
        } else if (c == ' ' && !is_operator_blank(y, i, at.to)) {
            *begin = i + 1;
            *given = 0; /* of decltype(auto) */
        } else if (c == '=' || c == ',' || c == ';') {
            return false;
        }
    }
    return *given > 0 && is_suffix(y, y->match[*given] + 1, at.to);
}

/* Whether PART is a lambda, operator() or a type without a name. */
static bool is_nameless(const struct osc_symbol *y, const struct osc_symbol_part *part)
{
    const struct osc_str word = {y->text.s + part->word.from, part->word.to - part->word.from};

    return word.len == 0 || word.s[0] == '{' || word.s[0] == '\'' ||
           osc_str_eq(word, OSC_STR("operator()"));
}

/* Read the part that starts at I; returns where it ends. */
static uint32_t read_part(const struct osc_symbol *y, uint32_t i, uint32_t end,
                          bool is_function, struct osc_symbol_part *part)
{
    const uint32_t from = i;

    *part = (struct osc_symbol_part){.word = {from, from}};
    while (i < end && !has_at(y, i, end, "::")) {
        const char c = y->text.s[i];

        if (y->match[i] > 0 && (c == '<' || opens_parameters(y, from, i)))
            break;
        if (!is_function && (c == '*' || c == '&' || (c == ' ' && i > from)))
            break;
        i = step(y, i, end);
    }
    part->word.to = i;
    if (i < end && y->text.s[i] == ' ' && i + 1 < end && y->match[i + 1] > 0 &&
        y->text.s[i + 1] == '<')
        i++; /* operator< <int> */
    if (i < end && y->text.s[i] == '<' && y->match[i] > 0) {
        part->args = (struct osc_span){i + 1, y->match[i]};
        i = y->match[i] + 1;
    }
    if (i < end && has_at(y, i, end, "[abi:") && y->match[i] > 0)
        i = y->match[i] + 1;
    if (i < end && y->text.s[i] == '(' && y->match[i] > 0) {
        part->given = (struct osc_span){i + 1, y->match[i]};
        i = y->match[i] + 1;
    }
    return i;
}

/* Add PART. If there is no room, the first two become one. */
static void add_part(struct osc_symbol_name *name, const struct osc_symbol_part *part)
{
    if (name->n_parts == OSC_SYMBOL_PARTS_MAX) {
        name->parts[0] = (struct osc_symbol_part){
            .word = {name->parts[0].word.from, name->parts[2].word.from - 2}};
        name->n_parts--;
        memmove(&name->parts[1], &name->parts[2], (name->n_parts - 1) * sizeof *name->parts);
    }
    name->parts[name->n_parts++] = *part;
}

/* Whether the argument AT is a value, an expression or a type of functions. */
static bool is_no_name(const struct osc_symbol *y, struct osc_span at)
{
    return !is_word(y->text.s[at.from])
               ? y->text.s[at.from] != '{' && !has_at(y, at.from, at.to, "(anonymous")
               : has_at(y, at.from, at.to, "decltype") || has_at(y, at.from, at.to, "sizeof");
}

/* Whether a blank stands between I and END, outside all brackets. */
static bool has_blank(const struct osc_symbol *y, uint32_t i, uint32_t end)
{
    while (i < end && y->text.s[i] != ' ')
        i = step(y, i, end);
    return i < end;
}

/* Find where the name AT begins behind its result type. False: it is no name. */
static bool find_begin(const struct osc_symbol *y, struct osc_span at, bool is_function,
                       uint32_t *begin)
{
    uint32_t given;

    *begin = at.from;
    if (!is_function) {
        *begin += has_at(y, at.from, at.to, "const ") ? 6 : 0;
        return *begin < at.to && !is_no_name(y, (struct osc_span){*begin, at.to});
    }
    if (find_function(y, at, begin, &given))
        return true;
    *begin = at.from + (has_at(y, at.from, at.to, "void ") ? 5 : 0);
    return *begin < at.to && !has_blank(y, *begin, at.to);
}

bool osc_symbol_split(const struct osc_symbol *y, struct osc_span at, bool is_function,
                      struct osc_symbol_name *name)
{
    uint32_t i, scope;

    const uint32_t end = at.to;

    name->n_parts = name->main = 0;
    name->result = name->suffix = (struct osc_span){at.from, at.from};
    if (is_function && at.to - at.from > 3 && has_at(y, at.to - 3, at.to, ".kd"))
        at.to -= 3; /* AMD's name of a kernel */
    if (!y->match || at.from >= at.to || !find_begin(y, at, is_function, &i))
        return false;
    if (is_function && i > at.from)
        name->result.to = i - 1;
    for (;;) {
        struct osc_symbol_part part;

        i = read_part(y, i, at.to, is_function, &part);
        add_part(name, &part);
        if (!leads_to_scope(y, i, at.to, &scope))
            break;
        i = scope + 2;
    }
    name->suffix = (struct osc_span){i, end};
    name->main = name->n_parts - 1;
    while (name->main > 0 && is_nameless(y, &name->parts[name->main]))
        name->main--;
    if (is_nameless(y, &name->parts[name->main]))
        name->main = name->n_parts - 1;
    return !is_function || is_suffix(y, i, at.to);
}

bool osc_symbol_argument(const struct osc_symbol *y, uint32_t *at, uint32_t end,
                         struct osc_span *arg)
{
    uint32_t i = *at;

    if (i >= end)
        return false;
    while (i < end && y->text.s[i] != ',')
        i = step(y, i, end);
    *arg = (struct osc_span){*at, i};
    *at = i + 1;
    while (arg->from < arg->to && y->text.s[arg->from] == ' ')
        arg->from++;
    while (arg->to > arg->from && y->text.s[arg->to - 1] == ' ')
        arg->to--;
    return true;
}

/* --- folding ---------------------------------------------------------------------------------
 */

static void add_span(struct osc_strbuf *out, const struct osc_symbol *y, struct osc_span at)
{
    osc_strbuf_add(out, y->text.s + at.from, at.to - at.from);
}

void osc_symbol_write_part(struct osc_strbuf *out, const struct osc_symbol *y,
                           const struct osc_symbol_part *part)
{
    add_span(out, y, part->word);
    if (part->args.from > 0)
        osc_strbuf_adds(out, part->args.from < part->args.to ? "<...>" : "<>");
}

void osc_symbol_fold(struct osc_strbuf *out, struct osc_str symbol)
{
    struct osc_strbuf text = {0};
    struct osc_symbol y = {0};
    struct osc_symbol_name name;

    if (!osc_demangle(&text, symbol)) {
        osc_strbuf_clear(&text);
        osc_utf8_append_terminal(&text, symbol);
    }
    const struct osc_str all = {text.s ? text.s : "", (uint32_t)text.len};
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_symbol_scan(&y, all);
    if (st == OSC_OK && osc_symbol_split(&y, (struct osc_span){0, all.len}, true, &name)) {
        for (uint32_t i = 0; i < name.n_parts; i++) {
            osc_strbuf_adds(out, i > 0 ? "::" : "");
            osc_symbol_write_part(out, &y, &name.parts[i]);
        }
    } else {
        osc_strbuf_addstr(out, all);
    }
    if (st != OSC_OK)
        out->status = st;
    osc_symbol_fini(&y);
    osc_strbuf_fini(&text);
}
