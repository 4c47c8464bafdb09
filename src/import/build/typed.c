/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/typed.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "model/known_names.h"

void osc_build_event(struct osc_builder *b, struct osc_record *r, const struct osc_arguments *a)
{
    r->slots = a ? a->slots : NULL;
    r->n_slots = a ? (uint32_t)a->n_slots : 0;
    r->words = a ? a->words : NULL;
    for (uint32_t i = 0; i < r->n_slots && !r->has_args; i++)
        r->has_args = !r->slots[i].is_member;
    r->is_device = r->is_device || osc_kind_is_device_work((enum osc_kind)r->kind) ||
                   r->kind == OSC_KIND_SYNC;
    if (b->status == OSC_OK)
        osc_build_record(b, r);
}

void osc_build_track_name(struct osc_builder *b, osc_track_id track, osc_sid name)
{
    pthread_mutex_lock(&b->loading->lock);
    b->loading->trace->tracks[track.v].name = name;
    pthread_mutex_unlock(&b->loading->lock);
}

void osc_build_process_name(struct osc_builder *b, osc_track_id track, osc_sid name)
{
    struct osc_trace *const t = b->loading->trace;

    if (track.v == 0) /* see the status */
        return;
    pthread_mutex_lock(&b->loading->lock);
    t->processes[t->tracks[track.v].process].name = name;
    pthread_mutex_unlock(&b->loading->lock);
}

/* --- devices ------------------------------------------------------------------------------ */

static osc_sid text_id(struct osc_builder *b, const char *s, int len)
{
    return osc_build_string(b, s, (uint32_t)len);
}

/* Find or add a number for FAMILY, which has none in PyTorch, and a member that stores it. */
static int32_t own_type(struct osc_builder *b, struct osc_str family, osc_sid id)
{
    const struct osc_loading *const l = b->loading;
    int32_t type = OSC_KNOWN_OWN_TYPE;
    char key[32];

    for (uint32_t i = 0; i < l->n_devices; i++) {
        if (l->devices[i].type < OSC_KNOWN_OWN_TYPE)
            continue;
        if (l->devices[i].family.v == id.v)
            return l->devices[i].type;
        if (l->devices[i].type >= type)
            type = l->devices[i].type + 1;
    }
    const int len = snprintf(key, sizeof key, "device_type.%d", type);
    osc_build_member(b, text_id(b, key, len), osc_build_string(b, family.s, family.len), true);
    return type;
}

static bool is_told_of(const struct osc_device *d)
{
    struct osc_device_limits none;

    osc_device_limits_init(&none);
    return d->model.v != 0 || memcmp(&d->limits, &none, sizeof none) != 0;
}

uint32_t osc_build_device(struct osc_builder *b, const struct osc_device *device)
{
    struct osc_loading *const l = b->loading;
    struct osc_trace *const t = l->trace;
    const struct osc_str family = osc_trace_str(t, device->family);
    struct osc_build_device d = {.family = device->family, .index = device->index};
    struct osc_strbuf name = {0};
    size_t cap = l->n_devices;

    osc_strbuf_addstr(&name, family);
    if (device->index >= 0)
        osc_strbuf_addf(&name, ":%lld", (long long)device->index);
    if (name.status == OSC_OK)
        d.name = osc_build_string(b, name.s ? name.s : "", (uint32_t)name.len);
    else
        b->status = name.status;
    osc_strbuf_fini(&name);
    d.type = osc_known_device_number(family);
    if (d.type < 0)
        d.type = own_type(b, family, d.family);

    pthread_mutex_lock(&l->lock);
    osc_status st =
        osc_build_grow(&l->devices, &cap, (size_t)l->n_devices + 1, sizeof *l->devices);
    if (st == OSC_OK && is_told_of(device)) {
        st = osc_build_grow(&t->devices, &l->cap_devices, (size_t)t->n_devices + 1,
                            sizeof *t->devices);
        if (st == OSC_OK) {
            t->devices[t->n_devices] = *device;
            t->devices[t->n_devices++].name = d.name;
        }
    }
    if (st == OSC_OK)
        l->devices[l->n_devices++] = d;
    else
        b->status = st;
    const uint32_t number = st == OSC_OK ? l->n_devices - 1 : UINT32_MAX;
    pthread_mutex_unlock(&l->lock);
    return number;
}

