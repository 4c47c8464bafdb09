/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_text.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "codec/json.h"
#include "export/chrome_ids.h"
#include "export/chrome_words.h"

#define PART_SHIFT 16 /* strings that one thread escapes per item */
#define SLACK      64 /* strings are copied in words, up to this much too far */

#define PH_AT 9 /* in `,\n{"ph":"X"` */

static void fit_string(struct osc_chrome_piece *piece, struct osc_str s,
                       struct osc_arena *arena, struct osc_strbuf *scratch)
{
    *piece = (struct osc_chrome_piece){s.s, s.len};
    if (osc_json_is_plain(s))
        return;
    osc_strbuf_clear(scratch);
    (void)osc_json_escape(scratch, s);
    if (scratch->status != OSC_OK)
        return;
    piece->s = osc_arena_dup(arena, scratch->s, scratch->len);
    piece->len = (uint32_t)scratch->len;
    if (!piece->s)
        scratch->status = OSC_ENOMEM;
}

static void fit_text(struct osc_chrome_piece *piece, struct osc_str s, struct osc_arena *arena,
                     struct osc_strbuf *scratch)
{
    osc_strbuf_clear(scratch);
    if (!osc_json_check(s, scratch) || scratch->status != OSC_OK)
        return;
    *piece = (struct osc_chrome_piece){s.s, s.len};
    if (scratch->len == 0)
        return;
    piece->s = osc_arena_dup(arena, scratch->s, scratch->len);
    piece->len = (uint32_t)scratch->len;
    if (!piece->s)
        scratch->status = OSC_ENOMEM;
}

static void fit_part(void *ctx, uint32_t part)
{
    struct osc_chrome_text *const x = ctx;
    const struct osc_strings *const strings = &x->t->strings;
    const uint32_t bound = osc_strings_bound(strings), from = part << PART_SHIFT;
    const uint32_t to = bound - from > 1u << PART_SHIFT ? from + (1u << PART_SHIFT) : bound;
    struct osc_strbuf scratch = {0};

    for (uint32_t i = from; i < to && scratch.status == OSC_OK; i++) {
        if (!osc_strings_has(strings, (osc_sid){i}))
            continue;

        const struct osc_str s = osc_strings_get(strings, (osc_sid){i});
        fit_string(&x->strings[i], s, &x->arenas[part], &scratch);
        if (s.len > 0 && (*s.s == '[' || *s.s == '{') && scratch.status == OSC_OK)
            fit_text(&x->texts[i], s, &x->arenas[part], &scratch);
    }
    x->statuses[part] = scratch.status;
    osc_strbuf_fini(&scratch);
}

static osc_status fit_strings(struct osc_chrome_text *x, unsigned n_threads)
{
    const uint32_t bound = osc_strings_bound(&x->t->strings);
    const uint32_t n_parts =
        (uint32_t)(((uint64_t)bound + (1u << PART_SHIFT) - 1) >> PART_SHIFT);

    x->pieces_bytes = ((size_t)bound + 1) * sizeof *x->strings;
    x->strings = osc_pages_alloc(x->pieces_bytes);
    x->texts = osc_pages_alloc(x->pieces_bytes);
    x->n_arenas = n_parts + 1; /* the last one is for tracks */
    x->arenas = osc_calloc(x->n_arenas, sizeof *x->arenas);
    x->statuses = osc_calloc(x->n_arenas, sizeof *x->statuses);
    if (!x->strings || !x->texts || !x->arenas || !x->statuses)
        return OSC_ENOMEM;
    osc_parallel(n_threads, n_parts, fit_part, x);
    for (uint32_t i = 0; i < n_parts; i++) {
        if (x->statuses[i] != OSC_OK)
            return x->statuses[i];
    }
    return OSC_OK;
}

