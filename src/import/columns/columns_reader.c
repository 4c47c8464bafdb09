/* SPDX-License-Identifier: Apache-2.0 */
#include "import/columns/columns_reader.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "import/chrome/chrome_about.h"
#include "import/chrome/clues.h"
#include "import/chrome/dialect.h"
#include "import/chrome/lines.h"

/* A table copies each text, as in import/build/builder.c. */
#define LONG_BYTES  65536u
#define LONG_COPIES 6u

struct opening {
    struct osc_reading *r;
    struct osc_trace *t;
    const struct osc_file *f;
    const unsigned char *base; /* the file in memory; the trace owns it */
    uint16_t part;
    uint32_t n_texts;
};

/* --- the file in memory -------------------------------------------------------------- */

static osc_status own_pages(struct opening *o, struct osc_pages pages)
{
    struct osc_loading *const l = o->r->loading;
    const osc_status st =
        osc_grow(&o->t->pages, &l->cap_pages, (size_t)o->t->n_pages + 1, sizeof *o->t->pages);

    if (st == OSC_OK)
        o->t->pages[o->t->n_pages++] = pages;
    else if (pages.is_mapped)
        osc_pages_unmap(pages.p, pages.size);
    else
        osc_pages_free(pages.p, pages.size);
    return st;
}

/* Map or read F into memory that lives as long as the trace. */
static osc_status map_file(struct opening *o, struct osc_file *f, struct osc_err *err)
{
    struct osc_pages pages = f->pages;
    struct stat info;

    if (f->pages.p) {
        f->pages = (struct osc_pages){0};
    } else if (f->data) {
        pages =
            (struct osc_pages){.p = osc_pages_alloc((size_t)f->size), .size = (size_t)f->size};
        if (pages.p)
            memcpy(pages.p, f->data, (size_t)f->size);
    } else {
        if (fstat(f->in->fd, &info) != 0 || (uint64_t)info.st_size < f->size)
            return osc_fail_at(err, OSC_EIO, f->size,
                               "%s: it became shorter while it was opened; try again",
                               f->in->path);
        pages = (struct osc_pages){.p = osc_pages_map(f->in->fd, (size_t)f->size),
                                   .size = (size_t)f->size,
                                   .is_mapped = true};
    }
    if (!pages.p)
        return OSC_ENOMEM;
    o->base = pages.p;
    return own_pages(o, pages);
}

static bool is_ours(const struct opening *o, size_t i)
{
    return o->f->chunks[i].header.flags == o->part;
}

static const unsigned char *payload_of(const struct opening *o, size_t i)
{
    return o->base + o->f->chunks[i].offset + sizeof(struct osc_wire_header);
}

/* The first undamaged payload of TYPE with at least LEAST bytes, or NULL. */
static const void *find_payload(struct opening *o, enum osc_chunk_type type, size_t least,
                                uint64_t *n_bytes)
{
    for (size_t i = 0; i < o->f->n_chunks; i++) {
        const struct osc_wire_index_entry *const e = &o->f->chunks[i];

        if (!is_ours(o, i) || e->header.type != type || e->header.payload_bytes < least)
            continue;
        *n_bytes = e->header.payload_bytes;
        if (osc_wire_payload_hash(e->header.type, payload_of(o, i), (size_t)*n_bytes) ==
            e->header.payload_hash)
            return payload_of(o, i);
        osc_findings_add(&o->t->findings, OSC_FINDING_corrupt, e->offset, OSC_NO_TIME);
    }
    return NULL;
}

static bool has_text(const struct opening *o, uint32_t id)
{
    return id < o->n_texts;
}

/* --- texts, forms, tracks -------------------------------------------------------------- */

