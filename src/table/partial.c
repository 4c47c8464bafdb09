/* SPDX-License-Identifier: Apache-2.0 */
#include "table/partial.h"

#include <string.h>

#include "base/fields.h"
#include "base/hash.h"

static const char magic[8] = "oscpart";

/* --- writing ------------------------------------------------------------------------ */

static void put_placing(struct osc_strbuf *out, const struct osc_placing *p)
{
    osc_put_u32(out, (uint32_t)p->rank);
    osc_put_u32(out, (uint32_t)p->span);
    osc_put_u64(out, (uint64_t)p->origin_ns);
    osc_put_u64(out, (uint64_t)p->base_ns);
    osc_put_u32(out, p->is_unaligned);
    osc_put_u32(out, p->is_beside_steps);
    osc_put_u32(out, p->shares_steps);
    osc_put_u32(out, p->piece);
}

static void put_identity(struct osc_strbuf *out, const struct osc_identity *id)
{
    osc_put_text(out, id->path);
    osc_put_text(out, id->source);
    osc_put_text(out, id->boot_id);
    osc_put_text(out, id->host);
    osc_put_text(out, id->run_id);
    osc_put_text(out, id->torch_version);
    osc_put_u32(out, id->number);
    osc_put_u32(out, id->has_rank);
    osc_put_u64(out, id->n_events);
    osc_put_u64(out, (uint64_t)id->min_ts_ns);
    osc_put_u64(out, (uint64_t)id->max_end_ns);
    osc_put_u64(out, (uint64_t)id->from_ns);
    osc_put_u64(out, (uint64_t)id->to_ns);
    osc_put_u64(out, (uint64_t)id->pid);
    osc_put_u64(out, (uint64_t)id->parent_pid);
    osc_put_u32(out, id->has_steps);
    osc_put_u32(out, id->is_piece);
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
    return osc_options_name_time(q->options) || q->is_timed;
}

/* Write what rows depend on besides table and trace. */
static void put_options(struct osc_strbuf *out, const struct osc_partial_question *q)
{
    const struct osc_options *const o = q->options;
    osc_put_c_text(out, o->group_by);
    osc_put_u8(out, is_timed(q));
    osc_put_u8(out, o->has_rest);
    for (size_t i = 0; q->def->options && q->def->options[i]; i++) {
        const struct osc_option_value *const v = osc_option_get(o, q->def->options[i]);

        osc_put_u8(out, v != NULL);
        osc_put_c_text(out, v && v->option->kind != OSC_OPTION_TIME ? v->text : NULL);
        osc_put_u64(out, v ? (uint64_t)v->number : 0);
    }
    osc_put_c_text(out, q->choice);
    osc_put_u64(out, q->n_rows);
    osc_put_c_text(out, q->n_rows > 0 ? q->sort : NULL);
}