/* Write pid or tid: as a number if the reader would read it as one, else as a string. */
static void add_who(struct osc_strbuf *out, const char *key, struct osc_str who)
{
    int64_t v;

    if (who.len == 0)
        return; /* the file had none */
    osc_strbuf_adds(out, key);
    if (osc_json_int(who, &v) && (v != 0 || who.len == 1)) /* "-0" is not a number here */
        osc_strbuf_addi(out, v);
    else
        osc_json_quote(out, who);
}

static osc_status fit_tracks(struct osc_chrome_text *x)
{
    const struct osc_trace *const t = x->t;
    struct osc_strbuf scratch = {0};
    osc_status st = OSC_OK;

    x->tracks = osc_calloc((size_t)t->n_tracks + 1, sizeof *x->tracks);
    if (!x->tracks)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < t->n_tracks && st == OSC_OK; i++) {
        osc_strbuf_clear(&scratch);
        osc_strbuf_addc(&scratch, '"');
        add_who(&scratch, ",\"pid\":", osc_trace_str(t, t->tracks[i].pid));
        add_who(&scratch, ",\"tid\":", osc_trace_str(t, t->tracks[i].tid));
        osc_strbuf_adds(&scratch, ",\"ts\":");
        st = scratch.status;
        x->tracks[i].len = (uint32_t)scratch.len;
        if (st == OSC_OK)
            x->tracks[i].s = osc_arena_dup(&x->arenas[x->n_arenas - 1], scratch.s, scratch.len);
        if (st == OSC_OK && !x->tracks[i].s)
            st = OSC_ENOMEM;
    }
    osc_strbuf_fini(&scratch);
    return st;
}

/* The literal made of everything appended since FROM. */
static struct osc_chrome_literal literal_from(const struct osc_chrome_text *x, size_t from)
{
    return (struct osc_chrome_literal){from, (uint32_t)(x->literals.len - from)};
}

static bool is_quoted(uint8_t type)
{
    return type == OSC_ARG_STRING;
}

/*
 * Write the literal before the value of SLOT, and an op if the value has words. *FROM is the
 * start of the open literal.
 */
static osc_status add_slot(struct osc_chrome_text *x, struct osc_chrome_form *f,
                           const struct osc_slot *slot, const char *sep, size_t *from)
{
    struct osc_strbuf *const out = &x->literals;

    osc_strbuf_adds(out, sep);
    osc_json_quote(out, osc_trace_str(x->t, slot->key));
    osc_strbuf_addc(out, ':');
    if (slot->type == OSC_ARG_NULL || slot->type == OSC_ARG_TRUE ||
        slot->type == OSC_ARG_FALSE) {
        osc_strbuf_adds(out, slot->type == OSC_ARG_NULL   ? "null"
                             : slot->type == OSC_ARG_TRUE ? "true"
                                                          : "false");
        return OSC_OK;
    }
    if (is_quoted(slot->type))
        osc_strbuf_addc(out, '"');
    if (osc_grow(&x->ops, &x->cap_ops, x->n_ops + 1, sizeof *x->ops) != OSC_OK)
        return OSC_ENOMEM;
    x->ops[x->n_ops++] = (struct osc_chrome_op){literal_from(x, *from), slot->word, slot->type};
    f->n_ops++;
    *from = out->len;
    if (is_quoted(slot->type))
        osc_strbuf_addc(out, '"');
    return OSC_OK;
}

/* Like add_slot(), for EXTRA, which the event itself does not have. */
static osc_status add_extra(struct osc_chrome_text *x, struct osc_chrome_form *f,
                            const struct osc_chrome_extra *extra, const char *sep, size_t *from)
{
    struct osc_strbuf *const out = &x->literals;

    osc_strbuf_adds(out, sep);
    osc_strbuf_adds(out, extra->text);
    if (extra->is_whole)
        return OSC_OK;
    if (osc_grow(&x->ops, &x->cap_ops, x->n_ops + 1, sizeof *x->ops) != OSC_OK)
        return OSC_ENOMEM;
    x->ops[x->n_ops++] = (struct osc_chrome_op){literal_from(x, *from), 0, (uint8_t)extra->id};
    f->n_ops++;
    *from = out->len;
    return OSC_OK;
}