/* Whether all texts are within the payload, in order, each followed by a NUL. */
static bool texts_are_good(const struct osc_wire_texts *texts, uint64_t n_bytes)
{
    const uint64_t *const starts = (const uint64_t *)(const void *)(texts + 1);
    const uint64_t n = texts->n, room = n_bytes - sizeof *texts;

    if (n == 0 || n > INT32_MAX || room / sizeof *starts < n + 1 ||
        texts->n_bytes != room - (n + 1) * sizeof *starts)
        return false;
    const char *const bytes = (const char *)(starts + n + 1);
    if (starts[0] != 0 || starts[1] != 1 || starts[n] != texts->n_bytes)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (starts[i] >= starts[i + 1] || starts[i + 1] > texts->n_bytes ||
            starts[i + 1] - starts[i] > INT32_MAX || bytes[starts[i + 1] - 1] != '\0')
            return false;
    }
    return true;
}

static osc_status adopt_texts(struct opening *o, const struct osc_wire_texts *texts)
{
    struct osc_loading *const l = o->r->loading;
    const uint64_t *const starts = (const uint64_t *)(const void *)(texts + 1);
    struct osc_strings *const s = &o->t->strings;

    osc_strings_fini(s);
    osc_status st = osc_strings_init(s);
    if (st != OSC_OK)
        return st;
    o->n_texts = (uint32_t)texts->n;
    osc_strings_adopt(s, starts, (const char *)(starts + texts->n + 1), o->n_texts);
    st = osc_strings_index(s);
    for (unsigned i = 0; st == OSC_OK && i < OSC_ARG_KEY_COUNT; i++)
        st = osc_strings_add(s, osc_str_c(osc_arg_key_text((enum osc_arg_key)i)), &l->keys[i],
                             NULL);
    return st;
}

/* Read the form that W and its slots describe. OSC_EFORMAT: they are malformed. */
static osc_status read_form(struct opening *o, const struct osc_wire_form *w,
                            const struct osc_wire_slot *wire, struct osc_slot *slots,
                            struct osc_form *f)
{
    struct osc_loading *const l = o->r->loading;
    const enum osc_form_shape shape = osc_dialect_shape(w->letter);
    const bool is_neutral = (w->bits & OSC_FORM_IS_NEUTRAL) != 0;
    struct osc_record r = {.shape = (uint8_t)shape,
                           .kind = w->kind,
                           .is_device = w->is_device != 0,
                           .has_args = (w->bits & OSC_FORM_HAS_ARGS) != 0,
                           .category = {w->category},
                           .slots = slots};

    if (!has_text(o, w->category) || w->kind >= OSC_KIND_COUNT)
        return OSC_EFORMAT;
    if (is_neutral && osc_shape_is_arrow(shape)) {
        r.arrow = w->kind;
        r.kind = OSC_KIND_NONE;
    }
    for (uint32_t i = 0; i < w->n_slots; i++) {
        if (!has_text(o, wire[i].key) || wire[i].type > OSC_ARG_NUMTEXT)
            return OSC_EFORMAT;
        slots[r.n_slots] = (struct osc_slot){.key = {wire[i].key},
                                             .word = (uint16_t)r.n_words,
                                             .type = wire[i].type,
                                             .is_member = wire[i].is_member != 0};
        r.n_words += osc_arg_words((enum osc_arg_type)wire[i].type);
        /* The words of arguments that are left out stay in place. The arguments of counters are
         * always kept: they are their values. */
        r.n_slots += !l->no_args || shape == OSC_SHAPE_COUNTER ||
                     osc_loading_needs(l, slots[r.n_slots].key);
    }
    const osc_status st = osc_loading_make_form(l, &r, f);
    if (is_neutral)
        return st;
    f->chrome_ph = (char)w->letter;
    osc_dialect_fit_form(o->t, f);
    if (osc_shape_is_arrow(shape) && w->kind < OSC_ARROW_KINDS)
        f->arrow = w->kind;
    if (f->kind != w->kind) /* its line tells what its rows are, not its category */
        f->is_frame = w->kind == OSC_KIND_PYTHON;
    f->kind = w->kind;
    f->is_device = w->is_device != 0;
    return st;
}

