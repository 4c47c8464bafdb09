/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX 100u
/* Each character makes at most three instructions. */
#define CODES_MAX (3u * OSC_REGEX_LENGTH_MAX + 2)
/* Between two looks at whether the caller was cancelled. */
#define STEPS_PER_LOOK (1u << 20)

enum op { CLASS, SPLIT, JUMP, BEGIN, END, BORDER, MATCH };

struct code {
    uint8_t op;
    int16_t x, y;  /* relative targets of SPLIT and JUMP */
    uint16_t bits; /* CLASS: index in classes */
};

struct set {
    uint8_t bits[32];
};

struct osc_regex {
    struct code codes[CODES_MAX];
    struct set classes[OSC_REGEX_LENGTH_MAX + 1];
    uint16_t now[CODES_MAX], next[CODES_MAX], stack[2 * CODES_MAX];
    uint32_t marks[CODES_MAX]; /* the time at which a code was last reached */
    uint32_t clock;            /* goes on from text to text */
    uint32_t n_codes, n_classes, n_now, n_next;
    uint32_t n_steps; /* since the last look; goes on from text to text */
};

/* What is between parentheses; numbers of codes. */
struct group {
    uint32_t begin, choice;
    uint32_t
        jump; /* + 1: the last of the jumps behind choices, each with the one before; or 0 */
};

struct parser {
    struct osc_regex *r;
    const char *s, *end;
    const char *wrong; /* or NULL */
    struct group groups[DEPTH_MAX];
    unsigned n_groups;
};

/* --- compiling ------------------------------------------------------------------- */

static void add(struct set *set, unsigned char c)
{
    const unsigned char low = c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
    const bool is_letter = low >= 'a' && low <= 'z';

    set->bits[low / 8] |= (uint8_t)(1u << low % 8);
    if (is_letter)
        set->bits[(low & ~0x20u) / 8] |= (uint8_t)(1u << low % 8);
}

static void invert(struct set *set)
{
    for (size_t i = 0; i < sizeof set->bits; i++)
        set->bits[i] = (uint8_t)~set->bits[i];
}

static bool is_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           c == '_';
}

/* Add the class C, as in \d, to SET. False: it is none. */
static bool add_named(struct set *set, char c)
{
    struct set named = {{0}};
    const char low = (char)(c | 0x20);

    if (low != 'd' && low != 'w' && low != 's')
        return false;
    for (unsigned k = 0; k < 256; k++)
        if (low == 'd'   ? k >= '0' && k <= '9'
            : low == 'w' ? is_word((unsigned char)k)
                         : k == ' ' || (k >= '\t' && k <= '\r'))
            named.bits[k / 8] |= (uint8_t)(1u << k % 8);
    if (c != low)
        invert(&named);
    for (size_t i = 0; i < sizeof named.bits; i++)
        set->bits[i] |= named.bits[i];
    return true;
}

/* Insert a code at AT, before codes that jump only among each other. */
static struct code *insert(struct parser *p, uint32_t at, enum op op)
{
    struct osc_regex *const r = p->r;

    memmove(&r->codes[at + 1], &r->codes[at], (r->n_codes - at) * sizeof *r->codes);
    r->n_codes++;
    r->codes[at] = (struct code){.op = (uint8_t)op};
    return &r->codes[at];
}

static struct set *add_class(struct parser *p)
{
    struct osc_regex *const r = p->r;

    insert(p, r->n_codes, CLASS)->bits = (uint16_t)r->n_classes;
    return &r->classes[r->n_classes++];
}