static void put_row(struct osc_strbuf *out, const struct osc_result *r, uint64_t row)
{
    const struct osc_table_def *const def = r->def;

    for (uint32_t c = 0; c < def->n_columns; c += 8) {
        unsigned bits = 0;

        for (uint32_t k = c; k < c + 8 && k < def->n_columns; k++)
            bits |= (unsigned)osc_result_has(r, row, k) << (k - c);
        osc_put_u8(out, bits);
    }
    for (uint32_t c = 0; c < def->n_columns; c++) {
        if (!osc_result_has(r, row, c))
            continue;
        switch (def->columns[c].type) {
        case OSC_TYPE_STRING:
            osc_put_u32(out, osc_result_get_sid(r, row, c).v);
            break;
        case OSC_TYPE_INTEGER:
            osc_put_u64(out, (uint64_t)osc_result_get_int(r, row, c));
            break;
        case OSC_TYPE_NUMBER: {
            const double d = osc_result_get_num(r, row, c);
            uint64_t bits;

            memcpy(&bits, &d, sizeof bits);
            osc_put_u64(out, bits);
            break;
        }
        case OSC_TYPE_BOOLEAN:
            osc_put_u8(out, osc_result_get_bool(r, row, c));
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
    osc_put_c_text(out, q->def->name);
    osc_put_u64(out, hash_columns(q->def));
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
    osc_put_u64(out, t->events.n_rows);
    osc_trace_read(t);
    osc_put_u64(out, n_of(t, OSC_FINDING_nothing_dumped));
    osc_put_u64(out, n_of(t, OSC_FINDING_no_window));
    osc_trace_read_end(t);
    osc_put_u64(out, r->shown);
    osc_put_u32(out, r->sorted_by);
    osc_put_u64(out, r->n_left_out);
    osc_put_text(out, (struct osc_str){r->notes.s ? r->notes.s : "", (uint32_t)r->notes.len});
    osc_put_u32(out, r->says_why_empty);
    osc_put_u32(out, r->dict.n_entries);
    for (uint32_t i = 1; i <= r->dict.n_entries; i++)
        osc_put_text(out, osc_intern_str(&r->dict, (osc_sid){i}));
    osc_put_u64(out, r->n_rows);
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
    osc_fields_store(head + sizeof magic, OSC_PARTIAL_VERSION, 8); /* and four zeroes */
    osc_fields_store(head + sizeof magic + 8, len, 8);
    osc_fields_store(head + sizeof magic + 16, osc_hash(body, len, OSC_PARTIAL_SEED), 8);
    return OSC_OK;
}

/* --- reading ------------------------------------------------------------------------ */

static struct osc_placing get_placing(struct osc_fields *r)
{
    struct osc_placing p = {.rank = (int32_t)osc_get_u32(r)};

    p.span = (int32_t)osc_get_u32(r);
    p.origin_ns = (int64_t)osc_get_u64(r);
    p.base_ns = (int64_t)osc_get_u64(r);
    p.is_unaligned = osc_get_u32(r) != 0;
    p.is_beside_steps = osc_get_u32(r) != 0;
    p.shares_steps = osc_get_u32(r) != 0;
    p.piece = osc_get_u32(r);
    return p;
}

static struct osc_identity get_identity(struct osc_fields *r)
{
    struct osc_identity id = {.path = osc_get_text(r)};

    id.source = osc_get_text(r);
    id.boot_id = osc_get_text(r);
    id.host = osc_get_text(r);
    id.run_id = osc_get_text(r);
    id.torch_version = osc_get_text(r);
    id.number = osc_get_u32(r);
    id.has_rank = osc_get_u32(r) != 0;
    id.n_events = osc_get_u64(r);
    id.min_ts_ns = (int64_t)osc_get_u64(r);
    id.max_end_ns = (int64_t)osc_get_u64(r);
    id.from_ns = (int64_t)osc_get_u64(r);
    id.to_ns = (int64_t)osc_get_u64(r);
    id.pid = (int64_t)osc_get_u64(r);
    id.parent_pid = (int64_t)osc_get_u64(r);
    id.has_steps = osc_get_u32(r) != 0;
    id.is_piece = osc_get_u32(r) != 0;
    id.alone = get_placing(r);
    id.among = get_placing(r);
    if (!id.path.s || !id.source.s)
        r->is_bad = true;
    return id;
}

/* Whether the next bytes are the options of Q. */
static bool has_options(struct osc_fields *r, const struct osc_partial_question *q,
                        osc_status *st)
{
    struct osc_strbuf own = {0};

    put_options(&own, q);
    *st = own.status;
    const char *const p = osc_get_bytes(r, own.len);
    const bool is_same = p && own.status == OSC_OK && memcmp(p, own.s, own.len) == 0;
    osc_strbuf_fini(&own);
    return is_same;
}

/* Start to read the body in BYTES, if they are intact. */
static osc_status open_body(struct osc_fields *r, struct osc_str bytes, struct osc_err *err)
{
    *r = (struct osc_fields){bytes.s, bytes.s + bytes.len, false};
    const char *const head = osc_get_bytes(r, sizeof magic);
    const uint32_t version = osc_get_u32(r);
    (void)osc_get_u32(r);
    const uint64_t len = osc_get_u64(r), hash = osc_get_u64(r);

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
    struct osc_fields r = {rest->s, rest->s + rest->len, false};
    const char *const head = osc_get_bytes(&r, sizeof magic);
    (void)osc_get_u64(&r); /* version */
    const uint64_t len = osc_get_u64(&r);

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
static osc_status check_question(struct osc_fields *r, const struct osc_partial_question *q,
                                 struct osc_err *err)
{
    const struct osc_table_def *const def = q->def;
    osc_status st = OSC_OK;

    if (q->asked.len > 0 && (size_t)(r->end - r->at) >= q->asked.len &&
        memcmp(r->at, q->asked.s, q->asked.len) == 0) {
        r->at += q->asked.len;
        return OSC_OK;
    }
    const struct osc_str table = osc_get_text(r);
    const uint64_t columns = osc_get_u64(r);
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

void osc_partial_keep(struct osc_partial *p, const struct osc_trace *t)
{
    *p = (struct osc_partial){.trace = t, .n_events = t->events.n_rows};
    p->identity.path = p->identity.source = osc_trace_str(t, t->source);
    p->identity.among = (struct osc_placing){.rank = t->rank,
                                             .span = t->span,
                                             .piece = t->piece,
                                             .origin_ns = t->origin_ns,
                                             .base_ns = t->base_ns,
                                             .is_beside_steps = t->is_beside_steps,
                                             .shares_steps = t->shares_steps};
    osc_trace_read(t);
    p->n_not_dumped = n_of(t, OSC_FINDING_nothing_dumped);
    p->n_without_window = n_of(t, OSC_FINDING_no_window);
    osc_trace_read_end(t);
}

osc_status osc_partial_open(struct osc_partial *p, struct osc_str bytes,
                            const struct osc_partial_question *q, struct osc_err *err)
{
    struct osc_fields r;
    osc_status st = open_body(&r, bytes, err);

    *p = (struct osc_partial){.bytes = bytes, .is_timed = is_timed(q)};
    if (st != OSC_OK)
        return st;
    st = check_question(&r, q, err);
    if (st != OSC_OK)
        return st;
    p->identity = get_identity(&r);
    p->n_events = osc_get_u64(&r);
    p->n_not_dumped = osc_get_u64(&r);
    p->n_without_window = osc_get_u64(&r);
    p->rows_at = (size_t)(r.at - bytes.s);
    if (r.is_bad)
        return osc_fail(err, OSC_EINVAL, "a part of a table is damaged");
    return OSC_OK;
}

/* Read the words of R into OUT; they keep their ids. */
static bool get_words(struct osc_fields *r, struct osc_result *out)
{
    const uint32_t n = osc_get_u32(r);

    for (uint32_t i = 1; i <= n && !r->is_bad && out->status == OSC_OK; i++) {
        const struct osc_str word = osc_get_text(r);

        if (!word.s || osc_result_word(out, word).v != i)
            r->is_bad = true;
    }
    return !r->is_bad;
}

static void get_row(struct osc_fields *r, struct osc_result *out)
{
    const struct osc_table_def *const def = out->def;
    const char *const has = osc_get_bytes(r, (def->n_columns + 7) / 8);

    osc_result_row(out);
    for (uint32_t c = 0; has && c < def->n_columns && out->status == OSC_OK; c++) {
        if (!(has[c / 8] >> c % 8 & 1))
            continue;
        switch (def->columns[c].type) {
        case OSC_TYPE_STRING: {
            const uint32_t id = osc_get_u32(r);

            r->is_bad = r->is_bad || id > out->dict.n_entries;
            if (!r->is_bad)
                osc_result_sid(out, c, (osc_sid){id});
            break;
        }
        case OSC_TYPE_INTEGER:
            osc_result_int(out, c, (int64_t)osc_get_u64(r));
            break;
        case OSC_TYPE_NUMBER: {
            const uint64_t bits = osc_get_u64(r);
            double d;

            memcpy(&d, &bits, sizeof d);
            osc_result_num(out, c, d);
            break;
        }
        case OSC_TYPE_BOOLEAN:
            osc_result_bool(out, c, osc_get_number(r, 1) != 0);
            break;
        }
    }
}

osc_status osc_partial_read(const struct osc_partial *p, struct osc_result *out,
                            struct osc_err *err)
{
    struct osc_fields r = {p->bytes.s + p->rows_at, p->bytes.s + p->bytes.len, false};
    const struct osc_identity *const id = &p->identity;

    if (p->is_timed && id->alone.origin_ns != id->among.origin_ns)
        return osc_fail(err, OSC_EINVAL, "%s: times were counted from another origin",
                        id->source.s);
    out->shown |= osc_get_u64(&r);
    out->sorted_by = osc_get_u32(&r);
    out->n_left_out = osc_get_u64(&r);
    const struct osc_str notes = osc_get_text(&r);
    if (notes.len > 0)
        osc_strbuf_addstr(&out->notes, notes);
    out->says_why_empty = osc_get_u32(&r) != 0;
    if (get_words(&r, out)) {
        const uint64_t n_rows = osc_get_u64(&r);

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
    const struct osc_mapping *const how = r->def->mapping;

    return how && how->place ? how->place(r, from, to) : OSC_OK;
}
