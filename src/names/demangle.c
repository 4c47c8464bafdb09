/* SPDX-License-Identifier: Apache-2.0 */
#include "names/demangle.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "names/mangled.h"

/* --- names -----------------------------------------------------------------------------------
 */

/* What can be the name of a function, and how many expressions it takes where it is in one. */
static const struct op {
    char code[3];
    unsigned char n_operands;
    const char *name; /* NULL: only in expressions */
} ops[] = {
    {"cl", 0, "()"},        {"nw", 0, " new"},      {"na", 0, " new[]"}, {"ps", 1, "+"},
    {"ng", 1, "-"},         {"ad", 1, "&"},         {"de", 1, "*"},      {"co", 1, "~"},
    {"nt", 1, "!"},         {"pp", 1, "++"},        {"mm", 1, "--"},     {"dl", 1, " delete"},
    {"da", 1, " delete[]"}, {"aw", 1, " co_await"}, {"sz", 1, NULL},     {"az", 1, NULL},
    {"nx", 1, NULL},        {"te", 1, NULL},        {"sp", 1, NULL},     {"tw", 1, NULL},
    {"sZ", 1, NULL},        {"pl", 2, "+"},         {"mi", 2, "-"},      {"ml", 2, "*"},
    {"dv", 2, "/"},         {"rm", 2, "%"},         {"an", 2, "&"},      {"or", 2, "|"},
    {"eo", 2, "^"},         {"aS", 2, "="},         {"pL", 2, "+="},     {"mI", 2, "-="},
    {"mL", 2, "*="},        {"dV", 2, "/="},        {"rM", 2, "%="},     {"aN", 2, "&="},
    {"oR", 2, "|="},        {"eO", 2, "^="},        {"ls", 2, "<<"},     {"rs", 2, ">>"},
    {"lS", 2, "<<="},       {"rS", 2, ">>="},       {"eq", 2, "=="},     {"ne", 2, "!="},
    {"lt", 2, "<"},         {"gt", 2, ">"},         {"le", 2, "<="},     {"ge", 2, ">="},
    {"ss", 2, "<=>"},       {"aa", 2, "&&"},        {"oo", 2, "||"},     {"cm", 2, ","},
    {"pm", 2, "->*"},       {"pt", 2, "->"},        {"ix", 2, "[]"},     {"dt", 2, NULL},
    {"ds", 2, NULL},        {"dx", 2, NULL},        {"dX", 3, NULL},     {"qu", 3, "?"}};

/* Skip the letters of an operator. NULL: it is none. */
static const struct op *skip_op(struct mangled *m)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (skip_pair(m, ops[i].code))
            return &ops[i];
    }
    return NULL;
}

static struct osc_str read_operator(struct mangled *m)
{
    const struct op *op;

    if (skip_pair(m, "cv"))
        return join(m, OSC_STR("operator "), "", m->read_type(m));
    if (skip_pair(m, "li"))
        return join(m, OSC_STR("operator\"\" "), "", read_word(m));
    if (peek(m, 0) == 'v' && is_digit(peek(m, 1))) { /* of a vendor */
        m->i += 2;
        return join(m, OSC_STR("operator "), "", read_word(m));
    }
    op = skip_op(m);
    return op && op->name ? join(m, OSC_STR("operator"), op->name, OSC_STR("")) : failure;
}

/* Move what OUT holds to the texts of M. */
static struct osc_str keep(struct mangled *m, struct osc_strbuf *out)
{
    const struct osc_str made = {out->s ? out->s : "", (uint32_t)out->len};
    const struct osc_str text =
        out->status == OSC_OK ? join(m, made, "", OSC_STR("")) : failure;

    osc_strbuf_fini(out);
    return text;
}

/* Read types up to E, between commas. */
static struct osc_str read_types(struct mangled *m)
{
    struct osc_strbuf out = {0};
    bool is_fine = true;

    if (peek(m, 0) == 'v' && peek(m, 1) != '\0' && strchr("ERO", peek(m, 1)))
        m->i++;
    while (is_fine && !skip_pair(m, "RE") && !skip_pair(m, "OE") && !skip_char(m, 'E')) {
        const struct osc_str type = m->read_type(m);

        osc_strbuf_adds(&out, out.len > 0 ? ", " : "");
        osc_strbuf_addstr(&out, type);
        is_fine = type.s && out.len < BYTES_MAX;
    }
    const struct osc_str all = keep(m, &out);
    return is_fine ? all : failure;
}