/* The set behind "[". */
static void parse_set(struct parser *p)
{
    struct set *const set = add_class(p);
    const bool is_inverted = p->s < p->end && *p->s == '^';
    bool is_first = true;

    p->s += is_inverted;
    for (; p->s < p->end && (*p->s != ']' || is_first); is_first = false) {
        unsigned char from = (unsigned char)*p->s++;

        if (from == '\\' && p->s < p->end) {
            from = (unsigned char)*p->s++;
            if (add_named(set, (char)from))
                continue;
        }
        unsigned char to = from;
        if (p->end - p->s >= 2 && p->s[0] == '-' && p->s[1] != ']') {
            p->s++;
            if (*p->s == '\\' && p->end - p->s >= 2)
                p->s++;
            to = (unsigned char)*p->s++;
        }
        if (to < from)
            p->wrong = "a range of characters ends before it begins";
        for (unsigned c = from; c <= to; c++)
            add(set, (unsigned char)c);
    }
    if (p->s >= p->end)
        p->wrong = "a [ is not closed";
    else
        p->s++;
    if (is_inverted)
        invert(set);
}

static void parse_escape(struct parser *p)
{
    if (p->s == p->end) {
        p->wrong = "nothing is behind the last backslash";
        return;
    }
    const char c = *p->s++;
    if (c == 'b') {
        (void)insert(p, p->r->n_codes, BORDER);
        return;
    }
    struct set *const set = add_class(p);
    if (!add_named(set, c))
        add(set, (unsigned char)c);
}

static void parse_atom(struct parser *p)
{
    const char c = *p->s++;

    switch (c) {
    case '[':
        parse_set(p);
        break;
    case '\\':
        parse_escape(p);
        break;
    case '.':
        invert(add_class(p));
        break;
    case '^':
        (void)insert(p, p->r->n_codes, BEGIN);
        break;
    case '$':
        (void)insert(p, p->r->n_codes, END);
        break;
    case '*':
    case '+':
    case '?':
        p->wrong = "nothing is before a *, + or ?";
        break;
    default:
        add(add_class(p), (unsigned char)c);
    }
}

/* Let the codes from AT on be repeated as C says. */
static void repeat(struct parser *p, uint32_t at, char c)
{
    const int16_t n = (int16_t)(p->r->n_codes - at);
    struct code *const split = insert(p, c == '+' ? p->r->n_codes : at, SPLIT);

    if (c == '+') {
        split->x = (int16_t)-n;
        split->y = 1;
        return;
    }
    split->x = 1;
    split->y = (int16_t)(c == '*' ? n + 2 : n + 1);
    if (c == '*')
        insert(p, p->r->n_codes, JUMP)->x = (int16_t) - (n + 1);
}

/* End one of several choices of the innermost group. */
static void end_choice(struct parser *p)
{
    struct group *const g = &p->groups[p->n_groups - 1];
    struct osc_regex *const r = p->r;
    struct code *const split = insert(p, g->choice, SPLIT);

    split->x = 1;
    split->y = (int16_t)(r->n_codes - g->choice + 1);
    insert(p, r->n_codes, JUMP)->y = (int16_t)g->jump;
    g->jump = r->n_codes;
    g->choice = r->n_codes;
}

static void begin_group(struct parser *p)
{
    if (p->n_groups == DEPTH_MAX) {
        p->wrong = "it is too deep";
        return;
    }
    p->groups[p->n_groups++] = (struct group){p->r->n_codes, p->r->n_codes, 0};
}

/* End the innermost group: its choices go on behind it. Returns where it begins. */
static uint32_t end_group(struct parser *p)
{
    const struct group *const g = &p->groups[--p->n_groups];

    for (uint32_t jump = g->jump; jump != 0;) {
        struct code *const c = &p->r->codes[jump - 1];

        jump = (uint32_t)c->y;
        c->x = (int16_t)(p->r->n_codes - (uint32_t)(c - p->r->codes));
    }
    return g->begin;
}

static void parse(struct parser *p)
{
    begin_group(p);
    while (p->s < p->end && !p->wrong) {
        uint32_t at = p->r->n_codes;

        if (*p->s == '(') {
            p->s += p->end - p->s >= 3 && p->s[1] == '?' && p->s[2] == ':' ? 3 : 1;
            begin_group(p);
            continue;
        }
        if (*p->s == '|') {
            p->s++;
            end_choice(p);
            continue;
        }
        if (*p->s != ')')
            parse_atom(p);
        else if (p->n_groups > 1 && p->s++)
            at = end_group(p);
        else
            p->wrong = "a ) is too much";
        if (p->s < p->end && (*p->s == '*' || *p->s == '+' || *p->s == '?') && !p->wrong) {
            repeat(p, at, *p->s++);
            if (p->s < p->end && *p->s == '?')
                p->s++; /* as few as possible: for a yes or no it is the same */
        }
    }
    if (p->n_groups > 1 && !p->wrong)
        p->wrong = "a ( is not closed";
    (void)end_group(p);
}

