/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX 100u
/* Each character makes at most three instructions. */
#define CODES_MAX (3u * OSC_REGEX_LENGTH_MAX + 2)
/* Between two looks at whether the caller was cancelled. */
#define STEPS_PER_LOOK (1u << 20)

enum op { CLASS, SPLIT, JUMP, BEGIN, END, BORDER, SAVE, MATCH };

#define SLOTS (2 * (OSC_REGEX_GROUPS_MAX + 1))

struct code {
    uint8_t op;
    int16_t x, y;  /* relative targets of SPLIT and JUMP */
    uint16_t bits; /* CLASS: index in classes; SAVE: slot */
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
    uint32_t n_groups;
    struct osc_regex_span brackets[OSC_REGEX_GROUPS_MAX]; /* of groups, in the pattern */
    struct finder *finder; /* owned; NULL until a part is sought */
};

/* What is between parentheses; numbers of codes. */
struct group {
    uint32_t begin, choice;
    uint32_t
        jump; /* + 1: the last of the jumps behind choices, each with the one before; or 0 */
    uint32_t number; /* + 1: of the group in brackets; 0: it has none */
};

struct parser {
    struct osc_regex *r;
    const char *begin, *s, *end;
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

/* Let the codes from AT on be repeated as C says; with IS_SHORT as seldom as possible. */
static void repeat(struct parser *p, uint32_t at, char c, bool is_short)
{
    const int n = (int)(p->r->n_codes - at);
    struct code *const split = insert(p, c == '+' ? p->r->n_codes : at, SPLIT);

    const int again = c == '+' ? -n : 1;
    const int on = c == '+' ? 1 : c == '*' ? n + 2 : n + 1;

    split->x = (int16_t)(is_short ? on : again);
    split->y = (int16_t)(is_short ? again : on);
    if (c == '*')
        insert(p, p->r->n_codes, JUMP)->x = (int16_t)(-n - 1);
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

/* Begin a group, behind its bracket if there is one; if it IS_KEPT, its place in the text is.
 */
static void begin_group(struct parser *p, bool is_kept)
{
    struct osc_regex *const r = p->r;
    uint32_t number = 0;

    if (p->n_groups == DEPTH_MAX) {
        p->wrong = "it is too deep";
        return;
    }
    if (is_kept && r->n_groups < OSC_REGEX_GROUPS_MAX) {
        r->brackets[r->n_groups].from = (uint32_t)(p->s - p->begin) - 1;
        number = ++r->n_groups;
        insert(p, r->n_codes, SAVE)->bits = (uint16_t)(2 * number);
    }
    p->groups[p->n_groups++] = (struct group){r->n_codes, r->n_codes, 0, number};
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
    if (g->number == 0)
        return g->begin;
    p->r->brackets[g->number - 1].to = (uint32_t)(p->s - p->begin);
    insert(p, p->r->n_codes, SAVE)->bits = (uint16_t)(2 * g->number + 1);
    return g->begin - 1; /* where its place is kept */
}

static void parse(struct parser *p)
{
    begin_group(p, false);
    while (p->s < p->end && !p->wrong) {
        uint32_t at = p->r->n_codes;

        if (*p->s == '(') {
            const bool is_kept = p->end - p->s < 3 || p->s[1] != '?' || p->s[2] != ':';

            p->s += is_kept ? 1 : 3;
            begin_group(p, is_kept);
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
            const char c = *p->s++;
            const bool is_short = p->s < p->end && *p->s == '?';

            p->s += is_short;
            repeat(p, at, c, is_short);
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
    struct parser p = {
        .r = r, .begin = pattern.s, .s = pattern.s, .end = pattern.s + pattern.len};

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
    if (r)
        osc_free(r->finder);
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
        if (c->op == SAVE)
            r->stack[n++] = (uint16_t)(k + 1);
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

/* --- finding ---------------------------------------------------------------------- */

/* Where groups begin and end in the text; UINT32_MAX: nowhere. */
struct caps {
    uint32_t at[SLOTS];
};

/* What finding needs besides: places of the states in the lists now and next, and what is left
 * to follow. Each code is followed once at a time and leaves at most two. */
struct finder {
    struct caps now[CODES_MAX], next[CODES_MAX];
    struct step {
        uint16_t pc, slot; /* slot: + 1, to be set to BEFORE again; 0: follow PC */
        uint32_t before;
    } stack[2 * CODES_MAX + 2];
};

/* Add to NEXT what is reached from code PC at AT with the places CAPS, the preferred first: as
 * reach() does, but places are kept on the way, and taken back for what is tried later. */
static void follow(struct osc_regex *r, uint32_t pc, struct caps *caps, struct osc_str text,
                   uint32_t at)
{
    struct step *const stack = r->finder->stack;
    uint32_t n = 0;

    stack[n++] = (struct step){(uint16_t)pc, 0, 0};
    while (n > 0) {
        const struct step s = stack[--n];
        const struct code *const c = &r->codes[s.pc];

        if (s.slot > 0) {
            caps->at[s.slot - 1] = s.before;
            continue;
        }
        r->n_steps++;
        if (r->marks[s.pc] == r->clock)
            continue;
        r->marks[s.pc] = r->clock;
        if (c->op == CLASS || c->op == MATCH) {
            r->finder->next[r->n_next] = *caps;
            r->next[r->n_next++] = s.pc;
        }
        if (c->op == SPLIT)
            stack[n++] = (struct step){(uint16_t)((int)s.pc + c->y), 0, 0};
        if (c->op == SPLIT || c->op == JUMP)
            stack[n++] = (struct step){(uint16_t)((int)s.pc + c->x), 0, 0};
        if (c->op == SAVE) {
            stack[n++] = (struct step){0, (uint16_t)(c->bits + 1), caps->at[c->bits]};
            caps->at[c->bits] = at;
        }
        if (c->op == SAVE || (c->op == BEGIN && at == 0) || (c->op == END && at == text.len) ||
            (c->op == BORDER && is_border(text, at)))
            stack[n++] = (struct step){(uint16_t)(s.pc + 1), 0, 0};
    }
}

/* Let the states of AT read the next character. True: one of them matches, with the places
 * *FOUND; those behind it, which are not preferred to it, are dropped. */
static bool step_on(struct osc_regex *r, struct osc_str text, uint32_t at, struct caps *found)
{
    const unsigned char c = at < text.len ? (unsigned char)text.s[at] : 0;

    memcpy(r->now, r->next, r->n_next * sizeof *r->now);
    memcpy(r->finder->now, r->finder->next, r->n_next * sizeof *r->finder->now);
    r->n_now = r->n_next;
    r->n_next = 0;
    r->clock++;
    for (uint32_t i = 0; i < r->n_now; i++) {
        const struct code *const code = &r->codes[r->now[i]];

        if (code->op == MATCH) {
            *found = r->finder->now[i];
            found->at[1] = at;
            return true;
        }
        if (at < text.len && (r->classes[code->bits].bits[c / 8] & 1u << c % 8) != 0)
            follow(r, r->now[i] + 1u, &r->finder->now[i], text, at + 1);
    }
    return false;
}

osc_status osc_regex_prepare(struct osc_regex *r)
{
    if (!r->finder)
        r->finder = osc_malloc(sizeof *r->finder);
    return r->finder ? OSC_OK : OSC_ENOMEM;
}

bool osc_regex_find(struct osc_regex *r, struct osc_str text, struct osc_regex_span *spans)
{
    struct caps found, none;
    bool is_found = false;

    memset(&none, 0xff, sizeof none);
    found = none;
    r->n_next = 0;
    if (r->clock > UINT32_MAX - text.len - 2) {
        memset(r->marks, 0, sizeof r->marks);
        r->clock = 0;
    }
    r->clock++;
    for (uint32_t at = 0; at <= text.len; at++) {
        if (!is_found) {
            struct caps start = none;

            start.at[0] = at;
            follow(r, 0, &start, text, at); /* what began earlier is preferred */
        }
        if (r->n_next == 0 && is_found)
            break;
        is_found |= step_on(r, text, at, &found);
        if (r->n_steps >= STEPS_PER_LOOK) {
            r->n_steps = 0;
            if (osc_mem_is_cancelled())
                return false;
        }
    }
    for (size_t k = 0; k <= OSC_REGEX_GROUPS_MAX && is_found; k++)
        spans[k] = (struct osc_regex_span){found.at[2 * k], found.at[2 * k + 1]};
    return is_found;
}

void osc_regex_label(const struct osc_regex *r, struct osc_str pattern, struct osc_str text,
                     const struct osc_regex_span *spans, struct osc_strbuf *out)
{
    uint32_t from = 0;

    for (uint32_t k = 0; k < r->n_groups; k++) {
        const struct osc_regex_span b = r->brackets[k], s = spans[k + 1];

        if (b.from < from)
            continue; /* inside of the one before */
        osc_strbuf_add(out, pattern.s + from, b.from - from);
        if (s.from != UINT32_MAX && s.to != UINT32_MAX)
            osc_strbuf_add(out, text.s + s.from, s.to - s.from);
        from = b.to;
    }
    osc_strbuf_add(out, pattern.s + from, pattern.len - from);
}
