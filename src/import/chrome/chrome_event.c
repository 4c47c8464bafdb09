/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_parser.h"

#include <string.h>

#include "import/chrome/chrome_learn.h"
#include "import/chrome/dialect.h"

/* A value as it is in the text. */
struct value {
    enum osc_chrome_class class;
    struct osc_chrome_string string; /* of class STRING */
    struct osc_str raw;              /* of the other two classes; also a bare word */
    uint64_t start, end;             /* offsets; of a string, without its quotes */
};

/* Note where the value V stood, for the layout that is learned of this event. Without memory
 * nothing is learned, which costs only speed. */
static void mark(struct osc_chrome *c, const struct value *v, enum osc_chrome_role role,
                 const struct osc_slot *slot)
{
    if (!c->can_learn)
        return;
    if (osc_grow(&c->marks, &c->cap_marks, c->n_marks + 1, sizeof *c->marks) != OSC_OK) {
        c->can_learn = false;
        return;
    }
    c->marks[c->n_marks++] = (struct osc_chrome_mark){.start = v->start,
                                                      .end = v->end,
                                                      .role = (uint8_t)role,
                                                      .class = (uint8_t)v->class,
                                                      .word = slot ? slot->type : 0,
                                                      .is_member = slot && slot->is_member,
                                                      .key = slot ? slot->key : (osc_sid){0}};
}

static void count_at(struct osc_chrome *c, enum osc_finding_code code, uint64_t offset)
{
    osc_findings_add(c->findings, code, offset, OSC_NO_TIME);
}

/* Make room for one more slot and two more words. */
static bool make_room(struct osc_chrome *c)
{
    if (c->record.n_slots >= OSC_FORM_SLOTS_MAX) {
        if (!c->args_are_full)
            count_at(c, OSC_FINDING_limit_reached, osc_text_offset(&c->text, c->text.p));
        c->args_are_full = true;
        return false;
    }
    if (osc_grow(&c->slots, &c->cap_slots, (size_t)c->record.n_slots + 1, sizeof *c->slots) !=
            OSC_OK ||
        osc_grow(&c->words, &c->cap_words, (size_t)c->record.n_words + 2, sizeof *c->words) !=
            OSC_OK) {
        c->builder->status = OSC_ENOMEM;
        return false;
    }
    return true;
}

static void add_arg(struct osc_chrome *c, struct osc_slot slot, uint64_t bits)
{
    if (!make_room(c))
        return;
    c->slots[c->record.n_slots++] = slot;
    const uint32_t n = osc_arg_words((enum osc_arg_type)slot.type);
    if (n > 0)
        c->words[c->record.n_words] = (uint32_t)bits;
    if (n > 1)
        c->words[c->record.n_words + 1] = (uint32_t)(bits >> 32);
    c->record.n_words += n;
}

/* Add the number in RAW as an argument; false if RAW is not a number. */
static bool add_number(struct osc_chrome *c, struct osc_slot slot, struct osc_str raw)
{
    struct osc_json_number n;
    uint64_t bits;

    if (!osc_json_number(raw.s, raw.s + raw.len, &n) || n.end != raw.s + raw.len)
        return false;
    if (n.fits_int64) {
        slot.type = n.i >= INT32_MIN && n.i <= INT32_MAX ? OSC_ARG_INT32 : OSC_ARG_INT64;
        add_arg(c, slot, (uint64_t)n.i);
        return true;
    }
    if (n.is_integer) {
        slot.type = OSC_ARG_NUMTEXT;
        count_at(c, OSC_FINDING_out_of_range, osc_text_offset(&c->text, raw.s));
        c->can_learn = false;
        add_arg(c, slot, osc_build_string(c->builder, raw.s, raw.len).v);
        return true;
    }
    const double d = osc_json_double(raw.s, raw.s + raw.len);
    if (d - d != 0) { /* infinite: outside the range of a double */
        slot.type = OSC_ARG_NUMTEXT;
        count_at(c, OSC_FINDING_out_of_range, osc_text_offset(&c->text, raw.s));
        c->can_learn = false;
        add_arg(c, slot, osc_build_string(c->builder, raw.s, raw.len).v);
        return true;
    }
    memcpy(&bits, &d, sizeof bits);
    slot.type = OSC_ARG_DOUBLE;
    add_arg(c, slot, bits);
    return true;
}