osc_status osc_regex_open(struct osc_regex **to, struct osc_str pattern, bool is_text,
                          struct osc_err *err)
{
    struct osc_regex *const r =
        pattern.len <= OSC_REGEX_LENGTH_MAX ? osc_calloc(1, sizeof *r) : NULL;
    struct parser p = {.r = r, .s = pattern.s, .end = pattern.s + pattern.len};

    *to = NULL;
    if (pattern.len > OSC_REGEX_LENGTH_MAX)
        return osc_fail(err, OSC_EINVAL, "a pattern has at most %u bytes",
                        OSC_REGEX_LENGTH_MAX);
    if (!r)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    while (is_text && p.s < p.end)
        add(add_class(&p), (unsigned char)*p.s++);
    if (!is_text)
        parse(&p);
    (void)insert(&p, r->n_codes, MATCH);
    if (p.wrong) {
        osc_regex_close(r);
        return osc_fail(err, OSC_EINVAL, "the pattern /%.*s/ is wrong: %s", (int)pattern.len,
                        pattern.s, p.wrong);
    }
    *to = r;
    return OSC_OK;
}

void osc_regex_close(struct osc_regex *r)
{
    osc_free(r);
}

/* --- matching -------------------------------------------------------------------- */

static bool is_border(struct osc_str text, uint32_t at)
{
    const bool before = at > 0 && is_word((unsigned char)text.s[at - 1]);
    const bool behind = at < text.len && is_word((unsigned char)text.s[at]);

    return before != behind;
}

/* Add what is reached from code PC at AT to the next states. True: it matches. */
static bool reach(struct osc_regex *r, uint32_t pc, struct osc_str text, uint32_t at)
{
    uint32_t n = 0;

    r->stack[n++] = (uint16_t)pc;
    while (n > 0) {
        const uint32_t k = r->stack[--n];
        const struct code *const c = &r->codes[k];

        r->n_steps++;
        if (r->marks[k] == r->clock)
            continue;
        r->marks[k] = r->clock;
        if (c->op == MATCH)
            return true;
        if (c->op == CLASS)
            r->next[r->n_next++] = (uint16_t)k;
        if (c->op == SPLIT)
            r->stack[n++] = (uint16_t)((int)k + c->y);
        if (c->op == SPLIT || c->op == JUMP)
            r->stack[n++] = (uint16_t)((int)k + c->x);
        if ((c->op == BEGIN && at == 0) || (c->op == END && at == text.len) ||
            (c->op == BORDER && is_border(text, at)))
            r->stack[n++] = (uint16_t)(k + 1);
    }
    return false;
}

bool osc_regex_has(struct osc_regex *r, struct osc_str text)
{
    r->n_now = 0;
    if (r->clock > UINT32_MAX - text.len - 2) {
        memset(r->marks, 0, sizeof r->marks);
        r->clock = 0;
    }
    for (uint32_t at = 0;; at++) {
        const unsigned char c = at > 0 ? (unsigned char)text.s[at - 1] : 0;

        r->n_next = 0;
        r->clock++;
        for (uint32_t i = 0; i < r->n_now; i++) {
            const uint32_t k = r->now[i];

            if (r->classes[r->codes[k].bits].bits[c / 8] & 1u << c % 8 &&
                reach(r, k + 1, text, at))
                return true;
        }
        if (reach(r, 0, text, at))
            return true;
        if (at == text.len)
            return false;
        if (r->n_steps >= STEPS_PER_LOOK) {
            r->n_steps = 0;
            if (osc_mem_is_cancelled())
                return false;
        }
        memcpy(r->now, r->next, r->n_next * sizeof *r->now);
        r->n_now = r->n_next;
    }
}
