/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/chrome_about.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "import/build/members.h"
#include "import/chrome/dialect.h"
#include "import/chrome/merged_devices.h"
#include "import/chrome/rocm_device_numbers.h"
#include "model/known_names.h"
#include "model/producer.h"

/* --- queues ------------------------------------------------------------------------------ */

/* Let the first of families in the alphabet be *FOUND, whatever the order of ids: it differs
 * from run to run. */
static void take_family(struct osc_str *found, struct osc_str family)
{
    if (family.len > 0 && (found->len == 0 || osc_str_cmp(family, *found) < 0))
        *found = family;
}

/*
 * The family that the categories of host calls tell, or "". Events outside of the times to read
 * leave their names and categories, but neither row nor form. Any other string may look like a
 * category, so forms come first.
 */
static struct osc_str family_of_categories(const struct osc_trace *t)
{
    struct osc_str found = OSC_STR("");

    for (uint32_t i = 1; i < t->n_forms; i++)
        take_family(&found, osc_dialect_device(osc_trace_str(t, t->forms[i].category)));
    if (found.len > 0 || !t->is_windowed)
        return found;
    for (uint32_t i = 1; i < osc_strings_bound(&t->strings); i++) {
        const osc_sid id = {i};

        if (osc_strings_has(&t->strings, id))
            take_family(&found, osc_dialect_device(osc_trace_str(t, id)));
    }
    return found;
}

/* The family that row I of K tells if it is a call whose category tells FAMILY. */
static struct osc_str family_of_call(const struct osc_trace *t, const struct osc_chunk *k,
                                     uint32_t i, struct osc_str family)
{
    if (k->kind[i] != OSC_KIND_RUNTIME && k->kind[i] != OSC_KIND_DRIVER)
        return OSC_STR("");
    const osc_sid category = osc_row_form(t, k, i)->category;

    if (!osc_str_eq(osc_dialect_device(osc_trace_str(t, category)), family))
        return OSC_STR("");
    return osc_known_call_device(osc_row_name(t, k, i));
}

/* The family that row I of K tells if it is a memory record: hip, or none. */
static struct osc_str family_of_record(const struct osc_trace *t, const struct osc_chunk *k,
                                       uint32_t i)
{
    const struct osc_str hip = OSC_STR("hip");
    int64_t type;

    if ((k->kind[i] != OSC_KIND_ALLOC && k->kind[i] != OSC_KIND_FREE) ||
        !osc_row_arg_int(t, k, i, OSC_ARG_KEY_DEVICE_TYPE, &type) ||
        type != osc_known_device_number(hip))
        return OSC_STR("");
    return hip;
}

/* The family that the first call of CATEGORY tells, or if that is NULL the first memory
 * record; "": none does. */
static struct osc_str family_of_rows(const struct osc_trace *t, const struct osc_str *category)
{
    for (uint32_t c = 1; c < t->events.n_chunks; c++) {
        const struct osc_chunk *const k = t->events.chunks[c];

        for (uint32_t i = 0; i < k->n_rows; i++) {
            const struct osc_str family =
                category ? family_of_call(t, k, i, *category) : family_of_record(t, k, i);

            if (family.len > 0)
                return family;
        }
    }
    return OSC_STR("");
}

/*
 * The family of the devices of this trace: that of the host calls that drive them. Kineto has
 * categories for some families; those of CUDA also stand for ROCm, and a backend of its own
 * name shares one with all others. There the names of the calls tell more.
 */
static struct osc_str device_family(const struct osc_trace *t)
{
    const struct osc_str category = family_of_categories(t);
    struct osc_str family, version;
    unsigned places;