osc_sid osc_build_device_name(const struct osc_builder *b, uint32_t device)
{
    return device < b->loading->n_devices ? b->loading->devices[device].name : (osc_sid){0};
}

osc_track_id osc_build_queue(struct osc_builder *b, uint32_t device, osc_who number,
                             osc_sid name)
{
    const osc_sid of = osc_build_device_name(b, device);
    const osc_track_id id = osc_build_track(b, OSC_WHO_IS_STRING | of.v, number);

    if (b->status != OSC_OK)
        return (osc_track_id){0};
    pthread_mutex_lock(&b->loading->lock);
    struct osc_track *const track = &b->loading->trace->tracks[id.v];
    track->is_queue = true;
    track->device = of;
    track->name = name;
    pthread_mutex_unlock(&b->loading->lock);
    return id;
}

/* --- rows ----------------------------------------------------------------------------------
 */

osc_sid osc_build_step_name(struct osc_builder *b, struct osc_str label)
{
    struct osc_strbuf text = {0};
    osc_sid name = {0};

    osc_strbuf_adds(&text, OSC_KNOWN_STEP);
    osc_strbuf_addstr(&text, label);
    if (text.status == OSC_OK)
        name = osc_build_string(b, text.s, (uint32_t)text.len);
    else
        b->status = text.status;
    osc_strbuf_fini(&text);
    return name;
}

void osc_build_step(struct osc_builder *b, const struct osc_step_row *step,
                    const struct osc_arguments *args)
{
    struct osc_record r = {.shape =
                               step->dur_ns == OSC_NO_DUR ? OSC_SHAPE_BEGIN : OSC_SHAPE_RANGE,
                           .kind = OSC_KIND_STEP,
                           .name = osc_build_step_name(b, step->label),
                           .track = step->track,
                           .ts_ns = step->ts_ns,
                           .dur_ns = step->dur_ns};

    osc_build_event(b, &r, args);
}

static void append(struct osc_builder *b, struct osc_arguments *a,
                   const struct osc_arguments *more)
{
    const uint32_t *word = more->words;

    for (size_t i = 0; i < more->n_slots; i++) {
        const enum osc_arg_type type = (enum osc_arg_type)more->slots[i].type;
        const uint32_t n = osc_arg_words(type);
        uint64_t bits = n > 0 ? word[0] : 0;

        bits |= n > 1 ? (uint64_t)word[1] << 32 : 0;
        osc_arguments_add(b, a, more->slots[i].key, type, bits);
        word += n;
    }
}

void osc_build_memory(struct osc_builder *b, const struct osc_memory_row *m,
                      const struct osc_arguments *more)
{
    const struct osc_loading *const l = b->loading;
    const osc_sid *const keys = l->keys;
    struct osc_arguments *const a = &b->scratch;

    if (m->device >= l->n_devices)
        return;
    const struct osc_build_device *const d = &l->devices[m->device];
    struct osc_record r = {
        .shape = OSC_SHAPE_INSTANT,
        .kind = m->bytes > 0 ? OSC_KIND_ALLOC : OSC_KIND_FREE,
        .name = osc_build_string(b, OSC_KNOWN_MEMORY, sizeof OSC_KNOWN_MEMORY - 1),
        .track = m->track,
        .ts_ns = m->ts_ns,
        .dur_ns = OSC_NO_DUR};

    osc_arguments_clear(a);
    osc_arguments_int(b, a, keys[OSC_ARG_KEY_DEVICE_TYPE], d->type);
    osc_arguments_int(b, a, keys[OSC_ARG_KEY_DEVICE_ID], d->type == 0 ? -1 : d->index);
    osc_arguments_id(b, a, keys[OSC_ARG_KEY_ADDR], m->address);
    osc_arguments_int(b, a, keys[OSC_ARG_KEY_BYTES], m->bytes);
    if (m->allocated_bytes != OSC_BYTES_UNKNOWN)
        osc_arguments_int(b, a, keys[OSC_ARG_KEY_TOTAL_ALLOCATED], m->allocated_bytes);
    if (m->reserved_bytes != OSC_BYTES_UNKNOWN)
        osc_arguments_int(b, a, keys[OSC_ARG_KEY_TOTAL_RESERVED], m->reserved_bytes);
    if (more)
        append(b, a, more);
    osc_build_event(b, &r, a);
}