/* Skip the template parameters that a lambda declares: types, values, packs. */
static bool skip_declared(struct mangled *m)
{
    for (;;) {
        if (skip_pair(m, "Tn") || skip_pair(m, "Tk")) {
            if (!m->read_type(m).s)
                return false;
        } else if (!skip_pair(m, "Ty") && !skip_pair(m, "Tp")) {
            return true;
        }
    }
}

/* Read a lambda or a type without a name, behind "U". */
static struct osc_str read_nameless(struct mangled *m)
{
    const bool is_lambda = skip_char(m, 'l');
    struct osc_str name = OSC_STR("{unnamed type");
    char number[24];
    uint32_t n;

    if (is_lambda && skip_declared(m))
        name = join(m, OSC_STR("{lambda("), "", read_types(m));
    else if (!skip_char(m, 't'))
        return failure;
    if (!read_index(m, 10, &n))
        return failure;
    snprintf(number, sizeof number, "%s#%u}", is_lambda ? ")" : "", n + 1);
    return append(m, name, number);
}

/* Skip the tags of the ABI behind NAME. */
static struct osc_str read_tags(struct mangled *m, struct osc_str name)
{
    while (name.s && skip_char(m, 'B')) {
        if (!read_word(m).s)
            return failure;
    }
    return name;
}

static struct osc_str read_unqualified(struct mangled *m)
{
    struct osc_str name;

    skip_char(m, 'L'); /* static */
    if (is_digit(peek(m, 0)))
        name = read_word(m);
    else
        name = skip_char(m, 'U') ? read_nameless(m) : read_operator(m);
    return read_tags(m, name);
}

/* The last part of NAME without its arguments: b of a::b<c::d>. */
static struct osc_str last_part(struct osc_str name)
{
    uint32_t from = 0, to = name.len, depth = 0;

    for (uint32_t i = 0; i < name.len; i++) {
        const char c = name.s[i];

        if (depth == 0 && c == '<')
            to = i;
        depth += c == '<' || c == '(' || c == '{';
        depth -= depth > 0 && (c == '>' || c == ')' || c == '}');
        if (depth == 0 && c == ':') {
            from = i + 1;
            to = name.len;
        }
    }
    return (struct osc_str){name.s + from, to - from};
}

/* Read a constructor (C) or destructor (D) of the class CLASS. */
static struct osc_str read_special(struct mangled *m, struct osc_str class)
{
    const bool is_destructor = peek(m, 0) == 'D', is_inherited = peek(m, 1) == 'I';

    m->i += is_inherited ? 3 : 2;
    if (is_inherited && !m->read_type(m).s)
        return failure;
    if (class.len == 0)
        return failure;
    return read_tags(m, join(m, class, is_destructor ? "::~" : "::", last_part(class)));
}

/* --- template arguments
 * ------------------------------------------------------------------------ */

/* Read what follows "L": a value with its type, or a name. */
static struct osc_str read_literal(struct mangled *m)
{
    static const char types[] = "bijlmxy";
    static const char *const suffixes[] = {"", "", "u", "l", "ul", "ll", "ull"};

    if (peek(m, 0) == '_' && peek(m, 1) == 'Z') {
        m->i += 2;
        const struct osc_str name = m->read_encoding(m);
        return skip_char(m, 'E') ? name : failure;
    }
    const char *const known = peek(m, 0) ? strchr(types, peek(m, 0)) : NULL;
    struct osc_str text = OSC_STR("");
    if (known)
        m->i++;
    else
        text = join(m, OSC_STR("("), "", append(m, m->read_type(m), ")"));
    const bool is_negative = skip_char(m, 'n');
    const uint32_t from = m->i;
    while (peek(m, 0) != 'E' && peek(m, 0) != '\0')
        m->i++;
    const struct osc_str value = {m->s.s + from, m->i - from};
    if (!skip_char(m, 'E'))
        return failure;
    if (known == types && value.len == 1)
        return value.s[0] == '0' ? OSC_STR("false") : OSC_STR("true");
    text = join(m, text, is_negative ? "-" : "", value);
    return append(m, text, known ? suffixes[known - types] : "");
}