static osc_status read_forms(struct opening *o, const struct osc_wire_forms *w,
                             uint64_t n_bytes)
{
    const struct osc_wire_form *const forms = (const struct osc_wire_form *)(w + 1);
    const struct osc_wire_slot *wire = (const struct osc_wire_slot *)(forms + w->n_forms);
    const uint64_t n_need =
        sizeof *w + (uint64_t)w->n_forms * sizeof *forms + (uint64_t)w->n_slots * sizeof *wire;
    struct osc_loading *const l = o->r->loading;
    struct osc_trace *const t = o->t;
    uint64_t n_slots = 0;

    if (w->n_forms == 0 || w->n_forms > INT32_MAX || n_need != n_bytes)
        return OSC_EFORMAT;
    osc_status st = osc_build_grow(&t->forms, &l->cap_forms, w->n_forms, sizeof *t->forms);
    struct osc_slot *const slots = osc_malloc(OSC_FORM_SLOTS_MAX * sizeof *slots);
    if (!slots)
        st = OSC_ENOMEM;
    for (uint32_t i = 1; i < w->n_forms && st == OSC_OK; i++) {
        n_slots += forms[i].n_slots;
        if (forms[i].n_slots > OSC_FORM_SLOTS_MAX || n_slots > w->n_slots) {
            st = OSC_EFORMAT;
            break;
        }
        st = read_form(o, &forms[i], wire, slots, &t->forms[i]);
        t->n_forms += st == OSC_OK;
        wire += forms[i].n_slots;
    }
    osc_free(slots);
    return st;
}

static osc_status read_tracks(struct opening *o, const struct osc_wire_tracks *w,
                              uint64_t n_bytes)
{
    const struct osc_wire_track *const tracks = (const struct osc_wire_track *)(w + 1);
    const struct osc_wire_process *const processes =
        (const struct osc_wire_process *)(tracks + w->n_tracks);
    const uint64_t n_need = sizeof *w + (uint64_t)w->n_tracks * sizeof *tracks +
                            (uint64_t)w->n_processes * sizeof *processes;
    struct osc_loading *const l = o->r->loading;
    struct osc_trace *const t = o->t;
    osc_status st;

    if (w->n_tracks == 0 || w->n_tracks > INT32_MAX || n_need != n_bytes)
        return OSC_EFORMAT;
    st = osc_build_grow(&t->tracks, &l->cap_tracks, w->n_tracks, sizeof *t->tracks);
    if (st == OSC_OK && w->n_processes > 0) {
        t->processes = osc_calloc(w->n_processes, sizeof *t->processes);
        st = t->processes ? OSC_OK : OSC_ENOMEM;
    }
    if (st != OSC_OK)
        return st;
    for (uint32_t i = 1; i < w->n_tracks; i++) {
        const struct osc_wire_track *const k = &tracks[i];

        if (!has_text(o, k->pid) || !has_text(o, k->tid) || !has_text(o, k->name) ||
            !has_text(o, k->device) || k->process >= w->n_processes)
            return OSC_EFORMAT;
        t->tracks[i] =
            (struct osc_track){.pid = {k->pid},
                               .tid = {k->tid},
                               .name = {k->name},
                               .device = {k->device},
                               .process = k->process,
                               .is_queue = (k->is_queue & OSC_TRACK_IS_QUEUE) != 0,
                               .is_summary = (k->is_queue & OSC_TRACK_IS_SUMMARY) != 0};
    }
    t->n_tracks = w->n_tracks;
    for (uint32_t i = 0; i < w->n_processes; i++) {
        const struct osc_wire_process *const p = &processes[i];

        if (!has_text(o, p->pid) || !has_text(o, p->name) || !has_text(o, p->labels))
            return OSC_EFORMAT;
        t->processes[i] = (struct osc_process){{p->pid}, {p->name}, {p->labels}};
    }
    t->n_processes = w->n_processes;
    t->producer = (uint8_t)osc_clues_producer(t);
    osc_lines_fit_arrows(t);
    osc_dialect_mark_tracks(t);
    return OSC_OK;
}