/* Add a word that is not a number: true, false, null, or a word that Kineto wrote by
 * mistake. */
static void add_word(struct osc_chrome *c, struct osc_slot slot, const struct value *v)
{
    const struct osc_str raw = v->raw;

    if (osc_str_eq(raw, OSC_STR("true"))) {
        slot.type = OSC_ARG_TRUE;
    } else if (osc_str_eq(raw, OSC_STR("false"))) {
        slot.type = OSC_ARG_FALSE;
    } else if (osc_str_eq(raw, OSC_STR("null"))) {
        slot.type = OSC_ARG_NULL;
    } else {
        slot.type = OSC_ARG_NULL; /* N/A, NaN, inf: missing */
        count_at(c, OSC_FINDING_wrong_type, osc_text_offset(&c->text, raw.s));
        c->can_learn = false;
    }
    mark(c, v, OSC_ROLE_WORD, &slot);
    add_arg(c, slot, 0);
}

/*
 * Whether an argument is left out. A scout needs only names, times and ids of launches. The
 * arguments of counters are their values; while the phase is not read, an event may be one (see
 * drop_unneeded()).
 */
static bool is_left_out(const struct osc_chrome *c, osc_sid key, bool is_member)
{
    const struct osc_loading *const l = c->builder->loading;
    const bool may_count = !is_member && (c->record.shape == OSC_SHAPE_COUNTER ||
                                          c->record.shape == OSC_SHAPE_NONE);

    return (l->keep.is_scout && !is_member && !osc_loading_scouts(l, key)) ||
           (l->no_args && !may_count && !osc_loading_needs(l, key));
}

/* An argument that is left out is marked, too: the fast path has to pass over it. */
static void read_arg(struct osc_chrome *c, osc_sid key, bool is_member, const struct value *v)
{
    struct osc_slot slot = {.key = key, .is_member = is_member};

    if (is_left_out(c, key, is_member)) {
        mark(c, v, OSC_ROLE_SKIP, &slot);
        return;
    }
    switch (v->class) {
    case OSC_CLASS_STRING:
        slot.type = OSC_ARG_STRING;
        mark(c, v, OSC_ROLE_ARG, &slot);
        add_arg(c, slot, osc_chrome_intern(c, &v->string).v);
        break;
    case OSC_CLASS_NESTED:
        slot.type = OSC_ARG_TEXT;
        mark(c, v, OSC_ROLE_ARG, &slot);
        add_arg(c, slot, osc_build_string(c->builder, v->raw.s, v->raw.len).v);
        break;
    case OSC_CLASS_NUMBER:
        if (add_number(c, slot, v->raw))
            mark(c, v, OSC_ROLE_ARG, &slot);
        else
            add_word(c, slot, v);
        break;
    }
}

/* Read the value at p. After DEEP and LONG, which skip it, V is empty. */
static enum osc_token_status read_value(struct osc_chrome *c, bool in_line, struct value *v)
{
    const int ch = osc_chrome_peek(c);
    enum osc_token_status st;