static osc_status fit_form(struct osc_chrome_text *x, const struct osc_form *form,
                           struct osc_chrome_form *f)
{
    struct osc_strbuf *const out = &x->literals;
    const struct osc_chrome_extra *extra =
        osc_chrome_extras(x->t, &x->callers, form, x->no_stacks);
    const int stack = x->no_stacks ? form->known[OSC_ARG_KEY_CALL_STACK] : -1;
    const bool has_args = form->has_args || extra;
    size_t from = out->len;
    const size_t start = from;
    const char *sep = "";
    osc_status st = OSC_OK;

    const struct osc_str category = osc_chrome_category(x->t, form);

    f->shape = form->shape;
    f->ph = osc_chrome_letter(form);
    f->has_words = form->n_words > 0;
    f->first_op = x->n_ops;
    osc_strbuf_addf(out, ",\n{\"ph\":\"%c\"", f->ph);
    if (category.len > 0) {
        osc_strbuf_adds(out, ",\"cat\":");
        osc_json_quote(out, category);
    }
    osc_strbuf_adds(out, ",\"name\":\"");
    osc_strbuf_addstr(out, osc_chrome_name(x->t, form));
    f->head = literal_from(x, from);
    from = out->len;
    for (uint32_t i = 0; i < form->n_slots && st == OSC_OK; i++) {
        if (form->slots[i].is_member)
            st = add_slot(x, f, &form->slots[i], ",", &from);
    }
    osc_strbuf_adds(out, osc_chrome_members(form));
    f->n_member_ops = f->n_ops;
    /* The open literal continues with the args; for the e of an asynchronous range it ends
     * here. */
    const size_t open = from, open_len = out->len - from;
    const size_t copy = out->len;
    for (size_t i = 0; i < open_len && out->status == OSC_OK; i++)
        osc_strbuf_addc(out, out->s[open + i]);
    osc_strbuf_addc(out, '}');
    f->member_tail = literal_from(x, copy);
    from = out->len;
    for (size_t i = 0; i < open_len && out->status == OSC_OK; i++)
        osc_strbuf_addc(out, out->s[open + i]);
    if (has_args)
        osc_strbuf_adds(out, ",\"args\":{");
    for (uint32_t i = 0; i < form->n_slots && st == OSC_OK; i++) {
        if (form->slots[i].is_member || (int)i == stack)
            continue;
        st = add_slot(x, f, &form->slots[i], sep, &from);
        sep = ",";
    }
    for (; extra && extra->text && st == OSC_OK; extra++) {
        st = add_extra(x, f, extra, sep, &from);
        sep = ",";
    }
    osc_strbuf_adds(out, has_args ? "}}" : "}");
    f->tail = literal_from(x, from);
    f->room = out->len - start + ((size_t)f->n_ops + 2) * OSC_DIGITS_MAX + (size_t)2 * SLACK;
    return st;
}

static osc_status fit_forms(struct osc_chrome_text *x)
{
    const struct osc_trace *const t = x->t;
    osc_status st = OSC_OK;

    x->forms = osc_calloc((size_t)t->n_forms + 1, sizeof *x->forms);
    if (!x->forms)
        return OSC_ENOMEM;
    for (uint32_t i = 1; i < t->n_forms && st == OSC_OK; i++)
        st = fit_form(x, &t->forms[i], &x->forms[i]);
    osc_strbuf_pad(&x->literals, ' ', SLACK);
    return st != OSC_OK ? st : x->literals.status;
}

osc_status osc_chrome_text_make(struct osc_chrome_text *x, const struct osc_trace *t,
                                bool no_stacks, unsigned n_threads)
{
    *x = (struct osc_chrome_text){.t = t, .no_stacks = no_stacks};
    osc_status st = fit_strings(x, n_threads);
    if (st == OSC_OK)
        st = fit_tracks(x);
    if (st == OSC_OK)
        st = osc_chrome_callers_make(&x->callers, t);
    if (st == OSC_OK)
        st = fit_forms(x);
    return st;
}