/* Read the N_BYTES of devices at W. NULL: the file is of an older version, which has them only
 * in a member. */
static osc_status read_devices(struct opening *o, const struct osc_wire_device *w,
                               uint64_t n_bytes)
{
    struct osc_trace *const t = o->t;

    if (!w)
        return osc_chrome_devices(t);
    if (n_bytes % sizeof *w != 0 || n_bytes / sizeof *w > INT32_MAX)
        return OSC_EFORMAT;
    const uint32_t n = (uint32_t)(n_bytes / sizeof *w);
    t->devices = osc_calloc((size_t)n + 1, sizeof *t->devices);
    if (!t->devices)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (!has_text(o, w[i].family) || !has_text(o, w[i].name) || !has_text(o, w[i].model))
            return OSC_EFORMAT;
        t->devices[i] = (struct osc_device){.family = {w[i].family},
                                            .index = w[i].index,
                                            .name = {w[i].name},
                                            .model = {w[i].model}};
        memcpy(&t->devices[i].limits, w[i].limits, sizeof t->devices[i].limits);
    }
    t->n_devices = n;
    return OSC_OK;
}

/* --- facts about the trace -------------------------------------------------------------- */

static bool is_time(int64_t ns)
{
    return ns >= -OSC_TIME_MAX_NS && ns <= OSC_TIME_MAX_NS;
}

static void read_finding(struct osc_trace *t, const struct osc_wire_finding *w)
{
    const struct osc_str code = osc_trace_str(t, (osc_sid){w->code});
    const struct osc_finding f = {w->count, w->first_offset, w->first_ns, w->last_ns};

    /* Codes and phases of a newer opscope are unknown and skipped. */
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++) {
        if (!osc_str_eq(code, osc_str_c(osc_finding_code_text((enum osc_finding_code)i))))
            continue;
        if (w->phase == 0)
            t->findings.by_code[i] = f;
        else if (w->phase < OSC_PHASES && i == OSC_FINDING_unknown_phase)
            t->findings.phases[w->phase] = f;
    }
}

/* Read the lists that follow W: metas, findings, ordinals. */
static osc_status read_lists(struct opening *o, const struct osc_wire_model *w)
{
    const struct osc_wire_meta *const metas = (const struct osc_wire_meta *)(w + 1);
    const struct osc_wire_finding *const findings =
        (const struct osc_wire_finding *)(const void *)(metas + w->n_metas);
    const uint32_t *const ordinals = (const uint32_t *)(findings + w->n_findings);
    struct osc_trace *const t = o->t;

    t->metas = osc_calloc((size_t)w->n_metas + 1, sizeof *t->metas);
    t->step_ordinals = osc_calloc((size_t)w->n_ordinals + 1, sizeof *t->step_ordinals);
    if (!t->metas || !t->step_ordinals)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < w->n_metas; i++) {
        if (!has_text(o, metas[i].key) || !has_text(o, metas[i].value))
            return OSC_EFORMAT;
        t->metas[t->n_metas++] =
            (struct osc_meta){{metas[i].key}, {metas[i].value}, metas[i].is_string != 0};
    }
    for (uint32_t i = 0; i < w->n_findings; i++) {
        if (!has_text(o, findings[i].code))
            return OSC_EFORMAT;
        read_finding(t, &findings[i]);
    }
    for (uint32_t i = 0; i < w->n_ordinals; i++)
        t->step_ordinals[i] = ordinals[i];
    t->n_step_ordinals = w->n_ordinals;
    return OSC_OK;
}

