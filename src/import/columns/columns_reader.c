/* SPDX-License-Identifier: Apache-2.0 */
#include "import/columns/columns_reader.h"

#include "base/mem.h"
#include "import/chrome/chrome_about.h"
#include "import/chrome/detect_producer.h"
#include "import/chrome/device_lines.h"
#include "import/chrome/dialect.h"

/* A table copies each text, as in import/build/builder.c. */
#define LONG_BYTES  65536u
#define LONG_COPIES 6u

/* --- the file in memory -------------------------------------------------------------- */

static osc_status own_pages(struct osc_columns_opening *o, struct osc_pages pages)
{
    struct osc_loading *const l = o->r->loading;
    const osc_status st =
        osc_grow(&o->t->pages, &l->cap_pages, (size_t)o->t->n_pages + 1, sizeof *o->t->pages);

    if (st == OSC_OK)
        o->t->pages[o->t->n_pages++] = pages;
    else
        osc_pages_free(pages.p, pages.size);
    return st;
}

/* If F is in memory, copy or move it to where it lives as long as the trace. */
static osc_status keep_file(struct osc_columns_opening *o, struct osc_file *f)
{
    struct osc_pages pages = f->pages;

    if (!f->data)
        return OSC_OK;
    if (f->pages.p) {
        f->pages = (struct osc_pages){0};
    } else {
        pages =
            (struct osc_pages){.p = osc_pages_alloc((size_t)f->size), .size = (size_t)f->size};
        if (pages.p)
            memcpy(pages.p, f->data, (size_t)f->size);
    }
    if (!pages.p)
        return OSC_ENOMEM;
    o->base = pages.p;
    return own_pages(o, pages);
}

/* A payload in memory. */
struct payload {
    const void *p; /* NULL: there is none */
    uint64_t n_bytes;
    unsigned char *buffer; /* owned: what P points to, or NULL if the trace owns that */
    size_t cap;
};

/* Let F point to the payload of chunk I, which are texts: the trace keeps them. */
static osc_status keep_texts(struct osc_columns_opening *o, size_t i, struct payload *f)
{
    const struct osc_wire_index_entry *const e = &o->f->chunks[i];
    const size_t n = (size_t)e->header.payload_bytes;
    struct osc_pages pages = {.size = n};
    osc_status st;

    if (o->base) {
        f->p = o->base + e->offset + sizeof e->header;
        return osc_wire_payload_hash(e->header.type, f->p, n) == e->header.payload_hash
                   ? OSC_OK
                   : OSC_EFORMAT;
    }
    f->p = pages.p = osc_pages_alloc(n);
    if (!pages.p)
        return OSC_ENOMEM;
    st = osc_file_payload_to(o->f, i, pages.p);
    if (st == OSC_OK)
        return own_pages(o, pages);
    osc_pages_free(pages.p, pages.size);
    return st;
}

/* Let F be the first undamaged payload of TYPE with at least LEAST bytes, or none. */
static osc_status find_payload(struct osc_columns_opening *o, enum osc_chunk_type type,
                               size_t least, struct payload *f)
{
    for (size_t i = 0; i < o->f->n_chunks; i++) {
        const struct osc_wire_index_entry *const e = &o->f->chunks[i];
        osc_status st;

        if (!osc_columns_is_ours(o, i) || e->header.type != type ||
            e->header.payload_bytes < least)
            continue;
        f->n_bytes = e->header.payload_bytes;
        if (type == OSC_CHUNK_TEXTS) {
            st = keep_texts(o, i, f);
        } else {
            st = osc_file_payload(o->f, i, &f->buffer, &f->cap);
            f->p = f->buffer;
        }
        if (st == OSC_OK || st == OSC_ENOMEM)
            return st;
        f->p = NULL;
        osc_findings_add(&o->t->findings, OSC_FINDING_corrupt, e->offset, OSC_NO_TIME);
    }
    return OSC_OK;
}

static bool has_text(const struct osc_columns_opening *o, uint32_t id)
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

/* Let T have the TEXTS as they are in the file, without copying: ids of columns are their
 * positions. Only words that readers look up are added. */
