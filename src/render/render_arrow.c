/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An Arrow IPC stream (arrow.apache.org/docs/format/Columnar.html, "Encapsulated message
 * format"), version 5 of its metadata: a schema, batches of at most BATCH_ROWS rows, an end.
 *
 * Types are int64, float64, bool and utf8. Fields have their help and unit, and the schema the
 * version of opscope, the table, its sources and its notes, as JSON has them. Invalid UTF-8
 * becomes U+FFFD, and nothing is cut.
 */
#include "render/renderers.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "codec/flatbuffer.h"

#define BATCH_ROWS  8192u
#define BATCH_BYTES ((size_t)64 << 20)

/* Values of Schema.fbs and Message.fbs. */
enum { VERSION_5 = 4, SCHEMA = 1, RECORD_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6 };
enum { PRECISION_DOUBLE = 2 };

/* A column of the batch that is being filled. */
struct column {
    struct osc_strbuf valid; /* a bit for each row */
    struct osc_strbuf ends;  /* of texts: int32_t, one more than rows */
    struct osc_strbuf values;
    int64_t n_missing;
};

struct batch {
    struct column *columns; /* owned */
    uint32_t n_columns;
    int64_t n_rows;
    size_t n_bytes; /* of texts */
};

/* --- messages ------------------------------------------------------------------------ */

/* Begin a message with a header of TYPE, whose fields have SIZES. Returns where the header is.
 */
static size_t begin_message(struct osc_flat *f, struct osc_strbuf *out, int type,
                            int64_t n_body, const uint8_t *sizes, uint16_t n)
{
    /* version, header_type, header, bodyLength */
    static const uint8_t message[] = {2, 1, 4, 8};

    *f = osc_flat_begin(out);
    const size_t root = osc_flat_table(f, OSC_FLAT_ROOT, message, sizeof message);
    osc_flat_set(f, root, 0, VERSION_5, 2);
    osc_flat_set(f, root, 1, type, 1);
    osc_flat_set(f, root, 3, n_body, 8);
    return osc_flat_table(f, osc_flat_field(f, root, 2), sizes, n);
}

/* Append the message METADATA to OUT. */
static void add_message(struct osc_strbuf *out, const struct osc_strbuf *metadata)
{
    const uint32_t head[2] = {UINT32_MAX, (uint32_t)metadata->len};

    osc_strbuf_add(out, (const char *)head, sizeof head);
    osc_strbuf_add(out, metadata->s ? metadata->s : "", metadata->len);
}

/* --- the schema ---------------------------------------------------------------------- */

/* Add a table of type KeyValue to which PLACE refers. */
static void add_pair(struct osc_flat *f, size_t place, const char *key, struct osc_str value)
{
    static const uint8_t sizes[] = {4, 4}; /* key, value */
    const size_t pair = osc_flat_table(f, place, sizes, sizeof sizes);

    osc_flat_text(f, osc_flat_field(f, pair, 0), osc_str_c(key));
    osc_flat_text(f, osc_flat_field(f, pair, 1), value);
}

static struct osc_str str_of(const struct osc_strbuf *b)
{
    return (struct osc_str){b->s ? b->s : "", (uint32_t)b->len};
}

/* Add the type of values of TYPE to the Field FIELD. */
static void add_type(struct osc_flat *f, size_t field, enum osc_type type)
{
    static const struct {
        int number;
        uint8_t sizes[2]; /* Int: bitWidth, is_signed. FloatingPoint: precision */
        uint16_t n;
    } types[] = {[OSC_TYPE_STRING] = {TYPE_UTF8, {0}, 0},
                 [OSC_TYPE_INTEGER] = {TYPE_INT, {4, 1}, 2},
                 [OSC_TYPE_NUMBER] = {TYPE_FLOAT, {2}, 1},
                 [OSC_TYPE_BOOLEAN] = {TYPE_BOOL, {0}, 0}};

    osc_flat_set(f, field, 2, types[type].number, 1);
    const size_t table =
        osc_flat_table(f, osc_flat_field(f, field, 3), types[type].sizes, types[type].n);
    if (type == OSC_TYPE_INTEGER) {
        osc_flat_set(f, table, 0, 64, 4);
        osc_flat_set(f, table, 1, 1, 1);
    } else if (type == OSC_TYPE_NUMBER) {
        osc_flat_set(f, table, 0, PRECISION_DOUBLE, 2);
    }
}

/* Add the Field of COLUMN of DEF, to which PLACE refers. */
static osc_status add_field(struct osc_flat *f, size_t place, const struct osc_table_def *def,
                            const struct osc_column *column)
{
    /* name, nullable, type_type, type, dictionary, children, custom_metadata */
    static const uint8_t sizes[] = {4, 1, 1, 4, 0, 4, 4};
    const size_t field = osc_flat_table(f, place, sizes, sizeof sizes);
    struct osc_strbuf help = {0};

    osc_flat_text(f, osc_flat_field(f, field, 0), osc_str_c(column->name));
    osc_flat_set(f, field, 1, 1, 1);
    add_type(f, field, column->type);
    osc_flat_vector(f, osc_flat_field(f, field, 5), 0);
    const size_t pairs = osc_flat_vector(f, osc_flat_field(f, field, 6), column->unit ? 2 : 1);
    osc_sheet_add_help(&help, def, column);
    add_pair(f, pairs, "help", str_of(&help));
    if (column->unit)
        add_pair(f, pairs + 4, "unit", osc_str_c(column->unit));
    const osc_status st = help.status;
    osc_strbuf_fini(&help);
    return st;
}

/* Add what JSON says beside the rows of S to the Schema SCHEMA_AT. */
static osc_status add_about(struct osc_flat *f, size_t schema_at, const struct osc_sheet *s)
{
    const size_t pairs = osc_flat_vector(f, osc_flat_field(f, schema_at, 2), 4);
    struct osc_strbuf sources = {0}, notes = {0};

    for (uint32_t i = 0; i < s->n_sources; i++) {
        osc_strbuf_adds(&sources, i > 0 ? "\n" : "");
        osc_utf8_append_clean(&sources, s->sources[i]);
    }
    osc_utf8_append_clean(&notes, str_of(&s->notes));
    if (notes.len > 0 && notes.s[notes.len - 1] == '\n')
        notes.len--;
    add_pair(f, pairs, "opscope", osc_str_c(OSC_VERSION));
    add_pair(f, pairs + 4, "table", osc_str_c(s->def->name));
    add_pair(f, pairs + 8, "sources", str_of(&sources));
    add_pair(f, pairs + 12, "notes", str_of(&notes));
    const osc_status st = sources.status != OSC_OK ? sources.status : notes.status;
    osc_strbuf_fini(&sources);
    osc_strbuf_fini(&notes);
    return st;
}

static osc_status add_schema(struct osc_render *r)
{
    static const uint8_t sizes[] = {2, 4, 4}; /* endianness, fields, custom_metadata */
    const struct osc_sheet *const s = r->sheet;
    struct osc_strbuf metadata = {0};
    struct osc_flat f;
    osc_status st = OSC_OK;

    const size_t at = begin_message(&f, &metadata, SCHEMA, 0, sizes, sizeof sizes);
    const size_t fields = osc_flat_vector(&f, osc_flat_field(&f, at, 1), s->n_columns);
    for (uint32_t c = 0; c < s->n_columns && st == OSC_OK; c++)
        st = add_field(&f, fields + 4 * (size_t)c, s->def, s->columns[c].column);
    if (st == OSC_OK)
        st = add_about(&f, at, s);
    osc_flat_end(&f);
    add_message(&r->out, &metadata);
    st = st == OSC_OK ? metadata.status : st;
    osc_strbuf_fini(&metadata);
    return st;
}

/* --- batches ------------------------------------------------------------------------- */

/* The buffers of column C of the type TYPE, in the order of the format; returns how many. The
 * first is left out (NULL) where nothing is missing. */
static int buffers_of(const struct column *c, enum osc_type type,
                      const struct osc_strbuf *buffers[3])
{
    int n = 0;

    buffers[n++] = c->n_missing > 0 ? &c->valid : NULL;
    if (type == OSC_TYPE_STRING)
        buffers[n++] = &c->ends;
    buffers[n++] = &c->values;
    return n;
}

static size_t round_up(size_t n)
{
    return (n + 7) / 8 * 8;
}

static void clear(struct batch *b)
{
    for (uint32_t c = 0; c < b->n_columns; c++) {
        osc_strbuf_clear(&b->columns[c].valid);
        osc_strbuf_clear(&b->columns[c].ends);
        osc_strbuf_clear(&b->columns[c].values);
        b->columns[c].n_missing = 0;
    }
    b->n_rows = 0;
    b->n_bytes = 0;
}

/* Append the metadata of the batch of R, whose NODES and BUFFERS are described, to OUT. */
static void add_batch_metadata(struct osc_strbuf *out, const struct batch *b,
                               const int64_t (*nodes)[2], const int64_t (*buffers)[2],
                               uint32_t n_buffers, size_t n_body)
{
    static const uint8_t sizes[] = {8, 4, 4}; /* length, nodes, buffers */
    struct osc_flat f;

    const size_t at =
        begin_message(&f, out, RECORD_BATCH, (int64_t)n_body, sizes, sizeof sizes);
    osc_flat_set(&f, at, 0, b->n_rows, 8);
    osc_flat_pairs(&f, osc_flat_field(&f, at, 1), nodes, b->n_columns);
    osc_flat_pairs(&f, osc_flat_field(&f, at, 2), buffers, n_buffers);
    osc_flat_end(&f);
}

/* Write what the batch of R has, if anything, and empty it. */
static osc_status write_batch(struct osc_render *r)
{
    struct batch *const b = r->state;
    int64_t(*const nodes)[2] = osc_calloc(b->n_columns + 1u, sizeof *nodes);
    int64_t(*const places)[2] = osc_calloc(3u * b->n_columns + 1u, sizeof *places);
    struct osc_strbuf metadata = {0}, body = {0};
    uint32_t n = 0;
    osc_status st = nodes && places ? OSC_OK : OSC_ENOMEM;

    for (uint32_t c = 0; c < b->n_columns && st == OSC_OK; c++) {
        const struct osc_strbuf *buffers[3];
        const int n_own =
            buffers_of(&b->columns[c], r->sheet->columns[c].column->type, buffers);

        nodes[c][0] = b->n_rows;
        nodes[c][1] = b->columns[c].n_missing;
        for (int i = 0; i < n_own; i++, n++) {
            places[n][0] = (int64_t)body.len;
            places[n][1] = buffers[i] ? (int64_t)buffers[i]->len : 0;
            if (!buffers[i])
                continue;
            osc_strbuf_add(&body, buffers[i]->s ? buffers[i]->s : "", buffers[i]->len);
            osc_strbuf_pad(&body, '\0', round_up(body.len) - body.len);
            st = buffers[i]->status != OSC_OK ? buffers[i]->status : st;
        }
    }
    if (st == OSC_OK && b->n_rows > 0) {
        add_batch_metadata(&metadata, b, (const int64_t(*)[2])nodes,
                           (const int64_t(*)[2])places, n, body.len);
        add_message(&r->out, &metadata);
        osc_strbuf_add(&r->out, body.s ? body.s : "", body.len);
        st = metadata.status != OSC_OK ? metadata.status : body.status;
    }
    clear(b);
    osc_strbuf_fini(&metadata);
    osc_strbuf_fini(&body);
    osc_free(nodes);
    osc_free(places);
    return st == OSC_OK ? osc_render_flush(r, false) : st;
}

/* Append bit VALUE as number AT. */
static void add_bit(struct osc_strbuf *out, int64_t at, bool value)
{
    if (at % 8 == 0)
        osc_strbuf_addc(out, '\0');
    if (value && out->status == OSC_OK)
        out->s[at / 8] = (char)((unsigned char)out->s[at / 8] | 1u << at % 8);
}

static void add_end(struct column *c)
{
    const int32_t end = (int32_t)c->values.len;

    osc_strbuf_add(&c->ends, (const char *)&end, sizeof end);
}

/* Append CELL, which may be missing, as row N_ROWS of C. */
static void add_cell(struct column *c, const struct osc_cell *cell, int64_t n_rows)
{
    const int64_t i = cell->is_missing ? 0 : cell->i;
    const double d = cell->is_missing ? 0 : cell->d;

    add_bit(&c->valid, n_rows, !cell->is_missing);
    c->n_missing += cell->is_missing;
    switch (cell->type) {
    case OSC_TYPE_STRING:
        if (n_rows == 0)
            add_end(c);
        if (!cell->is_missing)
            osc_utf8_append_clean(&c->values, cell->s);
        add_end(c);
        break;
    case OSC_TYPE_INTEGER:
        osc_strbuf_put(&c->values, (const char *)&i, sizeof i);
        break;
    case OSC_TYPE_NUMBER:
        osc_strbuf_put(&c->values, (const char *)&d, sizeof d);
        break;
    case OSC_TYPE_BOOLEAN:
        add_bit(&c->values, n_rows, i != 0);
        break;
    }
}

/* --- the renderer -------------------------------------------------------------------- */

static void fini(struct osc_render *r)
{
    struct batch *const b = r->state;

    for (uint32_t c = 0; b && c < b->n_columns; c++) {
        osc_strbuf_fini(&b->columns[c].valid);
        osc_strbuf_fini(&b->columns[c].ends);
        osc_strbuf_fini(&b->columns[c].values);
    }
    if (b)
        osc_free(b->columns);
    osc_free(b);
    r->state = NULL;
}

static osc_status begin(struct osc_render *r)
{
    struct batch *const b = osc_calloc(1, sizeof *b);

    if (!b)
        return OSC_ENOMEM;
    r->state = b;
    b->columns = osc_calloc(r->sheet->n_columns + 1u, sizeof *b->columns);
    if (!b->columns)
        return OSC_ENOMEM;
    b->n_columns = r->sheet->n_columns;
    return add_schema(r);
}

static osc_status rows(struct osc_render *r, const struct osc_rows *rows)
{
    struct batch *const b = r->state;
    osc_status st = OSC_OK;

    for (uint64_t i = 0; i < rows->n_rows && st == OSC_OK; i++) {
        for (uint32_t c = 0; c < b->n_columns; c++) {
            const struct osc_cell cell = osc_rows_cell(rows, i, &r->sheet->columns[c]);

            add_cell(&b->columns[c], &cell, b->n_rows);
            if (cell.type == OSC_TYPE_STRING && !cell.is_missing)
                b->n_bytes += cell.s.len;
        }
        b->n_rows++;
        if (b->n_rows == BATCH_ROWS || b->n_bytes > BATCH_BYTES)
            st = write_batch(r);
    }
    return st;
}

static osc_status end(struct osc_render *r)
{
    static const uint32_t last[2] = {UINT32_MAX, 0};
    const osc_status st = write_batch(r);

    osc_strbuf_add(&r->out, (const char *)last, sizeof last);
    return st;
}

const struct osc_renderer osc_render_arrow = {
    .name = "arrow",
    .help = "an Arrow IPC stream, exact, for files and pipes",
    .is_machine = true,
    .one_table = "Arrow",
    .is_binary = true,
    .begin = begin,
    .rows = rows,
    .end = end,
    .fini = fini,
};
