/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opscope's own format: the sealed trace as columns, to be read and used.
 *
 * A chunk of events with all its rows is written as it is in memory; if rows were left out,
 * the others are packed into new chunks.
 */
#include "export/column_file.h"

#include <string.h>

#include "base/mem.h"
#include "derive/derive.h"
#include "export/exporters.h"
#include "wire/column_layout.h"

struct writing {
    const struct osc_export *x;
    uint64_t offset;                    /* in the file */
    struct osc_wire_index_entry *index; /* owned */
    size_t n_index, cap_index;
    uint64_t n_rows_done, n_rows_all; /* of all traces */
    osc_status status;                /* sticky */

    /* About the trace being written. */
    const struct osc_trace *t;
    uint16_t part;
    struct osc_column_file_used used;
    bool is_other;         /* about the store being written: */
    uint64_t n_rows;       /* written so far */
    struct osc_chunk pack; /* rows being packed */
    char *room;            /* owned; the columns of pack */
    uint32_t *words;       /* owned; their words */
    size_t cap_words;
};

/* --- chunks ----------------------------------------------------------------------------- */

static void put(struct writing *w, const void *p, size_t n)
{
    if (w->status == OSC_OK && n > 0)
        w->status = w->x->sink.write(w->x->sink.ctx, p, n);
    w->offset += n;
}

static void put_padding(struct writing *w, size_t n_bytes)
{
    static const char zeroes[OSC_WIRE_ALIGN];

    put(w, zeroes, (OSC_WIRE_ALIGN - n_bytes % OSC_WIRE_ALIGN) % OSC_WIRE_ALIGN);
}

/* Write N bytes at P as a chunk; H describes them. */
static void put_chunk(struct writing *w, struct osc_wire_header h, const void *p, size_t n)
{
    h.flags = w->part;
    h.payload_bytes = n;
    h.payload_hash = osc_wire_payload_hash(h.type, p, n);
    osc_wire_header_seal(&h);
    /* The index is not in itself, and P is its array, which must not move. */
    if (w->status == OSC_OK && h.type != OSC_CHUNK_INDEX)
        w->status = osc_grow(&w->index, &w->cap_index, w->n_index + 1, sizeof *w->index);
    if (w->status == OSC_OK && h.type != OSC_CHUNK_INDEX) {
        w->index[w->n_index] = (struct osc_wire_index_entry){w->offset, h};
        w->index[w->n_index++].header.magic = 0; /* or a search would find it */
    }
    put(w, &h, sizeof h);
    put(w, p, n);
    put_padding(w, n);
}

static void put_table(struct writing *w, enum osc_chunk_type type, struct osc_strbuf *payload,
                      uint64_t n_items)
{
    if (payload->status != OSC_OK && w->status == OSC_OK)
        w->status = payload->status;
    if (w->status == OSC_OK)
        put_chunk(w, (struct osc_wire_header){.type = (uint16_t)type, .n_items = n_items},
                  payload->s, payload->len);
}

/* --- columns ---------------------------------------------------------------------------- */

static void put_column(struct writing *w, const struct osc_chunk *c, enum osc_wire_column k,
                       const void *p, size_t n)
{
    const unsigned first = w->is_other ? OSC_CHUNK_OTHERS : OSC_CHUNK_EVENTS;

    put_chunk(w,
              (struct osc_wire_header){.type = (uint16_t)(first + k),
                                       .n_items = c->n_rows,
                                       .n_before = w->n_rows,
                                       .first_ticks = (uint64_t)c->min_ts_ns,
                                       .last_ticks = (uint64_t)c->max_end_ns},
              p, n);
}

static void put_rows(struct writing *w, const struct osc_chunk *c)
{
    const struct osc_export_sink *const sink = &w->x->sink;
    const size_t n = c->n_rows;

    put_column(w, c, OSC_COLUMN_TS, c->ts_ns, n * sizeof *c->ts_ns);
    put_column(w, c, OSC_COLUMN_NAME, c->name, n * sizeof *c->name);
    put_column(w, c, OSC_COLUMN_FORM, c->form, n * sizeof *c->form);
    put_column(w, c, OSC_COLUMN_TRACK, c->track, n * sizeof *c->track);
    put_column(w, c, OSC_COLUMN_ARG_WORD, c->arg_word, n * sizeof *c->arg_word);
    put_column(w, c, OSC_COLUMN_ARGS, c->args, c->n_arg_words * sizeof *c->args);
    if (!w->is_other) {
        put_column(w, c, OSC_COLUMN_DUR, c->dur_ns, n * sizeof *c->dur_ns);
        put_column(w, c, OSC_COLUMN_KIND, c->kind, n);
    }
    w->n_rows += n;
    w->n_rows_done += n;
    if (w->status == OSC_OK && sink->progress &&
        !sink->progress(sink->ctx, w->n_rows_done, w->n_rows_all))
        w->status = OSC_ECANCELED;
}