/* Read an argument. */
static struct osc_str read_argument(struct mangled *m)
{
    if (!skip_declared(m)) /* the parameter goes before */
        return failure;
    if (skip_char(m, 'L'))
        return read_literal(m);
    if (skip_char(m, 'X')) {
        const struct osc_str text = m->read_expression(m);

        return skip_char(m, 'E') ? text : failure;
    }
    return m->read_type(m);
}

/* Read the arguments behind "I", and "E"; TEMPLATE with them. Those of a pack, from J (once I)
 * to E, are some of them. */
static struct osc_str read_arguments(struct mangled *m, struct osc_str template)
{
    struct osc_strbuf out = {0};
    unsigned n_packs = 0;
    bool is_fine = template.s != NULL, is_first = true;

    osc_strbuf_addstr(&out, template);
    osc_strbuf_addc(&out, '<');
    while (is_fine && (peek(m, 0) != 'E' || n_packs > 0)) {
        if (skip_char(m, 'J') || skip_char(m, 'I')) {
            n_packs++;
        } else if (skip_char(m, 'Q')) { /* what they must fulfil */
            is_fine = m->read_expression(m).s != NULL;
        } else if (skip_char(m, 'E')) {
            n_packs--;
        } else {
            const struct osc_str argument = read_argument(m);

            osc_strbuf_adds(&out, is_first ? "" : ", ");
            osc_strbuf_addstr(&out, argument);
            is_fine = argument.s && out.len < BYTES_MAX;
            is_first = false;
        }
    }
    osc_strbuf_addc(&out, '>');
    is_fine = is_fine && skip_char(m, 'E');
    const struct osc_str all = keep(m, &out);
    return is_fine ? all : failure;
}

/* --- whole names
 * ------------------------------------------------------------------------------- */

/* Read S_, S0_ or Sa and so on, behind "S". */
static struct osc_str read_substitution(struct mangled *m)
{
    static const char *const known[] = {"aallocator", "bbasic_string", "sstring",
                                        "iistream",   "oostream",      "diostream"};
    uint32_t n;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (skip_char(m, known[i][0]))
            return join(m, OSC_STR("std::"), "", osc_str_c(known[i] + 1));
    }
    return read_index(m, 36, &n) && n < m->n_parts ? m->parts[n] : failure;
}

/* Read a template parameter, behind "T". */
static struct osc_str read_parameter(struct mangled *m)
{
    uint32_t n;

    if (skip_char(m, 'L') && !read_index(m, 10, &n)) /* of which of several lists */
        return failure;
    return read_index(m, 10, &n) ? OSC_STR("T") : failure;
}

static bool is_special(const struct mangled *m)
{
    const char c = peek(m, 0), next = peek(m, 1);

    return (c == 'C' && ((next >= '1' && next <= '5') || next == 'I')) ||
           (c == 'D' && next >= '0' && next <= '5');
}

/* Read what follows "N", up to E. S_ can refer to each part but the last, the name itself. */
static struct osc_str read_nested(struct mangled *m)
{
    struct osc_str name = OSC_STR("");
    bool is_part = false;

    while (strchr("rVKRO", peek(m, 0)) && peek(m, 0) != '\0')
        m->i++; /* of a member function */
    while (name.s && !skip_char(m, 'E')) {
        is_part = true;
        if (peek(m, 0) == 'S' && peek(m, 1) == 't') {
            m->i += 2;
            name = OSC_STR("std");
            is_part = false;
        } else if (skip_char(m, 'S')) {
            name = read_substitution(m);
            is_part = false;
        } else if (skip_char(m, 'T')) {
            name = add_part(m, read_parameter(m));
        } else if (skip_char(m, 'I')) {
            name = add_part(m, read_arguments(m, name));
        } else if (peek(m, 0) == 'D' && (peek(m, 1) == 't' || peek(m, 1) == 'T')) {
            name = m->read_type(m);
        } else if (is_special(m)) {
            name = add_part(m, read_special(m, name));
        } else if (!skip_char(m, 'M')) { /* M: within what initializes the member */
            name = add_part(m, join(m, name, name.len > 0 ? "::" : "", read_unqualified(m)));
        }
    }
    m->n_parts -= name.s && is_part;
    return name.len > 0 ? name : failure;
}