void osc_chrome_text_fini(struct osc_chrome_text *x)
{
    for (uint32_t i = 0; x->arenas && i < x->n_arenas; i++)
        osc_arena_fini(&x->arenas[i]);
    osc_free(x->arenas);
    osc_free(x->statuses);
    osc_pages_free(x->strings, x->pieces_bytes);
    osc_pages_free(x->texts, x->pieces_bytes);
    osc_free(x->tracks);
    osc_free(x->forms);
    osc_free(x->ops);
    osc_strbuf_fini(&x->literals);
    osc_chrome_callers_fini(&x->callers);
    *x = (struct osc_chrome_text){0};
}

void osc_text_out_fini(struct osc_text_out *o)
{
    osc_free(o->start);
    *o = (struct osc_text_out){0};
}

bool osc_text_out_more(struct osc_text_out *o, size_t n)
{
    const size_t used = (size_t)(o->p - o->start);
    size_t cap = (size_t)(o->end - o->start);

    if (o->status != OSC_OK)
        return false;
    char *start = o->start;
    o->status = osc_grow(&start, &cap, used + n, 1);
    if (o->status != OSC_OK)
        return false;
    o->start = start;
    o->p = start + used;
    o->end = start + cap;
    return true;
}

/* Make room for N bytes after P; returns P or its new address; NULL: see status. */
static inline char *with_room(struct osc_text_out *o, char *p, size_t n)
{
    if ((size_t)(o->end - p) >= n)
        return p;
    o->p = p;
    return osc_text_out_more(o, n) ? o->p : NULL;
}

/* Copy N bytes. It reads only these, but writes up to SLACK more. */
static inline char *copy(char *p, const char *s, uint32_t n)
{
    if (n >= 16) {
        char *const last = p + n - 16;
        const char *const s_last = s + n - 16;

        while (p < last) {
            memcpy(p, s, 16);
            p += 16;
            s += 16;
        }
        memcpy(last, s_last, 16);
        return last + 16;
    }
    if (n >= 8) {
        memcpy(p, s, 8);
        memcpy(p + n - 8, s + n - 8, 8);
    } else if (n >= 4) {
        memcpy(p, s, 4);
        memcpy(p + n - 4, s + n - 4, 4);
    } else {
        for (uint32_t i = 0; i < n; i++)
            p[i] = s[i];
    }
    return p + n;
}

/* Copy a literal; SLACK bytes after it are readable. */
static inline char *copy_literal(char *p, const struct osc_chrome_text *x,
                                 const struct osc_chrome_literal *l)
{
    const char *const s = x->literals.s + l->at;

    memcpy(p, s, 32);
    for (uint32_t i = 32; i < l->len; i += 32)
        memcpy(p + i, s + i, 32);
    return p + l->len;
}

static inline char *put_piece(struct osc_text_out *o, char *p,
                              const struct osc_chrome_piece *piece, size_t room)
{
    p = with_room(o, p, piece->len + room);
    return p ? copy(p, piece->s, piece->len) : NULL;
}

/* Write a string and its quotation marks. */
static char *put_quoted(struct osc_text_out *o, char *p, const struct osc_chrome_piece *piece,
                        size_t room)
{
    p = with_room(o, p, piece->len + room + 2);
    if (!p)
        return NULL;
    *p++ = '"';
    p = copy(p, piece->s, piece->len);
    *p++ = '"';
    return p;
}

static inline uint64_t two_words(const uint32_t *w)
{
    return (uint64_t)w[1] << 32 | w[0];
}