static osc_status read_model(struct opening *o, const struct osc_wire_model *w,
                             uint64_t n_bytes)
{
    struct osc_trace *const t = o->t;
    const uint64_t n_need = sizeof *w + (uint64_t)w->n_metas * sizeof(struct osc_wire_meta) +
                            (uint64_t)w->n_findings * sizeof(struct osc_wire_finding) +
                            (uint64_t)w->n_ordinals * sizeof(uint32_t);

    if (n_need != n_bytes || !is_time(w->min_ts_ns) || !is_time(w->max_end_ns) ||
        w->min_ts_ns > w->max_end_ns || w->rank < 0 || !has_text(o, w->worker) ||
        !has_text(o, w->format))
        return OSC_EFORMAT;
    t->n_parts = w->n_traces;
    t->base_ns = w->base_ns;
    t->min_ts_ns = t->origin_ns = t->own_origin_ns = w->min_ts_ns;
    t->max_end_ns = w->max_end_ns;
    t->has_rank = (w->flags & OSC_MODEL_HAS_RANK) != 0;
    t->rank = w->rank;
    t->worker.v = w->worker;
    t->format.v = w->format;
    t->is_selected = (w->flags & OSC_MODEL_IS_SELECTED) != 0;
    t->has_steps = (w->flags & OSC_MODEL_HAS_STEPS) != 0;
    t->has_iterations = (w->flags & OSC_MODEL_HAS_ITERATIONS) != 0;
    return read_lists(o, w);
}

/* Read everything but the columns. */
static osc_status read_common(struct opening *o, const struct osc_wire_model **model)
{
    uint64_t n_texts, n_forms, n_tracks, n_model, n_devices = 0;
    const struct osc_wire_texts *const texts =
        find_payload(o, OSC_CHUNK_TEXTS, sizeof *texts, &n_texts);
    const struct osc_wire_forms *const forms =
        find_payload(o, OSC_CHUNK_FORMS, sizeof *forms, &n_forms);
    const struct osc_wire_tracks *const tracks =
        find_payload(o, OSC_CHUNK_TRACKS, sizeof *tracks, &n_tracks);
    osc_status st;

    *model = find_payload(o, OSC_CHUNK_MODEL, sizeof **model, &n_model);
    if (!texts || !forms || !tracks || !*model || !texts_are_good(texts, n_texts))
        return OSC_EFORMAT;
    st = adopt_texts(o, texts);
    if (st == OSC_OK)
        st = read_model(o, *model, n_model);
    if (st == OSC_OK)
        st = read_forms(o, forms, n_forms);
    if (st == OSC_OK)
        st = read_tracks(o, tracks, n_tracks);
    if (st == OSC_OK) {
        const struct osc_wire_device *const devices =
            find_payload(o, OSC_CHUNK_DEVICES, 0, &n_devices);

        st = read_devices(o, devices, n_devices);
    }
    return st;
}

/* --- columns ---------------------------------------------------------------------------- */

/* The state of gathering the columns of one store. */
struct gathering {
    struct opening *o;
    struct osc_unchecked *u;
    struct osc_columns_rules rules;  /* owned; made if rows are left out */
    struct osc_unchecked_chunk next; /* its chunk is NULL: none yet */
    struct osc_chunk rows;           /* of next: only counts */
    uint64_t first_row;              /* of next, in the original */
    uint64_t n_told;                 /* rows before next */
    bool has_next;
};

void osc_columns_lose(struct osc_trace *t, enum osc_finding_code code, uint64_t offset,
                      const struct osc_chunk *rows)
{
    struct osc_finding *const f = &t->findings.by_code[code];
    const bool has_times = rows->min_ts_ns <= rows->max_end_ns && rows->max_end_ns != 0;

    if (rows->n_rows == 0)
        return;
    osc_findings_add(&t->findings, code, offset, has_times ? rows->min_ts_ns : OSC_NO_TIME);
    f->count += rows->n_rows - 1;
    if (has_times && rows->max_end_ns > f->last_ns)
        f->last_ns = rows->max_end_ns;
}

/* The finding for missing rows: if the file has no damage, its end is missing. */
static enum osc_finding_code missing_code(const struct opening *o)
{
    for (size_t i = 0; i < o->f->n_gaps; i++) {
        if (!o->f->gaps[i].is_cut)
            return OSC_FINDING_corrupt;
    }
    return o->f->has_index ? OSC_FINDING_corrupt : OSC_FINDING_truncated;
}