    *v = (struct value){.class = OSC_CLASS_NUMBER};
    if (ch < 0)
        return OSC_TOKEN_END;
    v->start = osc_text_offset(&c->text, c->text.p);
    if (ch == '"') {
        v->class = OSC_CLASS_STRING;
        st = osc_chrome_string(c, in_line, &v->string);
        v->start++;
        v->end = v->start + v->string.len;
        if (v->string.is_repaired || v->string.is_doubtful || v->string.is_cut)
            c->can_learn = false;
        return st;
    }
    if (ch == '[' || ch == '{') {
        v->class = OSC_CLASS_NESTED;
        st = osc_chrome_nested(c, true, &v->raw);
    } else {
        st = osc_chrome_bare(c, &v->raw);
    }
    v->end = osc_text_offset(&c->text, c->text.p);
    if (st == OSC_TOKEN_DEEP)
        count_at(c, OSC_FINDING_too_deep, v->start);
    if (st == OSC_TOKEN_LONG)
        count_at(c, OSC_FINDING_too_long, v->start);
    if (st != OSC_TOKEN_OK)
        c->can_learn = false;
    return st;
}

/* A time: a number, or a string that holds one. */
static bool read_micros(struct osc_chrome *c, const struct value *v, enum osc_chrome_role role,
                        struct osc_json_micros *out)
{
    const struct osc_str raw = v->class == OSC_CLASS_STRING
                                   ? (struct osc_str){v->string.s, (uint32_t)v->string.len}
                                   : v->raw;
    struct osc_json_number n;

    if (v->class == OSC_CLASS_NESTED || !osc_json_number(raw.s, raw.s + raw.len, &n) ||
        n.end != raw.s + raw.len) {
        count_at(c, OSC_FINDING_wrong_type, v->start);
        c->can_learn = false;
        return false;
    }
    const int64_t since_us = role == OSC_ROLE_TS ? c->builder->loading->since_us : 0;

    c->can_learn = c->can_learn && since_us == 0;
    if (since_us != 0 ? !osc_json_micros_since(raw.s, raw.s + raw.len, since_us, out)
                      : !osc_json_micros(raw.s, raw.s + raw.len, out)) {
        c->has_far_ts = since_us != 0; /* counted when the phase is known */
        c->far_ts_at = v->start;
        if (!c->has_far_ts)
            count_at(c, OSC_FINDING_out_of_range, v->start);
        c->can_learn = false;
        return false;
    }
    struct value as_number = *v;
    as_number.class = OSC_CLASS_NUMBER;
    mark(c, &as_number, role, NULL);
    return true;
}

/* Read a pid or tid; an integer and the same integer as a text are equal. */
static osc_who read_who(struct osc_chrome *c, const struct value *v, enum osc_chrome_role role)
{
    struct osc_str raw = v->raw;
    struct osc_json_number n;

    if (v->class == OSC_CLASS_NESTED || osc_str_eq(raw, OSC_STR("null"))) {
        count_at(c, OSC_FINDING_wrong_type, v->start);
        c->can_learn = false;
        return OSC_WHO_IS_STRING;
    }
    struct value as = *v;
    if (v->class == OSC_CLASS_STRING)
        raw = osc_chrome_text(c, &v->string);
    if (osc_json_number(raw.s, raw.s + raw.len, &n) && n.end == raw.s + raw.len &&
        n.fits_int64 && n.i >= 0 && *raw.s != '-') {
        as.class = OSC_CLASS_NUMBER;
        mark(c, &as, role, NULL);
        return (osc_who)n.i;
    }
    if (v->class == OSC_CLASS_STRING)
        mark(c, v, role, NULL);
    else
        c->can_learn = false;
    return OSC_WHO_IS_STRING | osc_build_string(c->builder, raw.s, raw.len).v;
}

/* Read a member that must be a string. Its position is stored for the layout. */
static bool read_string(struct osc_chrome *c, const struct value *v, osc_sid *id)
{
    if (v->class != OSC_CLASS_STRING) {
        count_at(c, OSC_FINDING_wrong_type, v->start);
        c->can_learn = false;
        return false;
    }
    *id = osc_chrome_intern(c, &v->string);
    return true;
}

enum member { M_PH, M_CAT, M_NAME, M_PID, M_TID, M_TS, M_DUR, M_ARGS, M_OTHER };