/* --- rows packed anew ------------------------------------------------------------------- */

/* ts_ns, dur_ns, name, form, track, arg_word, kind */
#define ROW_BYTES (2u * 8u + 4u * 4u + 1u)

static bool make_room(struct writing *w)
{
    struct osc_chunk *const c = &w->pack;

    if (!w->room) {
        w->room = osc_malloc((size_t)OSC_CHUNK_ROWS * ROW_BYTES);
        if (!w->room) {
            w->status = OSC_ENOMEM;
            return false;
        }
        c->ts_ns = (int64_t *)(void *)w->room;
        c->dur_ns = c->ts_ns + OSC_CHUNK_ROWS;
        c->name = (uint32_t *)(void *)(c->dur_ns + OSC_CHUNK_ROWS);
        c->form = c->name + OSC_CHUNK_ROWS;
        c->track = c->form + OSC_CHUNK_ROWS;
        c->arg_word = c->track + OSC_CHUNK_ROWS;
        c->kind = (uint8_t *)(c->arg_word + OSC_CHUNK_ROWS);
    }
    return true;
}

static void flush(struct writing *w)
{
    struct osc_chunk *const c = &w->pack;

    if (c->n_rows > 0 && w->status == OSC_OK) {
        c->args = w->words;
        if (w->is_other)
            c->min_ts_ns = c->max_end_ns = 0;
        put_rows(w, c);
    }
    c->n_rows = c->n_arg_words = 0;
}

/* Copy the values of a row of form F; redacted words between them are left out. */
static uint32_t copy_words(const struct osc_form *f, const uint32_t *from, uint32_t *to)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < f->n_slots; k++) {
        const uint32_t n_words = osc_arg_words((enum osc_arg_type)f->slots[k].type);

        for (uint32_t i = 0; i < n_words; i++)
            to[n++] = from[f->slots[k].word + i];
    }
    return n;
}

static void pack_row(struct writing *w, const struct osc_chunk *from, uint32_t i)
{
    struct osc_chunk *const c = &w->pack;
    const struct osc_form *const f = osc_row_form(w->t, from, i);
    const uint32_t to = c->n_rows;

    if (w->status == OSC_OK)
        w->status = osc_grow(&w->words, &w->cap_words, (size_t)c->n_arg_words + f->n_words + 1,
                             sizeof *w->words);
    if (w->status != OSC_OK || !make_room(w))
        return;
    c->ts_ns[to] = from->ts_ns[i];
    c->name[to] = from->name[i];
    c->form[to] = from->form[i];
    c->track[to] = from->track[i];
    c->arg_word[to] = c->n_arg_words;
    c->n_arg_words += copy_words(f, osc_row_words(from, i), w->words + c->n_arg_words);
    if (!w->is_other) {
        const int64_t end_ns = osc_row_end(from, i);

        c->dur_ns[to] = from->dur_ns[i];
        c->kind[to] = from->kind[i];
        c->min_ts_ns = to == 0 || from->ts_ns[i] < c->min_ts_ns ? from->ts_ns[i] : c->min_ts_ns;
        c->max_end_ns = to == 0 || end_ns > c->max_end_ns ? end_ns : c->max_end_ns;
    }
    if (++c->n_rows == OSC_CHUNK_ROWS)
        flush(w);
}

/* --- traces ----------------------------------------------------------------------------- */

/* Whether there are words between the values of rows that belong to no slot: --no-args. */
static bool has_silent_words(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        uint32_t n_words = 0;

        for (uint32_t k = 0; k < t->forms[i].n_slots; k++)
            n_words += osc_arg_words((enum osc_arg_type)t->forms[i].slots[k].type);
        if (n_words != t->forms[i].n_words)
            return true;
    }
    return false;
}

/* Whether rows of T were left out or their values changed. */
static bool is_cut(const struct writing *w)
{
    return w->t->is_selected || w->x->is_redacted || has_silent_words(w->t);
}

static void put_events(struct writing *w)
{
    const struct osc_store *const s = &w->t->events;
    const bool is_packed = is_cut(w);

    w->is_other = false;
    w->n_rows = 0;
    for (uint32_t k = 1; k < s->n_chunks && w->status == OSC_OK; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        if (!is_packed && c->n_more == 0 && c->n_rows > 0) {
            flush(w);
            put_rows(w, c);
            continue;
        }
        for (uint32_t i = 0; i < c->n_rows; i++)
            pack_row(w, c, i);
    }
    flush(w);
}

static void put_others(struct writing *w)
{
    const struct osc_store *const s = &w->t->others;

    w->is_other = true;
    w->n_rows = 0;
    for (uint32_t k = 1; k < s->n_chunks && w->status == OSC_OK; k++) {
        const struct osc_chunk *const c = s->chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (osc_column_file_keeps(w->t, c, i))
                pack_row(w, c, i);
        }
    }
    flush(w);
}

