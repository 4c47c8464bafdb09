/* SPDX-License-Identifier: Apache-2.0 */
#include "table/partial.h"

#include <string.h>

#include "base/hash.h"

static const char magic[8] = "oscpart";

/* --- writing ------------------------------------------------------------------------ */

static inline void store(char *to, uint64_t v, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        to[i] = (char)(v >> 8 * i);
}

static void put_u64(struct osc_strbuf *out, uint64_t v)
{
    char bytes[8];

    store(bytes, v, sizeof bytes);
    osc_strbuf_put(out, bytes, sizeof bytes);
}

static void put_u32(struct osc_strbuf *out, uint32_t v)
{
    char bytes[4];

    store(bytes, v, sizeof bytes);
    osc_strbuf_put(out, bytes, sizeof bytes);
}

static void put_u8(struct osc_strbuf *out, unsigned v)
{
    const char byte = (char)v;

    osc_strbuf_put(out, &byte, 1);
}

/* Write the length, the bytes and a NUL; UINT32_MAX for a missing text. */
static void put_text(struct osc_strbuf *out, struct osc_str s)
{
    put_u32(out, s.s ? s.len : UINT32_MAX);
    if (!s.s)
        return;
    osc_strbuf_addstr(out, s);
    osc_strbuf_addc(out, '\0');
}

static void put_c_text(struct osc_strbuf *out, const char *s)
{
    put_text(out, s ? osc_str_c(s) : (struct osc_str){NULL, 0});
}

static void put_placing(struct osc_strbuf *out, const struct osc_placing *p)
{
    put_u32(out, (uint32_t)p->rank);
    put_u32(out, (uint32_t)p->span);
    put_u64(out, (uint64_t)p->origin_ns);
    put_u64(out, (uint64_t)p->base_ns);
    put_u32(out, p->is_unaligned);
    put_u32(out, p->is_beside_steps);
    put_u32(out, p->shares_steps);
}

static void put_identity(struct osc_strbuf *out, const struct osc_identity *id)
{
    put_text(out, id->path);
    put_text(out, id->source);
    put_text(out, id->boot_id);
    put_text(out, id->host);
    put_text(out, id->run_id);
    put_text(out, id->torch_version);
    put_u32(out, id->number);
    put_u32(out, id->has_rank);
    put_u64(out, id->n_events);
    put_u64(out, (uint64_t)id->min_ts_ns);
    put_u64(out, (uint64_t)id->max_end_ns);
    put_u64(out, (uint64_t)id->from_ns);
    put_u64(out, (uint64_t)id->to_ns);
    put_u64(out, (uint64_t)id->pid);
    put_u64(out, (uint64_t)id->parent_pid);
    put_u32(out, id->has_steps);
    put_placing(out, &id->alone);
    put_placing(out, &id->among);
}

/* A hash of everything in DEF that rows depend on. */
static uint64_t hash_columns(const struct osc_table_def *def)
{
    uint64_t hash = osc_hash(def->name, strlen(def->name), OSC_PARTIAL_SEED);

    for (uint32_t c = 0; c < def->n_columns; c++) {
        const struct osc_column *const column = &def->columns[c];
        const uint32_t rules[] = {(uint32_t)column->type, (uint32_t)column->merge,
                                  column->flags};

        hash = osc_hash(column->name, strlen(column->name), hash);
        hash = osc_hash(rules, sizeof rules, hash);
    }
    return hash;
}

static bool is_timed(const struct osc_partial_question *q)
{
    return q->options->has_at || q->is_timed;
}

/* Write what rows depend on besides table and trace. */
static void put_options(struct osc_strbuf *out, const struct osc_partial_question *q)
{
    const struct osc_options *const o = q->options;
    const bool switches[] = {o->by_shape,  o->by_stack, o->by_op,    o->compat_tb,
                             o->no_python, o->has_at,   is_timed(q), o->has_rest};

    put_c_text(out, o->group_by);
    put_u32(out, o->stack_depth);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        put_u8(out, switches[i]);
    put_u64(out, (uint64_t)(o->has_at ? o->at_ns : 0));
    put_c_text(out, o->name);
    put_c_text(out, q->choice);
    put_u64(out, q->n_rows);
    put_c_text(out, q->n_rows > 0 ? q->sort : NULL);
}

