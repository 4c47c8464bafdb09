/* SPDX-License-Identifier: Apache-2.0 */
#include "render/demangle.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

#define DEPTH_MAX 64         /* of names and types within each other */
#define PARTS_MAX 512        /* that S_ can refer to */
#define BYTES_MAX (4u << 20) /* of all texts that are made */

/* What is read, and what S_ refers to. A text without address stands for a failure. */
struct mangled {
    struct osc_str s;
    uint32_t i;
    unsigned depth;
    struct osc_arena arena; /* of the texts */
    struct osc_str parts[PARTS_MAX];
    uint32_t n_parts;
    /* read_type() and read_encoding(), which names need that are parts of them */
    struct osc_str (*read_type)(struct mangled *m);
    struct osc_str (*read_encoding)(struct mangled *m);
};

static const struct osc_str failure = {NULL, 0};

static char peek(const struct mangled *m, uint32_t ahead)
{
    if (m->i < m->s.len && m->s.len - m->i > ahead)
        return m->s.s[m->i + ahead];
    return '\0';
}

static bool skip_char(struct mangled *m, char c)
{
    if (peek(m, 0) != c)
        return false;
    m->i++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A then B then C, any of which may be empty. */
static struct osc_str join(struct mangled *m, struct osc_str a, const char *b, struct osc_str c)
{
    const size_t middle = strlen(b), len = (size_t)a.len + middle + c.len;

    if (!a.s || !c.s || m->arena.total_bytes + len > BYTES_MAX)
        return failure;
    char *const text = osc_arena_alloc(&m->arena, len + 1);
    if (!text)
        return failure;
    memcpy(text, a.s, a.len);
    memcpy(text + a.len, b, middle);
    memcpy(text + a.len + middle, c.s, c.len);
    text[len] = '\0';
    return (struct osc_str){text, (uint32_t)len};
}

static struct osc_str append(struct mangled *m, struct osc_str a, const char *b)
{
    return join(m, a, b, OSC_STR(""));
}

/* Let S_ refer to TEXT, too. */
static struct osc_str add_part(struct mangled *m, struct osc_str text)
{
    if (!text.s || m->n_parts == PARTS_MAX)
        return failure;
    m->parts[m->n_parts++] = text;
    return text;
}

/* Read a number and the "_" behind it: 0 for "_" alone, else one more. */
static bool read_index(struct mangled *m, uint32_t base, uint32_t *n)
{
    *n = 0;
    if (skip_char(m, '_'))
        return true;
    for (; peek(m, 0) != '_'; m->i++) {
        const char c = peek(m, 0);
        const uint32_t digit = is_digit(c) ? (uint32_t)(c - '0') : (uint32_t)(c - 'A') + 10;

        if (digit >= base || *n > 100000)
            return false;
        *n = *n * base + digit;
    }
    m->i++;
    ++*n;
    return true;
}

/* --- names -----------------------------------------------------------------------------------
 */

/* Read a length and that many bytes. */
static struct osc_str read_word(struct mangled *m)
{
    uint32_t n = 0;

    while (is_digit(peek(m, 0)) && n <= m->s.len)
        n = n * 10 + (uint32_t)(m->s.s[m->i++] - '0');
    if (n == 0 || n > m->s.len - m->i)
        return failure;
    const struct osc_str word = {m->s.s + m->i, n};
    m->i += n;
    return osc_str_starts(word, OSC_STR("_GLOBAL__N_")) ? OSC_STR("(anonymous namespace)")
                                                        : word;
}

static struct osc_str read_operator(struct mangled *m)
{
    static const char *const operators[][2] = {
        {"cl", "operator()"}, {"ix", "operator[]"}, {"pl", "operator+"},  {"mi", "operator-"},
        {"ml", "operator*"},  {"dv", "operator/"},  {"rm", "operator%"},  {"aS", "operator="},
        {"eq", "operator=="}, {"ne", "operator!="}, {"lt", "operator<"},  {"gt", "operator>"},
        {"le", "operator<="}, {"ge", "operator>="}, {"ls", "operator<<"}, {"rs", "operator>>"},
        {"pt", "operator->"}, {"de", "operator*"},  {"nt", "operator!"},  {"pL", "operator+="},
        {"pp", "operator++"}, {"mm", "operator--"}, {"aa", "operator&&"}, {"oo", "operator||"}};

    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (peek(m, 0) == operators[i][0][0] && peek(m, 1) == operators[i][0][1]) {
            m->i += 2;
            return osc_str_c(operators[i][1]);
        }
    }
    return failure;
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

    if (peek(m, 0) == 'v' && peek(m, 1) == 'E')
        m->i++;
    while (is_fine && !skip_char(m, 'E')) {
        const struct osc_str type = m->read_type(m);

        osc_strbuf_adds(&out, out.len > 0 ? ", " : "");
        osc_strbuf_addstr(&out, type);
        is_fine = type.s && out.len < BYTES_MAX;
    }
    const struct osc_str all = keep(m, &out);
    return is_fine ? all : failure;
}

/* Read a lambda or a type without a name, behind "U". */
static struct osc_str read_nameless(struct mangled *m)
{
    const bool is_lambda = skip_char(m, 'l');
    struct osc_str name = OSC_STR("{unnamed type");
    char number[24];
    uint32_t n;