void osc_build_counter(struct osc_builder *b, osc_track_id track, osc_sid name, int64_t ts_ns,
                       double value)
{
    struct osc_arguments *const a = &b->scratch;
    struct osc_record r = {.shape = OSC_SHAPE_COUNTER,
                           .kind = OSC_KIND_COUNTER,
                           .name = name,
                           .track = track,
                           .ts_ns = ts_ns,
                           .dur_ns = OSC_NO_DUR};
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    osc_arguments_clear(a);
    osc_arguments_double(b, a, osc_build_string(b, "value", 5), bits);
    osc_build_event(b, &r, a);
}

/* --- arrows --------------------------------------------------------------------------------
 */

static void add_end(struct osc_builder *b, struct osc_record *r, uint64_t id,
                    const struct osc_arrow_end *at)
{
    struct osc_arguments *const a = &b->scratch;

    osc_arguments_clear(a);
    osc_arguments_id(b, a, b->loading->keys[OSC_ARG_KEY_FLOW_ID], id);
    if (b->status == OSC_OK)
        a->slots[0].is_member = true;
    r->track = at->track;
    r->ts_ns = at->ts_ns;
    osc_build_event(b, r, a);
}

void osc_build_arrow(struct osc_builder *b, enum osc_arrow_kind kind,
                     const struct osc_arrow_end *from, const struct osc_arrow_end *to)
{
    struct osc_record r = {.shape = OSC_SHAPE_ARROW_FROM, .arrow = (uint8_t)kind};

    pthread_mutex_lock(&b->loading->lock);
    const uint64_t id = ++b->loading->n_arrows;
    pthread_mutex_unlock(&b->loading->lock);
    add_end(b, &r, id, from);
    r.shape = OSC_SHAPE_ARROW_TO;
    add_end(b, &r, id, to);
}

void osc_build_arrow_end(struct osc_builder *b, enum osc_form_shape shape,
                         enum osc_arrow_kind kind, osc_sid category, uint64_t id,
                         const struct osc_arrow_end *at)
{
    struct osc_record r = {
        .shape = (uint8_t)shape, .arrow = (uint8_t)kind, .category = category};

    add_end(b, &r, id, at);
}

void osc_build_member(struct osc_builder *b, osc_sid key, osc_sid value, bool is_string)
{
    struct osc_loading *const l = b->loading;
    struct osc_trace *const t = l->trace;
    const struct osc_meta meta = {key, value, is_string};
    osc_status st = OSC_OK;

    pthread_mutex_lock(&l->lock);
    uint32_t i = 0;
    while (i < t->n_metas && t->metas[i].key.v != key.v)
        i++;
    if (i == t->n_metas)
        st = osc_build_grow(&t->metas, &l->cap_metas, (size_t)t->n_metas + 1, sizeof *t->metas);
    if (st == OSC_OK) {
        t->metas[i] = meta;
        t->n_metas += i == t->n_metas;
    } else {
        b->status = st;
    }
    pthread_mutex_unlock(&l->lock);
}
