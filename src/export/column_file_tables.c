/* SPDX-License-Identifier: Apache-2.0 */
#include "export/column_file.h"

#include <string.h>

#include "base/mem.h"
#include "import/chrome/dialect.h"
#include "wire/column_layout.h"

bool osc_column_file_keeps(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i)
{
    const enum osc_form_shape shape = (enum osc_form_shape)t->forms[c->form[i]].shape;

    return shape == OSC_SHAPE_ABOUT || osc_shape_is_arrow(shape);
}

/* --- what is named ---------------------------------------------------------------------- */

static void use_text(const struct osc_column_file_used *u, osc_sid id)
{
    u->texts[id.v] = 1;
}

static void use_row(const struct osc_column_file_used *u, const struct osc_trace *t,
                    const struct osc_chunk *c, uint32_t i)
{
    const struct osc_form *const f = osc_row_form(t, c, i);

    u->texts[c->name[i]] = 1;
    u->forms[c->form[i]] = 1;
    u->tracks[c->track[i]] = 1;
    for (uint32_t k = 0; k < f->n_slots; k++) {
        const struct osc_arg arg = osc_row_slot(t, c, i, k);

        if (arg.type >= OSC_ARG_STRING)
            use_text(u, arg.sid);
    }
}

/* What the tables themselves name. */
static void use_tables(const struct osc_column_file_used *u, const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_forms; i++) {
        if (!u->forms[i])
            continue;
        use_text(u, t->forms[i].category);
        for (uint32_t k = 0; k < t->forms[i].n_slots; k++)
            use_text(u, t->forms[i].slots[k].key);
    }
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        const struct osc_track *const track = &t->tracks[i];

        if (!u->tracks[i])
            continue;
        use_text(u, track->pid);
        use_text(u, track->tid);
        use_text(u, track->name);
        use_text(u, track->device);
        use_text(u, t->processes[track->process].pid);
        use_text(u, t->processes[track->process].name);
        use_text(u, t->processes[track->process].labels);
    }
    for (uint32_t i = 0; i < t->n_devices; i++) {
        use_text(u, t->devices[i].family);
        use_text(u, t->devices[i].name);
        use_text(u, t->devices[i].model);
    }
    for (uint32_t i = 0; i < t->n_metas; i++) {
        use_text(u, t->metas[i].key);
        use_text(u, t->metas[i].value);
    }
    use_text(u, t->worker);
    use_text(u, t->format);
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++) {
        const char *const code = osc_finding_code_text((enum osc_finding_code)i);

        use_text(u, osc_strings_find(&t->strings, osc_str_c(code)));
    }
}

osc_status osc_column_file_used_find(struct osc_column_file_used *u, const struct osc_trace *t,
                                     bool is_part)
{
    u->n_texts = osc_strings_bound(&t->strings);
    u->texts = osc_calloc(u->n_texts, 1);
    u->forms = osc_calloc(t->n_forms, 1);
    u->tracks = osc_calloc(t->n_tracks, 1);
    if (!u->texts || !u->forms || !u->tracks)
        return OSC_ENOMEM;
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++)
            use_row(u, t, c, i);
    }
    for (uint32_t k = 1; k < t->others.n_chunks; k++) {
        const struct osc_chunk *const c = t->others.chunks[k];

        for (uint32_t i = 0; i < c->n_rows; i++) {
            if (osc_column_file_keeps(t, c, i))
                use_row(u, t, c, i);
        }
    }
    for (uint32_t i = 0; i < t->n_tracks; i++) /* a device may be named that has no event */
        u->tracks[i] |= !is_part && t->tracks[i].device.v != 0;
    use_tables(u, t);
    return OSC_OK;
}

void osc_column_file_used_fini(struct osc_column_file_used *u)
{
    osc_free(u->texts);
    osc_free(u->forms);
    osc_free(u->tracks);
    *u = (struct osc_column_file_used){0};
}

/* --- payloads --------------------------------------------------------------------------- */

static void put(struct osc_strbuf *out, const void *p, size_t n)
{
    osc_strbuf_add(out, p, n);
}

/* Write F, of PHASE or of all; returns how many were written. */
static uint32_t put_finding(const struct osc_trace *t, enum osc_finding_code code,
                            uint32_t phase, const struct osc_finding *f, struct osc_strbuf *out)
{
    const struct osc_str text = osc_str_c(osc_finding_code_text(code));
    const struct osc_wire_finding w = {.code = osc_strings_find(&t->strings, text).v,
                                       .phase = phase,
                                       .count = f->count,
                                       .first_offset = f->first_offset,
                                       .first_ns = f->first_ns,
                                       .last_ns = f->last_ns};

    if (f->count == 0)
        return 0;
    if (out)
        put(out, &w, sizeof w);
    return 1;
}

/* Write the findings; without OUT only count them. */
static uint32_t put_findings(const struct osc_trace *t, struct osc_strbuf *out)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i < OSC_PHASES; i++)
        n += put_finding(t, OSC_FINDING_unknown_phase, i, &t->findings.phases[i], out);
    for (unsigned i = 0; i < OSC_FINDING_COUNT; i++)
        n += put_finding(t, (enum osc_finding_code)i, 0, &t->findings.by_code[i], out);
    return n;
}