static enum member which_member(const struct osc_chrome_string *key)
{
    static const struct {
        const char *text;
        enum member member;
    } known[] = {{"ph", M_PH},   {"cat", M_CAT}, {"name", M_NAME}, {"pid", M_PID},
                 {"tid", M_TID}, {"ts", M_TS},   {"dur", M_DUR},   {"args", M_ARGS}};

    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].text) == key->len && memcmp(known[i].text, key->s, key->len) == 0)
            return known[i].member;
    return M_OTHER;
}

/* Store where events of CATEGORY happen. */
static void set_place(struct osc_record *r, struct osc_str category)
{
    r->is_device = osc_dialect_is_device(category);
    r->is_call = osc_dialect_is_call(category);
}

static void store_member(struct osc_chrome *c, enum member member, const struct value *v)
{
    struct osc_record *r = &c->record;

    switch (member) {
    case M_PH:
        r->chrome_ph = '?';
        if (v->class == OSC_CLASS_STRING && v->string.len == 1)
            r->chrome_ph = v->string.s[0];
        r->shape = (uint8_t)osc_dialect_shape((uint8_t)r->chrome_ph);
        break;
    case M_CAT:
        if (read_string(c, v, &r->category) && c->builder->loading->keep.is_on)
            set_place(r, osc_chrome_text(c, &v->string));
        if (v->class == OSC_CLASS_STRING && v->string.has_escape)
            c->can_learn = false;
        break;
    case M_NAME:
        if (read_string(c, v, &r->name))
            mark(c, v, OSC_ROLE_NAME, NULL);
        break;
    case M_PID:
        r->pid = read_who(c, v, OSC_ROLE_PID);
        break;
    case M_TID:
        r->tid = read_who(c, v, OSC_ROLE_TID);
        break;
    case M_TS:
        c->has_ts = read_micros(c, v, OSC_ROLE_TS, &c->ts);
        c->bad_ts = !c->has_ts;
        break;
    case M_DUR:
        c->has_dur = read_micros(c, v, OSC_ROLE_DUR, &c->dur);
        break;
    case M_ARGS:
    case M_OTHER:
        break;
    }
}

/*
 * Read one member of the event or of its args; the opening quotation mark of its key is at p.
 * *IN_ARGS becomes true after the opening brace of args.
 */
static enum osc_token_status read_member(struct osc_chrome *c, bool newline, bool *in_args)
{
    struct osc_chrome_string key;
    struct value v;
    enum osc_token_status st = osc_chrome_key(c, &key);

    if (st != OSC_TOKEN_OK)
        return st;
    c->one_per_line &= newline;
    const bool in_line = c->one_per_line && c->n_members++ >= 1;
    const enum member member = *in_args ? M_OTHER : which_member(&key);
    c->n_read++;
    /* Intern the key now: its bytes may move with the next token. */
    osc_sid key_id = {0};
    if (member == M_OTHER)
        key_id = osc_chrome_intern(c, &key);
    if (osc_chrome_peek(c) != ':')
        return c->text.at_end && c->text.p == c->text.end ? OSC_TOKEN_END : OSC_TOKEN_BAD;
    c->text.p++;
    if (member == M_ARGS && osc_chrome_peek(c) == '{') {
        c->record.has_args = *in_args = true;
        c->text.p++;
        return OSC_TOKEN_OK;
    }
    st = read_value(c, in_line, &v);
    if (st == OSC_TOKEN_DEEP || st == OSC_TOKEN_LONG)
        return OSC_TOKEN_OK; /* counted; the rest of the event is good */
    if (st != OSC_TOKEN_OK)
        return st;
    if (member == M_ARGS) {
        if (v.class == OSC_CLASS_STRING || !osc_str_eq(v.raw, OSC_STR("null")))
            count_at(c, OSC_FINDING_wrong_type, v.start);
        c->can_learn = false;
    } else if (member == M_OTHER) {
        read_arg(c, key_id, !*in_args, &v);
    } else {
        store_member(c, member, &v);
    }
    return OSC_TOKEN_OK;
}