    if (osc_rocm_device_numbers_read(t, &family, &places))
        return family;
    if (category.len > 0 && !osc_str_eq(category, OSC_STR("privateuse1")))
        return category;
    family = family_of_rows(t, &category);
    if (family.len == 0 && t->is_windowed)
        family = osc_dialect_called_family(t);
    if (family.len > 0 || category.len > 0)
        return family.len > 0 ? family : category;
    family = family_of_rows(t, NULL);
    if (family.len > 0)
        return family;
    return osc_trace_meta(t, "hip_runtime_version", &version) ? OSC_STR("hip")
                                                              : OSC_STR("cuda");
}

/* Set *ID to "cuda:0" or another FAMILY and INDEX; an INDEX below 0: no id. */
static osc_status name_of(struct osc_trace *t, struct osc_str family, int64_t index,
                          osc_sid *id)
{
    char name[64];
    const int len = index >= 0 ? snprintf(name, sizeof name, "%.*s:%lld", (int)family.len,
                                          family.s, (long long)index)
                               : snprintf(name, sizeof name, "%.*s", (int)family.len, family.s);

    return osc_strings_add(&t->strings, (struct osc_str){name, (uint32_t)len}, id, NULL);
}

/*
 * Name the device of TRACK: from the arguments of its first device event, which have the
 * number, in exported recordings with the family, or in older ones the name, or else from its
 * pid.
 */
static osc_status name_device(struct osc_trace *t, struct osc_track *track,
                              struct osc_str family)
{
    const struct osc_chunk *k = osc_chunk_of(&t->events, track->first_event);
    const uint32_t i = osc_row_place(track->first_event);
    const struct osc_str pid = osc_trace_str(t, track->pid);
    struct osc_arg arg = {0};
    int64_t device = -1;

    if (osc_row_arg(t, k, i, OSC_ARG_KEY_DEVICE, &arg) && arg.type == OSC_ARG_STRING &&
        !osc_json_int(osc_trace_str(t, arg.sid), &device)) {
        track->device = arg.sid;
        return OSC_OK;
    }
    if (osc_row_arg(t, k, i, OSC_ARG_KEY_DEVICE_FAMILY, &arg) && arg.type == OSC_ARG_STRING)
        family = osc_trace_str(t, arg.sid);
    if (!osc_row_arg_int(t, k, i, OSC_ARG_KEY_DEVICE, &device) && !osc_json_int(pid, &device))
        return name_of(t, family, -1, &track->device);
    return name_of(t, family, device, &track->device);
}

/* --- names ------------------------------------------------------------------------------- */

/* Take the blanks at the end of NAME away. */
static osc_status trim_end(struct osc_trace *t, osc_sid *name)
{
    struct osc_str text = osc_trace_str(t, *name);

    if (text.len == 0 || text.s[text.len - 1] != ' ')
        return OSC_OK;
    while (text.len > 0 && text.s[text.len - 1] == ' ')
        text.len--;
    *name = (osc_sid){0};
    return text.len > 0 ? osc_strings_add(&t->strings, text, name, NULL) : OSC_OK;
}

/* The last record for a name wins. A track that a record calls a queue is one. */
osc_status osc_chrome_names(struct osc_trace *t)
{
    osc_status st = OSC_OK;
    const osc_sid process_name = osc_strings_find(&t->strings, OSC_STR("process_name"));
    const osc_sid labels = osc_strings_find(&t->strings, OSC_STR("process_labels"));
    const osc_sid thread_name = osc_strings_find(&t->strings, OSC_STR("thread_name"));
    const osc_sid queue = osc_strings_find(&t->strings, OSC_STR(OSC_QUEUE_RECORD));

    for (uint32_t c = 1; c < t->others.n_chunks; c++) {
        const struct osc_chunk *k = t->others.chunks[c];

        for (uint32_t i = 0; i < k->n_rows && st == OSC_OK; i++) {
            const osc_sid name = {k->name[i]};
            struct osc_arg arg;

            if (osc_row_form(t, k, i)->shape != OSC_SHAPE_ABOUT || name.v == 0)
                continue;
            t->tracks[k->track[i]].is_queue |= name.v == queue.v;
            const enum osc_arg_key key =
                name.v == labels.v ? OSC_ARG_KEY_LABELS : OSC_ARG_KEY_NAME;
            if (!osc_row_arg(t, k, i, key, &arg) || arg.type != OSC_ARG_STRING)
                continue;
            struct osc_track *const track = &t->tracks[k->track[i]];
            struct osc_process *const process = &t->processes[track->process];
            st = trim_end(t, &arg.sid);
            if (name.v == thread_name.v)
                track->name = arg.sid;
            else if (name.v == process_name.v)
                process->name = arg.sid;
            else if (name.v == labels.v)
                process->labels = arg.sid;
        }
    }
    return st;
}