/* Read what follows "Z": a function, E, and what is in it. */
static struct osc_str read_local(struct mangled *m)
{
    const struct osc_str function = m->read_encoding(m);
    uint32_t n;

    if (!skip_char(m, 'E'))
        return failure;
    if (skip_char(m, 's')) /* a string literal */
        return append(m, function, "::string literal");
    if (skip_char(m, 'd') && !read_index(m, 10, &n)) /* in the default of a parameter */
        return failure;
    const struct osc_str name = skip_char(m, 'N') ? read_nested(m) : read_unqualified(m);
    if (skip_char(m, '_')) { /* which of several */
        const bool is_long = skip_char(m, '_');

        skip_digits(m);
        if (is_long && !skip_char(m, '_'))
            return failure;
    }
    return join(m, function, "::", name);
}

/* Read a name with its arguments. */
static struct osc_str read_name(struct mangled *m)
{
    struct osc_str name;
    bool is_part = false; /* of what S_ refers to */

    if (skip_char(m, 'N'))
        return read_nested(m);
    if (skip_char(m, 'Z')) {
        name = read_local(m);
    } else if (peek(m, 0) == 'S' && peek(m, 1) == 't') {
        m->i += 2;
        name = join(m, OSC_STR("std::"), "", read_unqualified(m));
    } else if (skip_char(m, 'S')) {
        name = read_substitution(m);
        is_part = true;
    } else {
        name = read_unqualified(m);
    }
    if (!name.s || !skip_char(m, 'I'))
        return name;
    if (!is_part && !add_part(m, name).s)
        return failure;
    return read_arguments(m, name);
}

/* --- expressions -----------------------------------------------------------------------------
 */

/* What stands for an expression that is more than a value or the address of something. */
static const struct osc_str elided = {"...", 3};

/* Read expressions up to END. */
static bool skip_expressions(struct mangled *m, char end)
{
    while (!skip_char(m, end)) {
        if (!m->read_expression(m).s)
            return false;
    }
    return true;
}

/* Skip a name that is looked up only when its template is used, without what it is in. */
static bool skip_simple(struct mangled *m)
{
    struct osc_str name;

    if (skip_pair(m, "on"))
        name = read_operator(m);
    else if (skip_pair(m, "dn") && !is_digit(peek(m, 0)))
        name = m->read_type(m);
    else
        name = read_word(m);
    if (name.s && skip_char(m, 'I'))
        name = read_arguments(m, name);
    return name.s != NULL;
}

/* Skip such a name, behind sr: what it is in, names up to E or a type, and itself. */
static bool skip_scoped(struct mangled *m)
{
    bool is_fine = true;

    if (is_digit(peek(m, 0))) {
        while (is_fine && !skip_char(m, 'E'))
            is_fine = skip_simple(m);
    } else {
        is_fine = m->read_type(m).s != NULL;
    }
    return is_fine && skip_simple(m);
}

/* Skip a parameter of the function, behind f: p_, p0_, pK_, L1p_, or pT, which is this. */
static bool skip_function_parameter(struct mangled *m)
{
    uint32_t n;

    if (skip_char(m, 'L'))
        skip_digits(m);
    if (!skip_char(m, 'p'))
        return false;
    if (skip_char(m, 'T'))
        return true;
    skip_char(m, 'r');
    skip_char(m, 'V');
    skip_char(m, 'K');
    return read_index(m, 10, &n);
}

/* Skip what follows nw or na: where to, _, a type, and what initializes it. */
static bool skip_new(struct mangled *m)
{
    if (!skip_expressions(m, '_') || !m->read_type(m).s)
        return false;
    if (skip_pair(m, "pi") || skip_pair(m, "il"))
        return skip_expressions(m, 'E');
    return skip_char(m, 'E');
}