/* Count N lost rows of which nothing is known. */
static void lose_unseen(const struct opening *o, uint64_t n, uint64_t offset)
{
    const struct osc_chunk rows = {.n_rows = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};

    osc_columns_lose(o->t, missing_code(o), offset, &rows);
}

/* Whether all columns of C are there and have the size of N rows. */
static bool is_whole(const struct osc_unchecked_chunk *c, uint32_t n)
{
    static const uint8_t widths[OSC_COLUMN_COUNT] = {
        [OSC_COLUMN_TS] = 8,       [OSC_COLUMN_NAME] = 4, [OSC_COLUMN_FORM] = 4,
        [OSC_COLUMN_TRACK] = 4,    [OSC_COLUMN_ARGS] = 0, [OSC_COLUMN_DUR] = 8,
        [OSC_COLUMN_ARG_WORD] = 4, [OSC_COLUMN_KIND] = 1,
    };
    const unsigned n_columns = c->is_other ? OSC_COLUMNS_OTHERS : OSC_COLUMNS_EVENTS;

    for (unsigned k = 0; k < n_columns; k++) {
        const uint64_t n_bytes = c->columns[k].n_bytes;

        if (!c->columns[k].p)
            return false;
        if (k == OSC_COLUMN_ARGS ? n_bytes % 4 != 0 || n_bytes / 4 >= OSC_ARG_WORD_MORE
                                 : n_bytes != (uint64_t)n * widths[k])
            return false;
    }
    return n > 0 && n <= OSC_CHUNK_ROWS;
}

/* Reserve memory for what is made of N rows later; fails if there is not enough. */
static osc_status reserve_rows(struct opening *o, bool is_other, uint32_t n)
{
    const struct osc_import_reserve *const r = &o->r->options->reserve;
    const size_t size = (size_t)n * (is_other ? r->other_bytes : r->event_bytes);

    if (osc_mem_room() < size)
        return OSC_ELIMIT;
    osc_mem_reserve(size);
    o->t->reserved_bytes += size;
    return OSC_OK;
}

/* Whether row I of C is wanted. */
static bool wants(const struct opening *o, const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = osc_row_form(o->t, c, i);
    const struct osc_keep_row row = {.ts_ns = c->ts_ns[i],
                                     .dur_ns = c->dur_ns[i],
                                     .is_open = f->shape == OSC_SHAPE_BEGIN ||
                                                f->shape == OSC_SHAPE_ASYNC,
                                     .is_device = f->is_device,
                                     .is_step = c->kind[i] == OSC_KIND_STEP && !f->is_device,
                                     .is_call = osc_kind_is_launch((enum osc_kind)c->kind[i])};

    return osc_keep_wants(&o->r->options->keep, &row);
}

/* Check the gathered rows and leave out those that are not wanted. False: they are damaged. */
static bool keep_wanted(struct gathering *g)
{
    uint8_t wanted[OSC_CHUNK_ROWS];

    g->next.chunk = &g->rows;
    if (!osc_columns_look(&g->rules, &g->next))
        return false;
    for (uint32_t i = 0; i < g->rows.n_rows; i++)
        wanted[i] = wants(g->o, &g->rows, i);
    osc_chunk_squeeze(&g->rows, wanted);
    return true;
}