/* --- devices ----------------------------------------------------------------------------- */

/* The integer member KEY, which may be a text; -1: missing or negative. */
static int64_t number_of(struct osc_str device, const char *key)
{
    struct osc_str value;
    int64_t number;

    if (!osc_json_member(device, key, &value))
        return -1;
    if (value.len >= 2 && value.s[0] == '"')
        value = (struct osc_str){value.s + 1, value.len - 2};
    return osc_json_int(value, &number) && number >= 0 ? number : -1;
}

/* Read the member `name`; no model if it is empty. */
static osc_status read_model(struct osc_trace *t, struct osc_str device, osc_sid *model)
{
    struct osc_strbuf text = {0};
    struct osc_str value;

    if (!osc_json_member(device, "name", &value) || value.len < 3 || value.s[0] != '"')
        return OSC_OK;
    (void)osc_json_unescape(value.s + 1, value.s + value.len - 1, &text);
    osc_status st = text.status;
    if (st == OSC_OK)
        st = osc_strings_add(&t->strings, (struct osc_str){text.s, (uint32_t)text.len}, model,
                             NULL);
    osc_strbuf_fini(&text);
    return st;
}

/*
 * What a device without a name is, where what the file says of it fits one model only; else "".
 * gfx942 with 304 compute units is an MI300X with 192 GB or an MI325X with 256 GB (AMD's data
 * sheets of both).
 */
static struct osc_str derived_model(const struct osc_device_limits *l)
{
    const int64_t between = INT64_C(224) << 30;

    if (l->major != 9 || l->minor != 4 || l->n_units != 304 || l->memory_bytes < 0)
        return OSC_STR("");
    return l->memory_bytes < between ? OSC_STR("AMD Instinct MI300X (derived)")
                                     : OSC_STR("AMD Instinct MI325X (derived)");
}

static osc_status read_device(struct osc_trace *t, struct osc_str family, struct osc_str text,
                              struct osc_device *d)
{
    const int64_t id = number_of(text, "id");

    *d = (struct osc_device){.index = id >= 0 ? id : (int64_t)t->n_devices};
    for (const struct osc_member_limit *m = osc_member_limits; m->key; m++) {
        const int64_t value = number_of(text, m->key);

        memcpy((char *)&d->limits + m->offset, &value, sizeof value);
    }
    osc_status st = read_model(t, text, &d->model);
    if (st == OSC_OK && d->model.v == 0)
        st = osc_strings_add(&t->strings, derived_model(&d->limits), &d->model, NULL);
    return st == OSC_OK ? osc_strings_add(&t->strings, family, &d->family, NULL) : st;
}

/* A listed device that did work gets its name from its queues; another one from its family. */
static osc_status name_listed(struct osc_trace *t)
{
    osc_status st = OSC_OK;

    for (uint32_t k = 0; k < t->n_devices && st == OSC_OK; k++) {
        struct osc_device *const d = &t->devices[k];
        struct osc_str family = osc_trace_str(t, d->family);

        d->name = (osc_sid){0};
        for (uint32_t i = 1; i < t->n_tracks && d->name.v == 0; i++) {
            if (osc_device_split(osc_trace_str(t, t->tracks[i].device), &family) == d->index)
                d->name = t->tracks[i].device;
        }
        st = osc_strings_add(&t->strings, family, &d->family, NULL);
        if (st == OSC_OK && d->name.v == 0)
            st = name_of(t, family, d->index, &d->name);
    }
    return st;
}