/* A comma is missing if CH, at p, begins another member. */
static void look_for_comma(struct osc_chrome *c, int ch)
{
    if (ch != '"')
        return;
    count_at(c, OSC_FINDING_repaired_list, osc_text_offset(&c->text, c->text.p));
    c->can_learn = false;
}

/* Read members up to the closing brace of the event, which is consumed. */
static enum osc_token_status read_members(struct osc_chrome *c)
{
    bool in_args = false, first = true;

    for (;;) {
        bool newline = false;
        int ch = osc_chrome_peek_line(c, &newline);

        if (!first && ch == ',') {
            c->text.p++;
            ch = osc_chrome_peek_line(c, &newline);
            if (ch == '}')
                c->can_learn = false; /* an extra comma */
            if (ch == '{')
                return OSC_TOKEN_NEXT; /* a closing brace is missing */
        } else if (!first) {
            look_for_comma(c, ch);
        }
        first = false;
        if (ch == '}') {
            c->text.p++;
            if (!in_args)
                return OSC_TOKEN_OK;
            in_args = false;
            continue;
        }
        if (ch != '"')
            return ch < 0 ? OSC_TOKEN_END : OSC_TOKEN_BAD;
        const bool was_in_args = in_args;
        const enum osc_token_status st = read_member(c, newline, &in_args);
        if (st != OSC_TOKEN_OK)
            return st;
        first = in_args != was_in_args;
        if (c->builder->status != OSC_OK)
            return OSC_TOKEN_BAD;
    }
}

/* Set the times of the record. False: the event has no usable time and is left out. */
static bool place_record(struct osc_chrome *c, uint64_t offset)
{
    struct osc_record *r = &c->record;
    int64_t end;

    r->dur_ns = OSC_NO_DUR;
    if (!c->has_ts) {
        if (r->shape == OSC_SHAPE_ABOUT) { /* it needs no time */
            r->ts_ns = 0;
            return true;
        }
        if (c->has_far_ts)
            count_at(c, OSC_FINDING_out_of_range, c->far_ts_at);
        else if (!c->bad_ts)
            count_at(c, OSC_FINDING_wrong_type, offset);
        return false;
    }
    r->ts_ns = osc_json_micros_ns(c->ts);
    if (r->ts_ns > OSC_TIME_MAX_NS || r->ts_ns < -OSC_TIME_MAX_NS) {
        count_at(c, OSC_FINDING_out_of_range, offset);
        c->can_learn = false;
        return false;
    }
    if (r->shape != OSC_SHAPE_RANGE)
        return true;
    if (!c->has_dur) { /* counted when it was read, or as no_duration */
        c->can_learn = false;
        return true;
    }
    if (c->dur.atto < 0) {
        osc_findings_add(c->findings, OSC_FINDING_negative_duration, offset, r->ts_ns);
        c->can_learn = false;
        r->dur_ns = 0;
        return true;
    }
    if (!osc_json_micros_sum_ns(c->ts, c->dur, &end) || end > OSC_TIME_MAX_NS) {
        count_at(c, OSC_FINDING_out_of_range, offset);
        c->can_learn = false;
        return true;
    }
    r->dur_ns = end - r->ts_ns;
    return true;
}

/* Make a row for each series of a counter sample, with one argument each. */
static void build_counter(struct osc_chrome *c)
{
    const struct osc_record whole = c->record;
    uint32_t word = 0;

    c->can_learn = false;
    for (uint32_t i = 0; i < whole.n_slots; i++) {
        const enum osc_arg_type type = (enum osc_arg_type)c->slots[i].type;
        const uint32_t n = osc_arg_words(type);
        struct osc_slot one = c->slots[i];

        if (!one.is_member) {
            struct osc_record r = whole;
            r.slots = &one;
            r.n_slots = 1;
            r.words = c->words + word;
            r.n_words = n;
            osc_build_record(c->builder, &r);
        }
        word += n;
    }
}