/* Skip what follows cv: a type, and one expression, or several between _ and E. */
static bool skip_conversion(struct mangled *m)
{
    if (!m->read_type(m).s)
        return false;
    return skip_char(m, '_') ? skip_expressions(m, 'E') : m->read_expression(m).s != NULL;
}

/* Skip what follows sP, or u and a word: arguments up to E. */
static bool skip_arguments(struct mangled *m)
{
    return read_arguments(m, OSC_STR("")).s != NULL;
}

/* Skip an expression that begins with letters of its own. *IS_FINE: it could be read. */
static bool skip_own(struct mangled *m, bool *is_fine)
{
    if (is_digit(peek(m, 0)) || (peek(m, 0) == 'o' && peek(m, 1) == 'n') ||
        (peek(m, 0) == 'd' && peek(m, 1) == 'n'))
        *is_fine = skip_simple(m);
    else if (skip_pair(m, "sr"))
        *is_fine = skip_scoped(m);
    else if (skip_pair(m, "cl") || skip_pair(m, "il"))
        *is_fine = skip_expressions(m, 'E');
    else if (skip_pair(m, "nw") || skip_pair(m, "na"))
        *is_fine = skip_new(m);
    else if (skip_pair(m, "cv"))
        *is_fine = skip_conversion(m);
    else if (skip_pair(m, "tl"))
        *is_fine = m->read_type(m).s && skip_expressions(m, 'E');
    else if (skip_pair(m, "st") || skip_pair(m, "ti") || skip_pair(m, "at"))
        *is_fine = m->read_type(m).s != NULL;
    else if (skip_pair(m, "dc") || skip_pair(m, "sc") || skip_pair(m, "cc") ||
             skip_pair(m, "rc"))
        *is_fine = m->read_type(m).s && m->read_expression(m).s;
    else if (skip_pair(m, "di"))
        *is_fine = read_word(m).s && m->read_expression(m).s;
    else if (skip_pair(m, "sP"))
        *is_fine = skip_arguments(m);
    else if (skip_char(m, 'u'))
        *is_fine = read_word(m).s && skip_arguments(m);
    else
        return skip_pair(m, "tr"); /* throw; */
    return true;
}

/* Skip what follows f: a parameter of the function, or an operator over a pack. */
static bool skip_f(struct mangled *m)
{
    const char c = peek(m, 0);
    const bool is_fold =
        c == 'l' || c == 'r' || c == 'R' || (c == 'L' && !is_digit(peek(m, 1)));

    if (!is_fold)
        return skip_function_parameter(m);
    m->i++;
    return skip_op(m) && m->read_expression(m).s &&
           (c == 'l' || c == 'r' || m->read_expression(m).s);
}

/* Read an expression, at a depth that is allowed. */
static struct osc_str read_expression_within(struct mangled *m)
{
    bool is_fine = true;

    skip_pair(m, "gs");
    if (skip_char(m, 'L'))
        return read_literal(m);
    if (skip_char(m, 'T'))
        return read_parameter(m);
    if (skip_pair(m, "ad"))
        return join(m, OSC_STR("&"), "", m->read_expression(m));
    if (skip_char(m, 'f'))
        return skip_f(m) ? elided : failure;
    if (skip_own(m, &is_fine))
        return is_fine ? elided : failure;

    const struct op *const op = skip_op(m);
    if (!op)
        return failure;
    if (op->code[0] == 'p' || op->code[0] == 'm')
        skip_char(m, '_'); /* pp_ and mm_ go before */
    for (unsigned i = 0; is_fine && i < op->n_operands; i++)
        is_fine = m->read_expression(m).s != NULL;
    return is_fine ? elided : failure;
}

static struct osc_str read_expression(struct mangled *m)
{
    if (m->depth == DEPTH_MAX)
        return failure;
    m->depth++;
    const struct osc_str text = read_expression_within(m);
    m->depth--;
    return text;
}

/* --- types -----------------------------------------------------------------------------------
 */

static struct osc_str read_builtin(struct mangled *m)
{
    static const char *const types[] = {
        "vvoid",           "wwchar_t",       "bbool",
        "cchar",           "asigned char",   "hunsigned char",
        "sshort",          "iint",           "llong",
        "tunsigned short", "junsigned int",  "xlong long",
        "ffloat",          "munsigned long", "yunsigned long long",
        "n__int128",       "o__uint128_t",   "ddouble",
        "elong double",    "g__float128",    "z..."};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (skip_char(m, types[i][0]))
            return osc_str_c(types[i] + 1);
    }
    return failure;
}