/* Write the double with these BITS; JSON has only finite ones. */
static inline char *put_double(struct osc_text_out *o, char *p, uint64_t bits)
{
    struct osc_text_double *const known =
        &o->doubles[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
    double d;

    if (known->bits != bits || known->len == 0) {
        memcpy(&d, &bits, sizeof d);
        const char *const end =
            d - d == 0 ? osc_digits_double(known->text, d) : copy(known->text, "null", 4);
        known->bits = bits;
        known->len = (uint32_t)(end - known->text);
    }
    memcpy(p, known->text, sizeof known->text);
    return p + known->len;
}

/* Write a time; most share the leading digits with the previous one. */
static inline char *put_time(struct osc_text_out *o, char *p, int64_t at_ns)
{
    struct osc_text_time *const known = &o->time;
    uint64_t rest = (uint64_t)at_ns - known->from_ns;

    if (rest >= OSC_DIGITS_LANES || known->from_ns == 0) {
        if (at_ns < (int64_t)OSC_DIGITS_LANES)
            return osc_digits_micros(p, at_ns);
        rest = (uint64_t)at_ns % OSC_DIGITS_LANES;
        known->from_ns = (uint64_t)at_ns - rest;
        known->len = (uint32_t)(osc_digits_u64(known->text, known->from_ns / OSC_DIGITS_LANES) -
                                known->text);
    }
    memcpy(p, known->text, sizeof known->text);
    return osc_digits_micros_end(p + known->len, osc_digits_lanes((uint32_t)rest), 0);
}

/* Write a number as text: unquoted if it is a valid JSON number. */
static char *put_numtext(struct osc_text_out *o, char *p, const struct osc_chrome_piece *piece,
                         size_t room)
{
    struct osc_json_number n;

    if (osc_json_number(piece->s, piece->s + piece->len, &n) && n.end == piece->s + piece->len)
        return put_piece(o, p, piece, room);
    return put_quoted(o, p, piece, room);
}

/*
 * Write the value whose words are at W. The ROOM bytes at P suffice for everything except
 * strings. NULL: see status.
 */
static char *put_value(const struct osc_chrome_text *x, struct osc_text_out *o, char *p,
                       enum osc_arg_type type, const uint32_t *w, size_t room)
{
    switch (type) {
    case OSC_ARG_INT32:
        return osc_digits_i64(p, (int32_t)*w);
    case OSC_ARG_INT64:
        return osc_digits_i64(p, (int64_t)two_words(w));
    case OSC_ARG_DOUBLE:
        return put_double(o, p, two_words(w));
    case OSC_ARG_STRING:
        return put_piece(o, p, &x->strings[*w], room);
    case OSC_ARG_TEXT:
        return x->texts[*w].s ? put_piece(o, p, &x->texts[*w], room)
                              : put_quoted(o, p, &x->strings[*w], room);
    case OSC_ARG_NUMTEXT:
        return put_numtext(o, p, &x->strings[*w], room);
    case OSC_ARG_NULL:
    case OSC_ARG_TRUE:
    case OSC_ARG_FALSE:
        break; /* part of the literal */
    }
    return p;
}

/* Write a record up to its time AT_NS. False: see status. */
static inline bool put_start(const struct osc_chrome_text *x, const struct osc_chunk *c,
                             uint32_t i, char ph, int64_t at_ns, struct osc_text_out *o)
{
    const struct osc_chrome_form *const f = &x->forms[c->form[i]];
    const struct osc_chrome_piece *const name = &x->strings[c->name[i]];
    const struct osc_chrome_piece *const track = &x->tracks[c->track[i]];
    char *p = with_room(o, o->p, f->room + name->len + track->len);

    if (!p)
        return false;

    char *const start = p;
    p = copy_literal(p, x, &f->head);
    start[PH_AT] = ph;
    if (name->len > 0)
        p = copy(p, name->s, name->len);
    p = copy(p, track->s, track->len);
    o->p = put_time(o, p, at_ns);
    return true;
}

/* Write an id that the event itself does not have. */
static inline char *put_id(const struct osc_chrome_text *x, char *p, const struct osc_chunk *c,
                           uint32_t i, enum osc_chrome_id id)
{
    const uint64_t v = osc_chrome_id(x->t, &x->callers, c, i, id);

    return v > 0 || id != OSC_CHROME_ID_CALLER ? osc_digits_u64(p, v) : copy(p, "null", 4);
}

/* Write N ops of F and then TAIL, after the time of row I. */
static inline void put_ops(const struct osc_chrome_text *x, const struct osc_chunk *c,
                           uint32_t i, uint32_t n, const struct osc_chrome_literal *tail,
                           struct osc_text_out *o)
{
    static const uint32_t no_words[1];
    const struct osc_chrome_form *const f = &x->forms[c->form[i]];
    const struct osc_chrome_op *op = x->ops + f->first_op;
    const uint32_t *const words = f->has_words ? osc_row_words(c, i) : no_words;
    char *p = o->p;

    for (uint32_t k = 0; k < n; k++, op++) {
        p = copy_literal(p, x, &op->literal);
        if (op->type >= OSC_CHROME_ID_INDEX) {
            p = put_id(x, p, c, i, (enum osc_chrome_id)op->type);
            continue;
        }

        const uint32_t *const w = words + op->word;
        if (op->type == OSC_ARG_INT32 && *w < OSC_DIGITS_LANES) {
            p = osc_digits_small(p, *w);
            continue;
        }
        p = put_value(x, o, p, (enum osc_arg_type)op->type, w, f->room);
        if (!p)
            return;
    }
    o->p = copy_literal(p, x, tail);
}

/* Write the whole record of row I. */
static inline void put_record(const struct osc_chrome_text *x, const struct osc_chunk *c,
                              uint32_t i, char ph, bool has_dur, struct osc_text_out *o)
{
    const struct osc_chrome_form *const f = &x->forms[c->form[i]];

    if (!put_start(x, c, i, ph, c->ts_ns[i], o))
        return;
    if (has_dur) {
        memcpy(o->p, ",\"dur\":", 7);
        o->p = osc_digits_micros(o->p + 7, c->dur_ns[i]);
    }
    put_ops(x, c, i, f->n_ops, &f->tail, o);
}

/* Write the end record of row I, an asynchronous range. */
static void put_end(const struct osc_chrome_text *x, const struct osc_chunk *c, uint32_t i,
                    struct osc_text_out *o)
{
    const struct osc_chrome_form *const f = &x->forms[c->form[i]];
    const char ph = f->ph == 'S' ? 'F' : 'e'; /* another letter would be no end of it */

    if (put_start(x, c, i, ph, osc_row_end(c, i), o))
        put_ops(x, c, i, f->n_member_ops, &f->member_tail, o);
}

/* The only series of counter row I, or NULL. */
static const struct osc_slot *series_of(const struct osc_trace *t, const struct osc_chunk *c,
                                        uint32_t i)
{
    const struct osc_form *const f = &t->forms[c->form[i]];

    return f->shape == OSC_SHAPE_COUNTER && f->n_slots == 1 && !f->slots[0].is_member
               ? &f->slots[0]
               : NULL;
}

/* Whether row I can be another series of the sample that begins at row FIRST. */
static bool is_same_sample(const struct osc_trace *t, const struct osc_chunk *c, uint32_t first,
                           uint32_t i)
{
    const struct osc_slot *const series = series_of(t, c, i);

    if (!series || c->name[i] != c->name[first] || c->track[i] != c->track[first] ||
        c->ts_ns[i] != c->ts_ns[first] ||
        t->forms[c->form[i]].category.v != t->forms[c->form[first]].category.v ||
        i - first >= 64)
        return false;
    for (uint32_t k = first; k < i; k++) {
        if (t->forms[c->form[k]].slots[0].key.v == series->key.v)
            return false;
    }
    return true;
}

/* Write the text BEFORE and a series of a sample, counter row K. False: see status. */
static bool put_series(const struct osc_chrome_text *x, const struct osc_chunk *c, uint32_t k,
                       const char *before, struct osc_text_out *o)
{
    const struct osc_slot *const slot = series_of(x->t, c, k);
    const struct osc_chrome_piece *const key = &x->strings[slot->key.v];

    char *p = with_room(o, o->p, key->len + 6 * (size_t)SLACK);

    if (!p)
        return false;
    p = copy(p, before, (uint32_t)strlen(before));
    *p++ = '"';
    if (key->len > 0)
        p = copy(p, key->s, key->len);
    p = copy(p, "\":", 2);
    if (osc_arg_words((enum osc_arg_type)slot->type) == 0)
        p = slot->type == OSC_ARG_TRUE    ? copy(p, "true", 4)
            : slot->type == OSC_ARG_FALSE ? copy(p, "false", 5)
                                          : copy(p, "null", 4);
    else if (is_quoted(slot->type))
        p = put_quoted(o, p, &x->strings[*osc_row_words(c, k)], 2 * (size_t)SLACK);
    else
        p = put_value(x, o, p, (enum osc_arg_type)slot->type, osc_row_words(c, k),
                      2 * (size_t)SLACK);
    if (p)
        o->p = p;
    return p != NULL;
}

/* Write a counter sample from row *I on, before END; set *I to its last row. */
static void put_sample(const struct osc_chrome_text *x, const struct osc_chunk *c, uint32_t *i,
                       uint32_t end, struct osc_text_out *o)
{
    const uint32_t first = *i;

    if (!put_start(x, c, first, 'C', c->ts_ns[first], o))
        return;
    for (uint32_t k = first; k < end && is_same_sample(x->t, c, first, k); k++) {
        if (!put_series(x, c, k, k > first ? "," : ",\"args\":{", o))
            return;
        *i = k;
    }

    char *const p = with_room(o, o->p, SLACK);
    if (p)
        o->p = copy(p, "}}", 2);
}

static inline void put_event(const struct osc_chrome_text *x, struct osc_chrome_rows *rows,
                             struct osc_text_out *o)
{
    const struct osc_chunk *const c = rows->c;
    const uint32_t i = rows->next;
    const char ph = x->forms[c->form[i]].ph;
    const enum osc_form_shape shape = (enum osc_form_shape)x->forms[c->form[i]].shape;
    const bool has_dur = c->dur_ns[i] != OSC_NO_DUR;

    if (shape == OSC_SHAPE_COUNTER && series_of(x->t, c, i)) {
        put_sample(x, c, &rows->next, rows->end, o);
        return;
    }
    if (osc_shape_is_range(shape) && has_dur)
        put_record(x, c, i, 'X', true, o);
    else
        put_record(x, c, i, ph, false, o);
    if (shape == OSC_SHAPE_ASYNC && has_dur)
        put_end(x, c, i, o);
}

static bool is_wanted(const struct osc_trace *t, const struct osc_chrome_rows *rows, uint32_t i)
{
    const enum osc_form_shape shape = (enum osc_form_shape)t->forms[rows->c->form[i]].shape;

    switch (rows->of) {
    case OSC_CHROME_ABOUT:
        return shape == OSC_SHAPE_ABOUT;
    case OSC_CHROME_ARROWS:
        return osc_shape_is_arrow(shape);
    case OSC_CHROME_EVENTS:
        break;
    }
    return true;
}

bool osc_chrome_rows_any(const struct osc_trace *t, const struct osc_chrome_rows *rows)
{
    for (uint32_t i = rows->next; i < rows->end; i++) {
        if (is_wanted(t, rows, i))
            return true;
    }
    return false;
}

void osc_chrome_text_rows(const struct osc_chrome_text *x, struct osc_chrome_rows *rows,
                          size_t full, struct osc_text_out *o)
{
    for (; rows->next < rows->end && o->status == OSC_OK; rows->next++) {
        if ((size_t)(o->p - o->start) >= full)
            return;
        if (rows->of == OSC_CHROME_EVENTS)
            put_event(x, rows, o);
        else if (is_wanted(x->t, rows, rows->next))
            put_record(x, rows->c, rows->next, x->forms[rows->c->form[rows->next]].ph, false,
                       o);
    }
}