/* Drop the arguments that are not needed from an event that had them before its phase. */
static void drop_unneeded(struct osc_chrome *c)
{
    struct osc_record *const r = &c->record;
    uint32_t n_slots = 0, n_words = 0, at = 0;

    for (uint32_t i = 0; i < r->n_slots; i++) {
        const uint32_t n = osc_arg_words((enum osc_arg_type)c->slots[i].type);

        if (osc_loading_needs(c->builder->loading, c->slots[i].key)) {
            c->slots[n_slots++] = c->slots[i];
            memmove(c->words + n_words, c->words + at, n * sizeof *c->words);
            n_words += n;
        } else {
            c->can_learn = false;
        }
        at += n;
    }
    r->n_slots = n_slots;
    r->n_words = n_words;
}

/* All members are read: make a row of them, if they are an event at all. A layout is learned
 * only of an event that became a row, so that the fast path meets no doubtful one. */
static void build_event(struct osc_chrome *c, uint64_t offset)
{
    struct osc_record *r = &c->record;

    if (r->shape == OSC_SHAPE_NONE) {
        if (c->n_read > 0) /* {} ends lists that are written event by event */
            osc_findings_add_phase(c->findings, (unsigned char)c->record.chrome_ph, offset);
        return;
    }
    r->slots = c->slots;
    r->words = c->words;
    if (!place_record(c, offset))
        return;
    if (r->shape == OSC_SHAPE_COUNTER) {
        build_counter(c);
        return;
    }
    if (c->builder->loading->no_args)
        drop_unneeded(c);
    osc_build_record(c->builder, r);
    if (c->can_learn && c->builder->status == OSC_OK)
        osc_chrome_learn(c, offset);
}

enum osc_token_status osc_chrome_event(struct osc_chrome *c)
{
    const uint64_t offset = osc_text_offset(&c->text, c->text.p);
    const uint64_t n_moves = c->text.n_moves;

    c->record = (struct osc_record){.pid = OSC_WHO_IS_STRING, .tid = OSC_WHO_IS_STRING};
    c->has_ts = c->has_dur = c->bad_ts = c->args_are_full = false;
    c->has_far_ts = false;
    c->n_members = c->n_read = 0;
    c->one_per_line = true;
    c->n_marks = 0;
    c->can_learn = c->layouts != NULL;
    c->text.p++;
    const enum osc_token_status st = read_members(c);
    if (st != OSC_TOKEN_OK)
        return st;
    if (c->text.n_moves != n_moves)
        c->can_learn = false; /* the window has moved past its start */
    build_event(c, offset);
    return OSC_TOKEN_OK;
}

osc_status osc_chrome_init(struct osc_chrome *c, struct osc_builder *b, const char *kernel)
{
    *c = (struct osc_chrome){.builder = b, .findings = &b->findings};
    return osc_chrome_layouts_new(&c->layouts, kernel);
}

void osc_chrome_restart(struct osc_chrome *c, struct osc_blocks *blocks, uint64_t offset)
{
    char *big = c->text.big;
    const size_t big_cap = c->text.big_cap;

    osc_text_init(&c->text, blocks, offset);
    c->has_list = true; /* cleared when a document begins */
    c->is_comma_due = true;
    c->text.big = big;
    c->text.big_cap = big_cap;
}

void osc_chrome_fini(struct osc_chrome *c)
{
    osc_text_fini(&c->text);
    osc_chrome_layouts_free(c->layouts);
    osc_strbuf_fini(&c->scratch);
    osc_strbuf_fini(&c->long_text);
    osc_free(c->slots);
    osc_free(c->words);
    osc_free(c->marks);
    osc_free(c->metas);
    *c = (struct osc_chrome){0};
}