void osc_column_file_model(const struct osc_trace *t, uint64_t n_others, uint32_t n_traces,
                           struct osc_strbuf *out)
{
    struct osc_wire_model w = {
        .n_events = t->events.n_rows,
        .n_others = n_others,
        .base_ns = t->base_ns,
        .min_ts_ns = t->min_ts_ns,
        .max_end_ns = t->max_end_ns,
        .rank = t->rank,
        .span = t->span,
        .flags = (t->has_rank ? OSC_MODEL_HAS_RANK : 0u) |
                 (t->is_selected ? OSC_MODEL_IS_SELECTED : 0u) |
                 (t->has_steps ? OSC_MODEL_HAS_STEPS : 0u) |
                 (t->has_iterations ? OSC_MODEL_HAS_ITERATIONS : 0u),
        .worker = t->worker.v,
        .format = t->format.v,
        .n_traces = n_traces,
        .n_metas = t->n_metas,
        .n_ordinals = t->n_step_ordinals,
    };

    w.n_findings = put_findings(t, NULL);
    put(out, &w, sizeof w);
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_wire_meta m = {.key = t->metas[i].key.v,
                                        .value = t->metas[i].value.v,
                                        .is_string = t->metas[i].is_string};
        put(out, &m, sizeof m);
    }
    (void)put_findings(t, out);
    put(out, t->step_ordinals, t->n_step_ordinals * sizeof *t->step_ordinals);
}

static struct osc_str text_of(const struct osc_trace *t, const struct osc_column_file_used *u,
                              uint32_t i)
{
    if (!osc_strings_has(&t->strings, (osc_sid){i}) || (u->texts && !u->texts[i]))
        return OSC_STR("");
    return osc_trace_str(t, (osc_sid){i});
}

void osc_column_file_texts(const struct osc_trace *t, const struct osc_column_file_used *u,
                           struct osc_strbuf *out)
{
    const uint32_t n = osc_strings_bound(&t->strings);
    struct osc_wire_texts w = {.n = n};
    uint64_t start = 0;

    for (uint32_t i = 0; i < n; i++)
        w.n_bytes += (uint64_t)text_of(t, u, i).len + 1;
    put(out, &w, sizeof w);
    for (uint32_t i = 0; i <= n; i++) {
        put(out, &start, sizeof start);
        start += i < n ? (uint64_t)text_of(t, u, i).len + 1 : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct osc_str s = text_of(t, u, i);

        put(out, s.s, s.len);
        put(out, "", 1);
    }
}

static uint8_t letter_of(const struct osc_form *f)
{
    return (uint8_t)(osc_form_is_neutral(f) ? osc_dialect_letter((enum osc_form_shape)f->shape)
                                            : f->chrome_ph);
}

void osc_column_file_forms(const struct osc_trace *t, const struct osc_column_file_used *u,
                           struct osc_strbuf *out)
{
    struct osc_wire_forms w = {.n_forms = t->n_forms};

    for (uint32_t i = 0; i < t->n_forms; i++)
        w.n_slots += !u->forms || u->forms[i] ? t->forms[i].n_slots : 0u;
    put(out, &w, sizeof w);
    for (uint32_t i = 0; i < t->n_forms; i++) {
        const struct osc_form *const f = &t->forms[i];
        const bool is_neutral = osc_form_is_neutral(f);
        const bool is_arrow = osc_shape_is_arrow((enum osc_form_shape)f->shape);
        const struct osc_wire_form form = {
            .letter = letter_of(f),
            .bits = (uint8_t)((f->has_args ? OSC_FORM_HAS_ARGS : 0) |
                              (is_neutral ? OSC_FORM_IS_NEUTRAL : 0)),
            .kind = is_arrow ? f->arrow : f->kind,
            .is_device = f->is_device,
            .category = f->category.v,
            .n_slots = f->n_slots};
        const struct osc_wire_form blank = {.letter = form.letter};

        put(out, !u->forms || u->forms[i] ? &form : &blank, sizeof form);
    }
    for (uint32_t i = 0; i < t->n_forms; i++) {
        for (uint32_t k = 0; (!u->forms || u->forms[i]) && k < t->forms[i].n_slots; k++) {
            const struct osc_slot *const s = &t->forms[i].slots[k];
            const struct osc_wire_slot slot = {
                .key = s->key.v, .type = s->type, .is_member = s->is_member};

            put(out, &slot, sizeof slot);
        }
    }
}

void osc_column_file_tracks(const struct osc_trace *t, const struct osc_column_file_used *u,
                            struct osc_strbuf *out)
{
    const struct osc_wire_tracks w = {t->n_tracks, t->n_processes};

    put(out, &w, sizeof w);
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct osc_track *const k = &t->tracks[i];
        const struct osc_wire_track track = {.pid = k->pid.v,
                                             .tid = k->tid.v,
                                             .name = k->name.v,
                                             .device = k->device.v,
                                             .process = k->process,
                                             .is_queue =
                                                 (k->is_queue ? OSC_TRACK_IS_QUEUE : 0u) |
                                                 (k->is_summary ? OSC_TRACK_IS_SUMMARY : 0u)};
        const struct osc_wire_track blank = {.process = k->process};

        put(out, !u->tracks || u->tracks[i] ? &track : &blank, sizeof track);
    }
    /* Of a process that no track is of any more, the texts are blank. */
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct osc_process *const p = &t->processes[i];
        const struct osc_wire_process process = {p->pid.v, p->name.v, p->labels.v};

        put(out, &process, sizeof process);
    }
}

void osc_column_file_devices(const struct osc_trace *t, struct osc_strbuf *out)
{
    _Static_assert(OSC_DEVICE_LIMIT_COUNT == OSC_WIRE_LIMITS, "one goes over into the other");
    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct osc_device *const d = &t->devices[i];
        struct osc_wire_device w = {
            .family = d->family.v, .name = d->name.v, .model = d->model.v, .index = d->index};

        memcpy(w.limits, &d->limits, sizeof w.limits);
        put(out, &w, sizeof w);
    }
}