static void put_row(struct osc_strbuf *out, const struct osc_result *r, uint64_t row)
{
    const struct osc_table_def *const def = r->def;

    for (uint32_t c = 0; c < def->n_columns; c += 8) {
        unsigned bits = 0;

        for (uint32_t k = c; k < c + 8 && k < def->n_columns; k++)
            bits |= (unsigned)osc_result_has(r, row, k) << (k - c);
        put_u8(out, bits);
    }
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!osc_result_has(r, row, c))
            continue;
        switch (def->columns[c].type) {
        case OSC_TYPE_STRING:
            put_u32(out, osc_result_get_sid(r, row, c).v);
            break;
        case OSC_TYPE_INTEGER:
            put_u64(out, (uint64_t)osc_result_get_int(r, row, c));
            break;
        case OSC_TYPE_NUMBER: {
            const double d = osc_result_get_num(r, row, c);
            uint64_t bits;

            memcpy(&bits, &d, sizeof bits);
            put_u64(out, bits);
            break;
        }
        case OSC_TYPE_BOOLEAN:
            put_u8(out, osc_result_get_bool(r, row, c));
            break;
        }
    }
}

static uint64_t n_of(const struct osc_trace *t, enum osc_finding_code code)
{
    return t->findings.by_code[code].count;
}

void osc_partial_ask(const struct osc_partial_question *q, struct osc_strbuf *out)
{
    put_c_text(out, q->def->name);
    put_u64(out, hash_columns(q->def));
    put_options(out, q);
}

static void put_body(struct osc_strbuf *out, const struct osc_partial_question *q,
                     const struct osc_result *r, const struct osc_trace *t,
                     const struct osc_identity *id)
{
    if (q->asked.len > 0)
        osc_strbuf_addstr(out, q->asked);
    else
        osc_partial_ask(q, out);
    put_identity(out, id);
    put_u64(out, t->events.n_rows);
    osc_trace_read(t);
    put_u64(out, n_of(t, OSC_FINDING_nothing_dumped));
    put_u64(out, n_of(t, OSC_FINDING_no_window));
    osc_trace_read_end(t);
    put_u64(out, r->shown);
    put_u32(out, r->sorted_by);
    put_u64(out, r->n_left_out);
    put_text(out, (struct osc_str){r->notes.s ? r->notes.s : "", (uint32_t)r->notes.len});
    put_u32(out, r->says_why_empty);
    put_u32(out, r->dict.n_entries);
    for (uint32_t i = 1; i <= r->dict.n_entries; i++)
        put_text(out, osc_intern_str(&r->dict, (osc_sid){i}));
    put_u64(out, r->n_rows);
    for (uint64_t row = 0; row < r->n_rows && out->status == OSC_OK; row++)
        put_row(out, r, row);
}

osc_status osc_partial_write(const struct osc_partial_question *q, const struct osc_result *r,
                             const struct osc_trace *t, const struct osc_identity *id,
                             struct osc_strbuf *out, struct osc_err *err)
{
    const size_t head_at = out->len, body_at = head_at + OSC_PARTIAL_HEAD_BYTES;

    osc_strbuf_pad(out, '\0', OSC_PARTIAL_HEAD_BYTES);
    put_body(out, q, r, t, id);
    if (out->status == OSC_OK && out->len - head_at > UINT32_MAX)
        out->status = OSC_ELIMIT; /* the maximum length of struct osc_str */
    if (out->status != OSC_OK)
        return osc_fail(err, out->status, "%s", osc_status_text(out->status));

    char *const head = out->s + head_at, *const body = out->s + body_at;
    const size_t len = out->len - body_at;
    memcpy(head, magic, sizeof magic);
    store(head + sizeof magic, OSC_PARTIAL_VERSION, 8); /* and four zeroes */
    store(head + sizeof magic + 8, len, 8);
    store(head + sizeof magic + 16, osc_hash(body, len, OSC_PARTIAL_SEED), 8);
    return OSC_OK;
}

/* --- reading ------------------------------------------------------------------------ */

/* The unread bytes. Once there are too few, every read returns 0. */
struct reader {
    const char *at, *end;
    bool is_bad;
};

static const unsigned char *read_bytes(struct reader *r, size_t n)
{
    const char *const at = r->at;

    if (r->is_bad || (size_t)(r->end - r->at) < n) {
        r->is_bad = true;
        return NULL;
    }
    r->at += n;
    return (const unsigned char *)at;
}