/* Make a chunk of the trace of the columns gathered so far, or count them as lost. */
static osc_status end_chunk(struct gathering *g)
{
    struct osc_trace *const t = g->o->t;
    struct osc_unchecked *const u = g->u;
    struct osc_chunk *c;

    if (!g->has_next)
        return OSC_OK;
    g->has_next = false;
    if (g->first_row > g->n_told)
        lose_unseen(g->o, g->first_row - g->n_told, g->next.offset);
    g->n_told = g->first_row + g->rows.n_rows;
    const bool is_kept = g->o->r->options->keep.is_on && !g->next.is_other;
    if (!is_whole(&g->next, g->rows.n_rows) || (is_kept && !keep_wanted(g))) {
        osc_columns_lose(t, missing_code(g->o), g->next.offset, &g->rows);
        return OSC_OK;
    }
    if (g->rows.n_rows == 0)
        return OSC_OK; /* no row is wanted */
    osc_status st = reserve_rows(g->o, g->next.is_other, g->rows.n_rows);
    if (st == OSC_OK)
        st = osc_grow(&u->chunks, &u->cap_chunks, (size_t)u->n_chunks + 1, sizeof *u->chunks);
    if (st != OSC_OK)
        return st;
    c = osc_malloc(sizeof *c);
    if (!c)
        return OSC_ENOMEM;
    *c = g->rows;
    st = osc_store_append(g->next.is_other ? &t->others : &t->events, c);
    if (st != OSC_OK) {
        osc_free(c);
        return st;
    }
    g->next.chunk = c;
    if (!is_kept) /* otherwise it was checked already */
        u->chunks[u->n_chunks++] = g->next;
    return OSC_OK;
}

/* Add chunk I of the file, which is column K of the rows being gathered or of the next ones. */
static osc_status add_column(struct gathering *g, size_t i, unsigned k)
{
    const struct osc_wire_index_entry *const e = &g->o->f->chunks[i];
    const struct osc_wire_header *const h = &e->header;
    const bool is_same = g->has_next && h->n_before == g->first_row &&
                         h->n_items == g->rows.n_rows && !g->next.columns[k].p;

    if (!is_same) {
        const osc_status st = end_chunk(g);

        if (st != OSC_OK)
            return st;
        /* These numbers are checked when the chunk is complete. */
        g->next =
            (struct osc_unchecked_chunk){.offset = e->offset, .is_other = g->next.is_other};
        g->rows = (struct osc_chunk){.n_rows = h->n_items > UINT32_MAX ? UINT32_MAX
                                                                       : (uint32_t)h->n_items,
                                     .min_ts_ns = (int64_t)h->first_ticks,
                                     .max_end_ns = (int64_t)h->last_ticks};
        g->first_row = h->n_before;
        g->has_next = true;
    }
    g->next.columns[k] =
        (struct osc_column_place){payload_of(g->o, i), h->payload_bytes, h->payload_hash};
    return OSC_OK;
}

/* Gather the columns of one store, which has N_ROWS rows in all. */
static osc_status gather(struct opening *o, struct osc_unchecked *u, bool is_other,
                         uint64_t n_rows)
{
    const unsigned first = is_other ? OSC_CHUNK_OTHERS : OSC_CHUNK_EVENTS;
    const unsigned n_columns = is_other ? OSC_COLUMNS_OTHERS : OSC_COLUMNS_EVENTS;
    struct gathering g = {.o = o, .u = u, .next = {.is_other = is_other}};
    osc_status st = OSC_OK;

    if (o->r->options->keep.is_on && !is_other)
        st = osc_columns_rules_make(&g.rules, o->t);
    for (size_t i = 0; i < o->f->n_chunks && st == OSC_OK; i++) {
        const unsigned type = o->f->chunks[i].header.type;

        if (is_ours(o, i) && type >= first && type < first + n_columns)
            st = add_column(&g, i, type - first);
    }
    if (st == OSC_OK)
        st = end_chunk(&g);
    if (st == OSC_OK && g.n_told < n_rows)
        lose_unseen(o, n_rows - g.n_told, o->f->size);
    osc_columns_rules_fini(&g.rules);
    return st;
}