/* Read a vector behind Dv: how many (a number, or _ and an expression), _, and of what. */
static struct osc_str read_vector(struct mangled *m)
{
    const uint32_t from = m->i;
    struct osc_str n;

    skip_digits(m);
    n = (struct osc_str){m->s.s + from, m->i - from};
    if (n.len == 0)
        n = skip_char(m, '_') ? m->read_expression(m) : failure;
    if (!skip_char(m, '_'))
        return failure;
    return add_part(m, append(m, join(m, m->read_type(m), " __vector(", n), ")"));
}

/* Read a type that begins with D, behind it. */
static struct osc_str read_d(struct mangled *m)
{
    static const char *const types[] = {
        "ndecltype(nullptr)", "ichar32_t", "schar16_t",   "uchar8_t",     "aauto",
        "cdecltype(auto)",    "hhalf",     "d_Decimal64", "e_Decimal128", "f_Decimal32"};
    char bits[24];
    unsigned n = 0;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (skip_char(m, types[i][0]))
            return osc_str_c(types[i] + 1);
    }
    if (skip_char(m, 'p'))
        return add_part(m, append(m, m->read_type(m), "..."));
    if (skip_char(m, 't') || skip_char(m, 'T'))
        return skip_expressions(m, 'E') ? add_part(m, OSC_STR("decltype(...)")) : failure;
    if (skip_char(m, 'v'))
        return read_vector(m);
    if (skip_char(m, 'o')) /* a function that throws nothing, nothing if so, or these */
        return m->read_type(m);
    if (skip_char(m, 'O'))
        return skip_expressions(m, 'E') ? m->read_type(m) : failure;
    if (skip_char(m, 'w'))
        return read_types(m).s ? m->read_type(m) : failure;
    if (!skip_char(m, 'F'))
        return failure;
    for (; is_digit(peek(m, 0)) && n < 10000; m->i++)
        n = n * 10 + (unsigned)(peek(m, 0) - '0');
    if (skip_char(m, 'b'))
        return OSC_STR("__bf16");
    snprintf(bits, sizeof bits, "_Float%u", n);
    if (skip_char(m, 'x'))
        return join(m, osc_str_c(bits), "x", OSC_STR(""));
    return skip_char(m, '_') ? join(m, osc_str_c(bits), "", OSC_STR("")) : failure;
}

/* Read a type that is made of others, behind its letter C. */
static struct osc_str read_compound(struct mangled *m, char c)
{
    static const char letters[] = "PROCG";
    static const char *const ends[] = {"*", "&", "&&", " _Complex", " _Imaginary"};
    struct osc_str type;
    uint32_t from;

    if (strchr(letters, c))
        return append(m, m->read_type(m), ends[strchr(letters, c) - letters]);
    switch (c) {
    case 'F':
        skip_char(m, 'Y');
        type = append(m, m->read_type(m), " (");
        return append(m, join(m, type, "", read_types(m)), ")");
    case 'A':
        from = m->i;
        skip_digits(m);
        type = (struct osc_str){m->s.s + from, m->i - from};
        if (type.len == 0 && peek(m, 0) != '_')
            type = m->read_expression(m);
        if (!skip_char(m, '_'))
            return failure;
        return append(m, join(m, m->read_type(m), " [", type), "]");
    default: /* M: a member of a class */
        type = append(m, m->read_type(m), "::*");
        return join(m, m->read_type(m), " ", type);
    }
}

/* Read a type with one or more of const, volatile and restrict: S_ refers to all of it, and to
 * the type without them, unless that is a function. */
static struct osc_str read_qualified(struct mangled *m)
{
    const bool is_restrict = skip_char(m, 'r'), is_volatile = skip_char(m, 'V');
    const bool is_const = skip_char(m, 'K');
    struct osc_str type = skip_char(m, 'F') ? read_compound(m, 'F') : m->read_type(m);