static osc_status adopt_texts(struct osc_columns_opening *o, const struct osc_wire_texts *texts)
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
static osc_status read_form(struct osc_columns_opening *o, const struct osc_wire_form *w,
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
        r.arrow = w->kind < OSC_ARROW_KINDS ? w->kind : OSC_ARROW_OTHER;
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

/* Read the forms at W, of N_BYTES. Rows refer to them by number, so one that is wrong makes
 * the whole trace unreadable. */
static osc_status read_forms(struct osc_columns_opening *o, const struct osc_wire_forms *w,
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

/* Read the tracks and processes at W, of N_BYTES. All ids are checked here, because tables use
 * them without looking. What follows from names is derived again: it may be better known than
 * to the opscope that wrote the file. */
static osc_status read_tracks(struct osc_columns_opening *o, const struct osc_wire_tracks *w,
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
    t->producer = (uint8_t)osc_detect_producer(t);
    osc_device_lines_fit_arrows(t);
    osc_dialect_mark_tracks(t);
    return OSC_OK;
}

/* Read the N_BYTES of devices at W. NULL: the file was cut before them. */
static osc_status read_devices(struct osc_columns_opening *o, const struct osc_wire_device *w,
                               uint64_t n_bytes)
{
    struct osc_trace *const t = o->t;

    if (!w)
        return OSC_OK;
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
static osc_status read_lists(struct osc_columns_opening *o, const struct osc_wire_model *w)
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

/* Read what the file says of the whole trace. Times are checked, because sums of them must not
 * overflow. */
static osc_status read_model(struct osc_columns_opening *o, const struct osc_wire_model *w,
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

/* The payloads that all rows share. */
struct common {
    struct payload texts, forms, tracks, model, devices;
};

static osc_status find_common(struct osc_columns_opening *o, struct common *c)
{
    const struct {
        enum osc_chunk_type type;
        size_t least;
        struct payload *payload;
    } wanted[] = {{OSC_CHUNK_TEXTS, sizeof(struct osc_wire_texts), &c->texts},
                  {OSC_CHUNK_FORMS, sizeof(struct osc_wire_forms), &c->forms},
                  {OSC_CHUNK_TRACKS, sizeof(struct osc_wire_tracks), &c->tracks},
                  {OSC_CHUNK_MODEL, sizeof(struct osc_wire_model), &c->model},
                  {OSC_CHUNK_DEVICES, 0, &c->devices}};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted && st == OSC_OK; i++)
        st = find_payload(o, wanted[i].type, wanted[i].least, wanted[i].payload);
    return st;
}

static osc_status use_common(struct osc_columns_opening *o, const struct common *c)
{
    if (!c->texts.p || !c->forms.p || !c->tracks.p || !c->model.p ||
        !texts_are_good(c->texts.p, c->texts.n_bytes))
        return OSC_EFORMAT;
    osc_status st = adopt_texts(o, c->texts.p);
    if (st == OSC_OK)
        st = read_model(o, c->model.p, c->model.n_bytes);
    if (st == OSC_OK)
        st = read_forms(o, c->forms.p, c->forms.n_bytes);
    if (st == OSC_OK)
        st = read_tracks(o, c->tracks.p, c->tracks.n_bytes);
    return st == OSC_OK ? read_devices(o, c->devices.p, c->devices.n_bytes) : st;
}

/* Read everything but the columns. *MODEL: how many rows there are. */
static osc_status read_common(struct osc_columns_opening *o, struct osc_wire_model *model)
{
    struct common c = {0};
    osc_status st = find_common(o, &c);

    if (st == OSC_OK)
        st = use_common(o, &c);
    if (st == OSC_OK)
        memcpy(model, c.model.p, sizeof *model);
    osc_free(c.forms.buffer);
    osc_free(c.tracks.buffer);
    osc_free(c.model.buffer);
    osc_free(c.devices.buffer);
    return st;
}

/* --- all of it ---------------------------------------------------------------------------- */

/* Reserve memory for what is made of texts, tracks and forms later; fails if there is not
 * enough. */
static osc_status reserve_common(struct osc_columns_opening *o)
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
static void count_gaps(const struct osc_columns_opening *o)
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

/* Say what went wrong, in the words of the user's file. At the limit of memory the rows so far
 * are a trace. */
static osc_status conclude(struct osc_columns_opening *o, osc_status st, struct osc_err *err)
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
    struct osc_columns_opening o = {.r = r, .t = t, .f = f, .part = (uint16_t)r->options->part};
    struct osc_wire_model model;
    osc_status st = keep_file(&o, f);

    r->is_sealed = true;
    t->text_bytes = f->size;
    if (st == OSC_OK)
        st = read_common(&o, &model);
    if (st == OSC_OK)
        st = reserve_common(&o);
    if (st == OSC_OK)
        st = osc_columns_gather(&o, &model);
    count_gaps(&o);
    return conclude(&o, st, err);
}