static osc_status gather_all(struct opening *o, const struct osc_wire_model *model)
{
    struct osc_unchecked *const u = osc_calloc(1, sizeof *u);

    if (!u)
        return OSC_ENOMEM;
    o->t->unchecked = u;
    o->t->unchecked_free = osc_unchecked_free;
    o->t->check = osc_columns_check;
    const struct osc_import_keep *const keep = &o->r->options->keep;
    osc_status st = gather(o, u, false, model->n_events);
    if (st == OSC_OK && (!keep->is_scout || keep->has_work))
        st = gather(o, u, true, model->n_others);
    if (keep->is_on) { /* the trace keeps its original begin */
        o->r->loading->min_ts_ns = model->min_ts_ns;
        if (st == OSC_OK)
            st = osc_trace_hold(o->t);
    }
    return st;
}

/* --- all of it ---------------------------------------------------------------------------- */

/* Reserve memory for what is made of texts, tracks and forms later; fails if there is not
 * enough. */
static osc_status reserve_common(struct opening *o)
{
    const struct osc_import_reserve *const r = &o->r->options->reserve;
    const struct osc_trace *const t = o->t;
    size_t size = (size_t)o->n_texts * r->string_bytes + (size_t)t->n_tracks * r->track_bytes +
                  (size_t)t->n_forms * r->form_bytes;

    for (uint32_t i = 1; i < o->n_texts; i++) {
        const size_t len = osc_trace_str(t, (osc_sid){i}).len;

        size += len * (len < LONG_BYTES ? 1 : LONG_COPIES);
    }
    if (osc_mem_room() < size)
        return OSC_ELIMIT;
    osc_mem_reserve(size);
    o->t->reserved_bytes += size;
    return OSC_OK;
}

/* Count the gaps of the file, unless their rows are counted already. */
static void count_gaps(const struct opening *o)
{
    const struct osc_finding *const counted = o->t->findings.by_code;
    const bool is_counted =
        counted[OSC_FINDING_corrupt].count + counted[OSC_FINDING_truncated].count > 0;

    for (size_t i = 0; i < o->f->n_gaps && !is_counted; i++) {
        const struct osc_file_gap *const g = &o->f->gaps[i];

        osc_findings_add(&o->t->findings,
                         g->is_cut ? OSC_FINDING_truncated : OSC_FINDING_corrupt, g->offset,
                         OSC_NO_TIME);
    }
    if (!o->f->header_is_good)
        osc_findings_add(&o->t->findings, OSC_FINDING_corrupt, 0, OSC_NO_TIME);
}

static osc_status conclude(struct opening *o, osc_status st, struct osc_err *err)
{
    const char *const path = o->r->in->path;

    switch (osc_mem_reason(st)) {
    case OSC_OK:
        return OSC_OK;
    case OSC_EFORMAT:
        return osc_fail(err, OSC_EFORMAT,
                        "%s: trace %u of the file cannot be read: data that all its rows need "
                        "is damaged or missing; export it again",
                        path, o->part + 1u);
    case OSC_ELIMIT:
        o->t->is_partial = true;
        osc_findings_add(&o->t->findings, OSC_FINDING_limit_reached, OSC_NO_OFFSET,
                         OSC_NO_TIME);
        return osc_fail(err, OSC_ELIMIT, "%s: memory limit reached after %u events", path,
                        o->t->events.n_rows);
    case OSC_ENOMEM:
    case OSC_EIO:
    case OSC_EINVAL:
    case OSC_ENOTFOUND:
    case OSC_ECANCELED:
    case OSC_ETRUNC:
        break;
    }
    return st;
}

osc_status osc_columns_read(struct osc_reading *r, struct osc_file *f, struct osc_err *err)
{
    struct osc_trace *const t = r->loading->trace;
    struct opening o = {.r = r, .t = t, .f = f, .part = (uint16_t)r->options->part};
    const struct osc_wire_model *model = NULL;
    osc_status st = map_file(&o, f, err);

    r->is_sealed = true;
    t->text_bytes = f->size;
    if (st == OSC_OK)
        st = read_common(&o, &model);
    if (st == OSC_OK)
        st = reserve_common(&o);
    if (st == OSC_OK)
        st = gather_all(&o, model);
    count_gaps(&o);
    return conclude(&o, st, err);
}