    type = append(m, type, is_const ? " const" : "");
    type = append(m, type, is_volatile ? " volatile" : "");
    return add_part(m, append(m, type, is_restrict ? " restrict" : ""));
}

/* Read a type behind U: a word with which a vendor qualifies it (memory of a device), the type.
 */
static struct osc_str read_extended(struct mangled *m)
{
    struct osc_str word = skip_char(m, 'U') ? read_word(m) : failure;

    if (skip_char(m, 'I'))
        word = read_arguments(m, word);
    return add_part(m, join(m, m->read_type(m), " ", word));
}

/* Read a type behind u: a vendor's, with arguments or without. */
static struct osc_str read_vendor(struct mangled *m)
{
    const struct osc_str word = read_word(m);

    return add_part(m, skip_char(m, 'I') ? read_arguments(m, word) : word);
}

/* Read a type, at a depth that is allowed. */
static struct osc_str read_type_within(struct mangled *m)
{
    const char c = peek(m, 0);

    if (c != '\0' && strchr("PROCGFAM", c)) {
        m->i++;
        return add_part(m, read_compound(m, c));
    }
    if (c == 'K' || c == 'V' || c == 'r')
        return read_qualified(m);
    if (skip_char(m, 'D'))
        return read_d(m);
    if (skip_char(m, 'u'))
        return read_vendor(m);
    if (c == 'U' && is_digit(peek(m, 1)))
        return read_extended(m);
    if (skip_pair(m, "Ts") || skip_pair(m, "Tu") || skip_pair(m, "Te"))
        return add_part(m, read_name(m)); /* struct, union, enum */
    if (skip_char(m, 'T')) {
        const struct osc_str parameter = add_part(m, read_parameter(m));

        return skip_char(m, 'I') ? add_part(m, read_arguments(m, parameter)) : parameter;
    }
    if (c == 'S' && peek(m, 1) != 't') {
        const struct osc_str name = (m->i++, read_substitution(m));

        return skip_char(m, 'I') ? add_part(m, read_arguments(m, name)) : name;
    }
    if (!is_digit(c) && (c == '\0' || !strchr("NZSU", c)))
        return read_builtin(m);
    return add_part(m, read_name(m));
}

static struct osc_str read_type(struct mangled *m)
{
    if (m->depth == DEPTH_MAX)
        return failure;
    m->depth++;
    const struct osc_str type = read_type_within(m);
    m->depth--;
    return type;
}

/* Read a function or an object: its name. Result type and parameters are skipped up to an E. */
static struct osc_str read_encoding(struct mangled *m)
{
    if (m->depth == DEPTH_MAX)
        return failure;
    m->depth++;
    struct osc_str name = read_name(m);
    while (name.s && peek(m, 0) != 'E' && peek(m, 0) != '\0' && peek(m, 0) != '.') {
        if (!(skip_char(m, 'Q') ? read_expression(m) : read_type(m)).s)
            name = failure;
    }
    m->depth--;
    return name;
}

/* Whether the rest can be the result type and the parameters, which are not shown: they may
 * have expressions, as std::enable_if has. */
static bool is_signature(const struct mangled *m)
{
    static const char first[] = "abcdefghijlmnostvwxyzADFKMNOPRSTUVrGZu";

    if (m->i == m->s.len || peek(m, 0) == '.')
        return true;
    if (!strchr(first, peek(m, 0)) && !is_digit(peek(m, 0)))
        return false;
    for (uint32_t i = m->i; i < m->s.len; i++) {
        const char c = m->s.s[i];

        if (!is_digit(c) && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' &&
            c != '.' && c != '$')
            return false;
    }
    return true;
}

bool osc_demangle(struct osc_strbuf *out, struct osc_str symbol)
{
    struct mangled m = {.s = symbol,
                        .i = 2,
                        .read_type = read_type,
                        .read_encoding = read_encoding,
                        .read_expression = read_expression};

    if (!osc_str_starts(symbol, OSC_STR("_Z")))
        return false;
    const struct osc_str name = read_name(&m);
    const bool is_whole = name.s && is_signature(&m);
    if (is_whole)
        osc_utf8_append_terminal(out, name);
    osc_arena_fini(&m.arena);
    return is_whole;
}