static uint64_t count_others(const struct osc_trace *t)
{
    uint64_t n = 0;

    for (uint32_t k = 1; k < t->others.n_chunks; k++) {
        const struct osc_chunk *const c = t->others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++)
            n += osc_column_file_keeps(t, c, i);
    }
    return n;
}

static void put_trace(struct writing *w)
{
    const struct osc_trace *const t = w->t;
    struct osc_strbuf model = {0}, texts = {0}, forms = {0}, tracks = {0}, devices = {0};

    osc_column_file_model(t, count_others(t), w->x->n_traces, &model);
    osc_column_file_texts(t, &w->used, &texts);
    osc_column_file_forms(t, &w->used, &forms);
    osc_column_file_tracks(t, &w->used, &tracks);
    osc_column_file_devices(t, &devices);
    for (int copy = 0; copy < 2; copy++) {
        put_table(w, OSC_CHUNK_MODEL, &model, 1);
        put_table(w, OSC_CHUNK_TEXTS, &texts, osc_strings_bound(&t->strings));
        put_table(w, OSC_CHUNK_FORMS, &forms, t->n_forms);
        put_table(w, OSC_CHUNK_TRACKS, &tracks, t->n_tracks);
        put_table(w, OSC_CHUNK_DEVICES, &devices, t->n_devices);
        if (copy == 0) {
            put_events(w);
            put_others(w);
        }
    }
    osc_strbuf_fini(&model);
    osc_strbuf_fini(&texts);
    osc_strbuf_fini(&forms);
    osc_strbuf_fini(&tracks);
    osc_strbuf_fini(&devices);
}

/* Add the names of the counted codes to the strings: the file refers to them. */
static osc_status name_findings(struct osc_trace *t)
{
    osc_status st = OSC_OK;

    for (unsigned i = 0; i < OSC_FINDING_COUNT && st == OSC_OK; i++) {
        const char *const code = osc_finding_code_text((enum osc_finding_code)i);
        osc_sid id;

        if (t->findings.by_code[i].count > 0)
            st = osc_strings_add(&t->strings, osc_str_c(code), &id, NULL);
    }
    return st;
}

static osc_status write_trace(struct writing *w, struct osc_trace *t)
{
    osc_status st;

    w->t = t;
    if (osc_strings_bound(&t->strings) > INT32_MAX)
        return OSC_ELIMIT; /* readers use the sign bit of ids */
    osc_derive_forget(t);  /* readers derive and count again */
    st = name_findings(t);
    if (st == OSC_OK && is_cut(w))
        st = osc_column_file_used_find(&w->used, t, t->is_selected || w->x->is_redacted);
    if (st == OSC_OK) {
        put_trace(w);
        st = w->status;
    }
    osc_column_file_used_fini(&w->used);
    w->part++;
    return st;
}

static void put_header(struct writing *w)
{
    struct osc_file_header h = {
        .version = OSC_FILE_VERSION, .header_bytes = sizeof h, .part = 1};

    osc_file_header_seal(&h);
    put(w, &h, sizeof h);
}

static void put_index(struct writing *w)
{
    const struct osc_trailer trailer = {w->offset, OSC_TRAILER_MAGIC};

    w->part = 0;
    put_chunk(w, (struct osc_wire_header){.type = OSC_CHUNK_INDEX, .n_items = w->n_index},
              w->index, w->n_index * sizeof *w->index);
    put(w, &trailer, sizeof trailer);
}

static osc_status write_traces(const struct osc_export *x, struct osc_err *err)
{
    struct writing w = {.x = x};
    osc_status st = OSC_OK;

    if (x->n_traces > UINT16_MAX)
        return osc_fail(err, OSC_ELIMIT, "a file holds at most %u traces", UINT16_MAX);
    for (uint32_t i = 0; i < x->n_traces; i++)
        w.n_rows_all += (uint64_t)x->traces[i]->events.n_rows + x->traces[i]->others.n_rows;
    put_header(&w);
    for (uint32_t i = 0; i < x->n_traces && st == OSC_OK; i++)
        st = write_trace(&w, x->traces[i]);
    if (st == OSC_OK)
        put_index(&w);
    osc_free(w.index);
    osc_free(w.room);
    osc_free(w.words);
    if (st == OSC_OK)
        st = w.status;
    if (st == OSC_ENOMEM)
        (void)osc_fail(err, st, "out of memory while writing");
    return st;
}

const struct osc_exporter osc_export_osc = {
    .name = "osc",
    .suffixes = ".osc",
    .help = "opscope's own form, which every command opens at once",
    .takes_callers = true,
    .takes_many = true,
    .write = write_traces,
};