/* The member `deviceProperties` as it is in the file, or an empty text. */
static struct osc_str find_list(const struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_meta *const m = &t->metas[i];

        if (osc_str_eq(osc_trace_str(t, m->key), OSC_STR("deviceProperties")))
            return m->is_string ? OSC_STR("") : osc_trace_str(t, m->value);
    }
    return OSC_STR("");
}

/* The family of the first queue, or "". */
static struct osc_str family_of_queues(const struct osc_trace *t)
{
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        struct osc_str family;

        if (osc_device_split(osc_trace_str(t, t->tracks[i].device), &family) >= 0)
            return family;
    }
    return OSC_STR("");
}

static osc_status read_devices(struct osc_trace *t, struct osc_str family)
{
    struct osc_str rest = find_list(t), text;
    osc_status st = OSC_OK;
    size_t cap = 0;

    while (st == OSC_OK && t->n_devices < UINT32_MAX && osc_json_next(&rest, &text)) {
        st = osc_grow(&t->devices, &cap, (size_t)t->n_devices + 1, sizeof *t->devices);
        if (st == OSC_OK)
            st = read_device(t, family, text, &t->devices[t->n_devices]);
        t->n_devices += st == OSC_OK;
    }
    return st;
}

/* Count the samples of a sampled profile, which are no events. */
static void count_samples(struct osc_trace *t)
{
    struct osc_str value;

    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_meta *const m = &t->metas[i];
        struct osc_str rest = osc_trace_str(t, m->value);

        if (m->is_string || !osc_str_eq(osc_trace_str(t, m->key), OSC_STR("samples")))
            continue;
        while (osc_json_next(&rest, &value))
            osc_findings_add(&t->findings, OSC_FINDING_call_samples, OSC_NO_OFFSET,
                             OSC_NO_TIME);
    }
}

/* Count it once if events have stacks: their frames stand beside the events. */
static void count_stacks(struct osc_trace *t)
{
    struct osc_str frames, samples, key, value;

    if (osc_trace_meta(t, "stackFrames", &frames) && !osc_trace_meta(t, "samples", &samples) &&
        osc_json_next_member(&frames, &key, &value))
        osc_findings_add(&t->findings, OSC_FINDING_event_stacks, OSC_NO_OFFSET, OSC_NO_TIME);
}

osc_status osc_chrome_about(struct osc_trace *t)
{
    struct osc_str family = OSC_STR(""), value;
    osc_status st = OSC_OK;
    int64_t base_ns;

    osc_dialect_mark_tracks(t);
    count_samples(t);
    count_stacks(t);
    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        if (!t->tracks[i].is_queue || t->tracks[i].n_events == 0 || t->tracks[i].device.v != 0)
            continue;
        if (family.len == 0)
            family = device_family(t);
        st = name_device(t, &t->tracks[i], family);
    }
    if (osc_trace_meta(t, "baseTimeNanoseconds", &value) && osc_json_int(value, &base_ns))
        t->base_ns = base_ns;
    /* Recordings that were exported name their devices, in whatever family. */
    if (st == OSC_OK && family_of_queues(t).len > 0)
        family = family_of_queues(t);
    else if (st == OSC_OK && find_list(t).len > 0)
        family = device_family(t);
    if (st == OSC_OK)
        st = read_devices(t, family);
    if (st == OSC_OK)
        st = osc_rocm_device_numbers_match(t);
    if (st == OSC_OK &&
        osc_producer_dialect((enum osc_producer)t->producer) == OSC_DIALECT_KINETO)
        st = osc_merged_devices_number(t);
    return st == OSC_OK ? name_listed(t) : st;
}