    if (is_lambda)
        name = join(m, OSC_STR("{lambda("), "", read_types(m));
    else if (!skip_char(m, 't'))
        return failure;
    if (!read_index(m, 10, &n))
        return failure;
    snprintf(number, sizeof number, "%s#%u}", is_lambda ? ")" : "", n + 1);
    return append(m, name, number);
}

static struct osc_str read_unqualified(struct mangled *m)
{
    struct osc_str name;

    skip_char(m, 'L'); /* static */
    if (is_digit(peek(m, 0)))
        name = read_word(m);
    else
        name = skip_char(m, 'U') ? read_nameless(m) : read_operator(m);
    while (name.s && skip_char(m, 'B')) { /* a tag of the ABI */
        if (!read_word(m).s)
            return failure;
    }
    return name;
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
    if (peek(m, 0) == 'T' && peek(m, 1) == 'n') { /* the type of the parameter goes before */
        m->i += 2;
        if (!m->read_type(m).s)
            return failure;
    }
    if (skip_char(m, 'L'))
        return read_literal(m);
    if (skip_char(m, 'X')) { /* of expressions only a name and its address */
        const bool is_address = peek(m, 0) == 'a' && peek(m, 1) == 'd';

        m->i += is_address ? 2 : 0;
        const struct osc_str name = skip_char(m, 'L') ? read_literal(m) : failure;
        return skip_char(m, 'E') ? join(m, OSC_STR(""), is_address ? "&" : "", name) : failure;
    }
    return m->read_type(m);
}

/* Read the arguments behind "I", and "E"; TEMPLATE with them. Those of a pack, from J to E, are
 * some of them. */
static struct osc_str read_arguments(struct mangled *m, struct osc_str template)
{
    struct osc_strbuf out = {0};
    unsigned n_packs = 0;
    bool is_fine = template.s != NULL, is_first = true;

    osc_strbuf_addstr(&out, template);
    osc_strbuf_addc(&out, '<');
    while (is_fine && (peek(m, 0) != 'E' || n_packs > 0)) {
        if (skip_char(m, 'J')) {
            n_packs++;
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

/* --- types and whole names
 * --------------------------------------------------------------------- */

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

    return read_index(m, 10, &n) ? add_part(m, OSC_STR("T")) : failure;
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
            name = read_parameter(m);
        } else if (skip_char(m, 'I')) {
            name = add_part(m, read_arguments(m, name));
        } else {
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

    if (!skip_char(m, 'E'))
        return failure;
    if (skip_char(m, 's')) /* a string literal */
        return append(m, function, "::string literal");
    const struct osc_str name = skip_char(m, 'N') ? read_nested(m) : read_unqualified(m);
    if (skip_char(m, '_')) { /* which of several */
        const bool is_long = skip_char(m, '_');

        while (is_digit(peek(m, 0)))
            m->i++;
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

/* Read a type that begins with D, behind it. */
static struct osc_str read_d(struct mangled *m)
{
    static const char *const types[] = {"ndecltype(nullptr)", "ichar32_t", "schar16_t",
                                        "uchar8_t",           "aauto",     "cdecltype(auto)"};
    char bits[24];
    unsigned n = 0;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (skip_char(m, types[i][0]))
            return osc_str_c(types[i] + 1);
    }
    if (skip_char(m, 'p'))
        return add_part(m, append(m, m->read_type(m), "..."));
    if (!skip_char(m, 'F'))
        return failure;
    for (; is_digit(peek(m, 0)) && n < 10000; m->i++)
        n = n * 10 + (unsigned)(peek(m, 0) - '0');
    if (skip_char(m, 'b'))
        return OSC_STR("__bf16");
    snprintf(bits, sizeof bits, "_Float%u", n);
    return skip_char(m, '_') ? join(m, osc_str_c(bits), "", OSC_STR("")) : failure;
}

/* Read a type that is made of others, behind its letter C. */
static struct osc_str read_compound(struct mangled *m, char c)
{
    static const char letters[] = "PROKVr";
    static const char *const ends[] = {"*", "&", "&&", " const", " volatile", " restrict"};
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
        while (is_digit(peek(m, 0)))
            m->i++;
        type = (struct osc_str){m->s.s + from, m->i - from};
        if (!skip_char(m, '_'))
            return failure;
        return append(m, join(m, m->read_type(m), " [", type), "]");
    default: /* M: a member of a class */
        type = append(m, m->read_type(m), "::*");
        return join(m, m->read_type(m), " ", type);
    }
}

/* Read a type, at a depth that is allowed. */
static struct osc_str read_type_within(struct mangled *m)
{
    const char c = peek(m, 0);

    if (c != '\0' && strchr("PROKVrFAM", c)) {
        m->i++;
        return add_part(m, read_compound(m, c));
    }
    if (skip_char(m, 'D'))
        return read_d(m);
    if (skip_char(m, 'u'))
        return add_part(m, read_word(m));
    if (skip_char(m, 'T')) {
        const struct osc_str parameter = read_parameter(m);

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
        if (!read_type(m).s)
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
    struct mangled m = {
        .s = symbol, .i = 2, .read_type = read_type, .read_encoding = read_encoding};

    if (!osc_str_starts(symbol, OSC_STR("_Z")))
        return false;
    const struct osc_str name = read_name(&m);
    const bool is_whole = name.s && is_signature(&m);
    if (is_whole)
        osc_utf8_append_terminal(out, name);
    osc_arena_fini(&m.arena);
    return is_whole;
}