__attribute__((always_inline)) static inline uint64_t get_number(struct reader *r, int n_bytes)
{
    const unsigned char *const p = read_bytes(r, (size_t)n_bytes);
    uint64_t v = 0;

    for (int i = 0; p && i < n_bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static uint32_t get_u32(struct reader *r)
{
    return (uint32_t)get_number(r, 4);
}

static uint64_t get_u64(struct reader *r)
{
    return get_number(r, 8);
}

static struct osc_str get_text(struct reader *r)
{
    const uint32_t len = get_u32(r);

    if (r->is_bad || len == UINT32_MAX)
        return (struct osc_str){NULL, 0};
    const char *const s = (const char *)read_bytes(r, (size_t)len + 1);
    if (!s || s[len] != '\0') {
        r->is_bad = true;
        return (struct osc_str){NULL, 0};
    }
    return (struct osc_str){s, len};
}

static struct osc_placing get_placing(struct reader *r)
{
    struct osc_placing p = {.rank = (int32_t)get_u32(r)};

    p.span = (int32_t)get_u32(r);
    p.origin_ns = (int64_t)get_u64(r);
    p.base_ns = (int64_t)get_u64(r);
    p.is_unaligned = get_u32(r) != 0;
    p.is_beside_steps = get_u32(r) != 0;
    p.shares_steps = get_u32(r) != 0;
    return p;
}

static struct osc_identity get_identity(struct reader *r)
{
    struct osc_identity id = {.path = get_text(r)};

    id.source = get_text(r);
    id.boot_id = get_text(r);
    id.host = get_text(r);
    id.run_id = get_text(r);
    id.torch_version = get_text(r);
    id.number = get_u32(r);
    id.has_rank = get_u32(r) != 0;
    id.n_events = get_u64(r);
    id.min_ts_ns = (int64_t)get_u64(r);
    id.max_end_ns = (int64_t)get_u64(r);
    id.from_ns = (int64_t)get_u64(r);
    id.to_ns = (int64_t)get_u64(r);
    id.pid = (int64_t)get_u64(r);
    id.parent_pid = (int64_t)get_u64(r);
    id.has_steps = get_u32(r) != 0;
    id.alone = get_placing(r);
    id.among = get_placing(r);
    if (!id.path.s || !id.source.s)
        r->is_bad = true;
    return id;
}

/* Whether the next bytes are the options of Q. */
static bool has_options(struct reader *r, const struct osc_partial_question *q, osc_status *st)
{
    struct osc_strbuf own = {0};

    put_options(&own, q);
    *st = own.status;
    const unsigned char *const p = read_bytes(r, own.len);
    const bool is_same = p && own.status == OSC_OK && memcmp(p, own.s, own.len) == 0;
    osc_strbuf_fini(&own);
    return is_same;
}

/* Start to read the body in BYTES, if they are intact. */
static osc_status open_body(struct reader *r, struct osc_str bytes, struct osc_err *err)
{
    *r = (struct reader){bytes.s, bytes.s + bytes.len, false};
    const unsigned char *const head = read_bytes(r, sizeof magic);
    const uint32_t version = get_u32(r);
    (void)get_u32(r);
    const uint64_t len = get_u64(r), hash = get_u64(r);

    if (r->is_bad || memcmp(head, magic, sizeof magic) != 0)
        return osc_fail(err, OSC_EINVAL, "this is no part of a table");
    if (version != OSC_PARTIAL_VERSION)
        return osc_fail(err, OSC_EINVAL, "a part of a table in version %u; this reads %u",
                        version, OSC_PARTIAL_VERSION);
    if (len != (uint64_t)(r->end - r->at) ||
        osc_hash(r->at, (size_t)len, OSC_PARTIAL_SEED) != hash)
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    return OSC_OK;
}

osc_status osc_partial_next(struct osc_str *rest, struct osc_str *part, struct osc_err *err)
{
    struct reader r = {rest->s, rest->s + rest->len, false};
    const unsigned char *const head = read_bytes(&r, sizeof magic);
    (void)get_u64(&r); /* version */
    const uint64_t len = get_u64(&r);

    if (r.is_bad || memcmp(head, magic, sizeof magic) != 0)
        return osc_fail(err, OSC_EINVAL, "this is no part of a table");
    if (rest->len < OSC_PARTIAL_HEAD_BYTES || len > rest->len - OSC_PARTIAL_HEAD_BYTES)
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    *part = (struct osc_str){rest->s, (uint32_t)len + OSC_PARTIAL_HEAD_BYTES};
    rest->s += part->len;
    rest->len -= part->len;
    return OSC_OK;
}

/* Read what the next bytes ask for, which must be Q. */
static osc_status check_question(struct reader *r, const struct osc_partial_question *q,
                                 struct osc_err *err)
{
    const struct osc_table_def *const def = q->def;
    osc_status st = OSC_OK;

    if (q->asked.len > 0 && (size_t)(r->end - r->at) >= q->asked.len &&
        memcmp(r->at, q->asked.s, q->asked.len) == 0) {
        r->at += q->asked.len;
        return OSC_OK;
    }
    const struct osc_str table = get_text(r);
    const uint64_t columns = get_u64(r);
    if (r->is_bad || !table.s || !osc_str_eq(table, osc_str_c(def->name)))
        return osc_fail(err, OSC_EINVAL, "a part of the table %s, not of %s",
                        table.s ? table.s : "", def->name);
    if (columns != hash_columns(def))
        return osc_fail(err, OSC_EINVAL, "a part of %s with other columns than it has here",
                        def->name);
    if (!has_options(r, q, &st))
        return st != OSC_OK ? osc_fail(err, st, "%s", osc_status_text(st))
                            : osc_fail(err, OSC_EINVAL, "parts of %s were asked for otherwise",
                                       def->name);
    return OSC_OK;
}

osc_status osc_partial_open(struct osc_partial *p, struct osc_str bytes,
                            const struct osc_partial_question *q, struct osc_err *err)
{
    struct reader r;
    osc_status st = open_body(&r, bytes, err);

    *p = (struct osc_partial){.bytes = bytes, .is_timed = is_timed(q)};
    if (st != OSC_OK)
        return st;
    st = check_question(&r, q, err);
    if (st != OSC_OK)
        return st;
    p->identity = get_identity(&r);
    p->n_events = get_u64(&r);
    p->n_not_dumped = get_u64(&r);
    p->n_without_window = get_u64(&r);
    p->rows_at = (size_t)(r.at - bytes.s);
    if (r.is_bad)
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    return OSC_OK;
}

/* Read the words of R into OUT; they keep their ids. */
static bool get_words(struct reader *r, struct osc_result *out)
{
    const uint32_t n = get_u32(r);

    for (uint32_t i = 1; i <= n && !r->is_bad && out->status == OSC_OK; i++) {
        const struct osc_str word = get_text(r);

        if (!word.s || osc_result_word(out, word).v != i)
            r->is_bad = true;
    }
    return !r->is_bad;
}

static void get_row(struct reader *r, struct osc_result *out)
{
    const struct osc_table_def *const def = out->def;
    const unsigned char *const has = read_bytes(r, (def->n_columns + 7) / 8);

    osc_result_row(out);
    for (uint32_t c = 0; has && c < def->n_columns && out->status == OSC_OK; c++) {
        if (!(has[c / 8] >> c % 8 & 1))
            continue;
        switch (def->columns[c].type) {
        case OSC_TYPE_STRING: {
            const uint32_t id = get_u32(r);

            r->is_bad = r->is_bad || id > out->dict.n_entries;
            if (!r->is_bad)
                osc_result_sid(out, c, (osc_sid){id});
            break;
        }
        case OSC_TYPE_INTEGER:
            osc_result_int(out, c, (int64_t)get_u64(r));
            break;
        case OSC_TYPE_NUMBER: {
            const uint64_t bits = get_u64(r);
            double d;

            memcpy(&d, &bits, sizeof d);
            osc_result_num(out, c, d);
            break;
        }
        case OSC_TYPE_BOOLEAN:
            osc_result_bool(out, c, get_number(r, 1) != 0);
            break;
        }
    }
}

osc_status osc_partial_read(const struct osc_partial *p, struct osc_result *out,
                            struct osc_err *err)
{
    struct reader r = {p->bytes.s + p->rows_at, p->bytes.s + p->bytes.len, false};
    const struct osc_identity *const id = &p->identity;

    if (p->is_timed && id->alone.origin_ns != id->among.origin_ns)
        return osc_fail(err, OSC_EINVAL, "%s: times were counted from another origin",
                        id->source.s);
    out->shown |= get_u64(&r);
    out->sorted_by = get_u32(&r);
    out->n_left_out = get_u64(&r);
    const struct osc_str notes = get_text(&r);
    if (notes.len > 0)
        osc_strbuf_addstr(&out->notes, notes);
    out->says_why_empty = get_u32(&r) != 0;
    if (get_words(&r, out)) {
        const uint64_t n_rows = get_u64(&r);

        for (uint64_t i = 0; i < n_rows && !r.is_bad && out->status == OSC_OK; i++)
            get_row(&r, out);
    }
    osc_status st = out->notes.status != OSC_OK ? out->notes.status : out->status;
    if (st == OSC_OK && (r.is_bad || r.at != r.end))
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    if (st == OSC_OK)
        st = osc_result_place(out, &id->alone, &id->among);
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}

osc_status osc_result_place(struct osc_result *r, const struct osc_placing *from,
                            const struct osc_placing *to)
{
    const int64_t later_ns = from->origin_ns - to->origin_ns;

    for (uint32_t c = 0; later_ns != 0 && c < r->def->n_columns; c++) {
        if (!(r->def->columns[c].flags & OSC_COLUMN_MOMENT))
            continue;
        for (uint64_t i = 0; i < r->n_rows; i++) {
            if (osc_result_has(r, i, c))
                osc_result_set_int(r, i, c, osc_result_get_int(r, i, c) + later_ns);
        }
    }
    return r->def->place ? r->def->place(r, from, to) : OSC_OK;
}
