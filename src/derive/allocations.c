/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/allocations.h"

#include <stdio.h>
#include <string.h>

#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "derive/args.h"
#include "model/known_names.h"

/* In torch both are signed bytes; larger limits cost nothing. */
#define TYPE_MAX  127
#define ID_MAX    32766
#define NO_TYPE   0xffffu
#define BYTES_MAX (INT64_C(1) << 62)

/* Count one finding at TIME_NS. Devices are handled one by one, so times are not in order. */
static void count(struct osc_trace *t, enum osc_finding_code code, int64_t time_ns)
{
    struct osc_finding *const f = &t->findings.by_code[code];

    osc_findings_add(&t->findings, code, OSC_NO_OFFSET, time_ns);
    f->first_ns = time_ns < f->first_ns ? time_ns : f->first_ns;
}

/* A record that has no place yet. */
struct draft {
    struct osc_allocation_record record;
    uint64_t device; /* key: process, type, id + 1 */
    uint32_t number; /* of the device, when it is known */
};

static uint64_t unknown_of(uint64_t device)
{
    return (device >> 32) << 32 | (uint64_t)NO_TYPE << 16;
}

/*
 * The family that the queues and devices of T have where PyTorch says WORD: it says `cuda` for
 * `hip`, too, and `privateuse1` for every family that it does not know.
 */
static struct osc_str family_of_word(const struct osc_trace *t, struct osc_str word)
{
    struct osc_str found = word;

    for (uint32_t i = 0; i < t->n_tracks + t->n_devices; i++) {
        struct osc_str family = i < t->n_tracks
                                    ? osc_trace_str(t, t->tracks[i].device)
                                    : osc_trace_str(t, t->devices[i - t->n_tracks].family);

        (void)osc_device_split(family, &family);
        if (osc_str_eq(family, word))
            return word;
        if (family.len > 0 && family.len < OSC_MEMORY_DEVICE_NAME / 2 &&
            osc_str_eq(osc_known_device_word(family), word))
            found = family;
    }
    return found;
}

/* Fill SAME_AS, by type: the number of the family that it stands for in T, or else itself. */
static void unite_types(const struct osc_trace *t, uint8_t same_as[TYPE_MAX + 1])
{
    for (uint32_t type = 0; type <= TYPE_MAX; type++) {
        const char *const word = osc_known_device_type(type);
        const int32_t number =
            word ? osc_known_device_number(family_of_word(t, osc_str_c(word))) : -1;

        same_as[type] = (uint8_t)(number >= 0 ? (uint32_t)number : type);
    }
}

static uint64_t device_of(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                          const uint8_t same_as[TYPE_MAX + 1])
{
    const uint64_t process = (uint64_t)t->tracks[c->track[i]].process << 32;
    int64_t type, id = -1;

    if (!osc_args_int(t, c, i, OSC_ARG_KEY_DEVICE_TYPE, &type) || type < 0 || type > TYPE_MAX)
        return unknown_of(process);
    if (type == 0)
        return process;
    if (osc_args_int(t, c, i, OSC_ARG_KEY_DEVICE_ID, &id) && (id < -1 || id > ID_MAX))
        return unknown_of(process);
    return process | (uint64_t)same_as[type] << 16 | (uint64_t)(id + 1);
}

/* The name of a type that torch does not know, as in the file; or a number. */
static void name_type(const struct osc_trace *t, uint32_t type, char *name, size_t size)
{
    struct osc_str given;
    char key[32];

    snprintf(key, sizeof key, "device_type.%u", type);
    if (osc_trace_meta(t, key, &given) && given.len > 0 && given.len < size)
        snprintf(name, size, "%.*s", (int)given.len, given.s);
    else
        snprintf(name, size, "type%u", type);
}

void osc_memory_device_name(const struct osc_trace *t, uint32_t type, int32_t id,
                            char name[OSC_MEMORY_DEVICE_NAME])
{
    const char *const known = osc_known_device_type(type);
    char number[12] = "", type_name[16];
    const struct osc_str family = known ? family_of_word(t, osc_str_c(known)) : OSC_STR("");

    if (known)
        snprintf(type_name, sizeof type_name, "%.*s", (int)family.len, family.s);
    else
        name_type(t, type, type_name, sizeof type_name);
    if (id >= 0)
        snprintf(number, sizeof number, ":%u", (unsigned)id & 0xffff);
    snprintf(name, OSC_MEMORY_DEVICE_NAME, "%s%s", type_name, number);
}

static void name_device(const struct osc_trace *t, struct osc_memory_device *d, uint64_t key)
{
    const uint32_t type = (uint32_t)(key >> 16) & 0xffff, id = (uint32_t)key & 0xffff;

    d->process = (uint32_t)(key >> 32);
    d->is_unknown = type == NO_TYPE;
    d->type = d->is_unknown ? -1 : (int32_t)type;
    d->id = (int32_t)id - 1;
    if (d->is_unknown)
        snprintf(d->name, sizeof d->name, "unknown");
    else
        osc_memory_device_name(t, type, d->id, d->name);
}

bool osc_allocation_address(const struct osc_trace *t, const struct osc_chunk *c, uint32_t i,
                            uint64_t *address)
{
    struct osc_str text;
    int64_t n;
    uint64_t v = 0;

    if (osc_args_int(t, c, i, OSC_ARG_KEY_ADDR, &n)) {
        *address = (uint64_t)n;
        return true;
    }
    /* Device addresses may use all 64 bits, more than an INT64 holds. */
    if (!osc_row_arg_str(t, c, i, OSC_ARG_KEY_ADDR, &text) || text.len == 0)
        return false;
    for (uint32_t k = 0; k < text.len; k++) {
        if (text.s[k] < '0' || text.s[k] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text.s[k] - '0'), &v))
            return false;
    }
    *address = v;
    return true;
}

static int compare_drafts(const void *pa, const void *pb)
{
    const struct osc_allocation_record *const a = &((const struct draft *)pa)->record;
    const struct osc_allocation_record *const b = &((const struct draft *)pb)->record;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Collect the usable records of M in order of time. */
static uint32_t draft_all(struct osc_trace *t, const struct osc_memory *m, struct draft *drafts)
{
    uint8_t same_as[TYPE_MAX + 1];
    uint32_t n = 0;
    bool is_sorted = true;

    unite_types(t, same_as);
    for (uint32_t k = 0; k < m->n_records; k++) {
        const struct osc_chunk *const c =
            osc_chunk_of(&t->events, (osc_row){m->records[k].row});
        const uint32_t i = m->records[k].row & OSC_CHUNK_MASK;
        int64_t bytes;

        if (!osc_args_int(t, c, i, OSC_ARG_KEY_BYTES, &bytes) || bytes >= BYTES_MAX ||
            bytes <= -BYTES_MAX) {
            count(t, OSC_FINDING_bad_memory_record, c->ts_ns[i]);
            continue;
        }
        drafts[n] = (struct draft){.record = {.time_ns = c->ts_ns[i],
                                              .bytes = bytes,
                                              .row = m->records[k].row,
                                              .node = m->records[k].node},
                                   .device = device_of(t, c, i, same_as)};
        is_sorted = is_sorted && (n == 0 || compare_drafts(&drafts[n - 1], &drafts[n]) <= 0);
        n++;
    }
    if (!is_sorted)
        osc_sort(drafts, n, sizeof *drafts, compare_drafts);
    return n;
}

/* Number the devices of DRAFTS, and count the records of each. */
static osc_status number_devices(const struct osc_trace *t, struct osc_allocations *a,
                                 struct draft *drafts, uint32_t n)
{
    struct osc_idmap numbers = {0};
    osc_status st = OSC_OK;
    size_t cap = 0;

    for (uint32_t k = 0; k < n && st == OSC_OK; k++) {
        uint64_t key = drafts[k].device;

        if (a->n_devices >= OSC_MEMORY_DEVICES_MAX && osc_idmap_get(&numbers, key) == 0)
            key = unknown_of(key);
        uint32_t *const number = osc_idmap_put(&numbers, key);
        if (!number || osc_grow(&a->devices, &cap, (size_t)a->n_devices + 1,
                                sizeof *a->devices) != OSC_OK) {
            st = OSC_ENOMEM;
            break;
        }
        if (*number == 0) {
            struct osc_memory_device *const d = &a->devices[a->n_devices++];

            *d = (struct osc_memory_device){0};
            name_device(t, d, key);
            *number = a->n_devices;
        }
        drafts[k].number = *number - 1;
        a->devices[*number - 1].n++;
    }
    osc_idmap_fini(&numbers);
    return st;
}

static void place_records(struct osc_allocations *a, const struct draft *drafts, uint32_t n)
{
    uint32_t first = 0;

    for (uint32_t d = 0; d < a->n_devices; d++) {
        a->devices[d].first = first;
        first += a->devices[d].n;
        a->devices[d].n = 0;
    }
    for (uint32_t k = 0; k < n; k++) {
        struct osc_memory_device *const d = &a->devices[drafts[k].number];

        a->records[d->first + d->n++] = drafts[k].record;
    }
}

/* Pair the records of D. LIVE holds index + 1 of the open allocation at each address. */
static osc_status pair(struct osc_trace *t, struct osc_allocations *a,
                       const struct osc_memory_device *d)
{
    struct osc_idmap live = {0};
    int64_t total = 0, last = 0, change;
    bool has_last = false;

    for (uint32_t k = d->first; k < d->first + d->n; k++) {
        struct osc_allocation_record *const r = &a->records[k];
        const struct osc_chunk *const c = osc_chunk_of(&t->events, (osc_row){r->row});
        const uint32_t i = r->row & OSC_CHUNK_MASK;
        uint64_t address;

        const bool has_total = osc_args_int(t, c, i, OSC_ARG_KEY_TOTAL_ALLOCATED, &total);
        const bool follows =
            !has_last || (!__builtin_sub_overflow(total, last, &change) && change == r->bytes);

        if (has_total && (total < 0 || !follows))
            count(t, OSC_FINDING_memory_gap, r->time_ns);
        has_last = has_total;
        last = total;
        if (!osc_allocation_address(t, c, i, &address))
            continue;
        a->has_addresses = true;
        uint32_t *const place = osc_idmap_put(&live, address);
        if (!place) {
            osc_idmap_fini(&live);
            return OSC_ENOMEM;
        }
        if (*place != 0) {
            a->records[*place - 1].other = k + 1;
            if (r->bytes > 0)
                count(t, OSC_FINDING_lost_release, r->time_ns);
            else
                r->other = *place;
        } else if (r->bytes <= 0) {
            count(t, OSC_FINDING_unpaired_release, r->time_ns);
        }
        *place = r->bytes > 0 ? k + 1 : 0;
    }
    osc_idmap_fini(&live);
    return OSC_OK;
}

/* Failed allocations have records of their own. */
static void count_failed(struct osc_trace *t)
{
    for (uint32_t k = 1; k < t->events.n_chunks; k++) {
        const struct osc_chunk *const c = t->events.chunks[k];
        const uint8_t *at = c->kind;
        const uint8_t *const end = c->kind + c->n_rows;

        while (at < end && (at = memchr(at, OSC_KIND_OOM, (size_t)(end - at))) != NULL)
            count(t, OSC_FINDING_out_of_memory, c->ts_ns[at++ - c->kind]);
    }
}

osc_status osc_allocations_make(struct osc_trace *t, const struct osc_memory *m,
                                struct osc_allocations *a)
{
    struct draft *drafts = NULL;
    osc_status st = OSC_OK;

    *a = (struct osc_allocations){0};
    count_failed(t);
    if (m->n_records == 0)
        return OSC_OK;
    drafts = osc_malloc(m->n_records * sizeof *drafts);
    a->records = osc_malloc(m->n_records * sizeof *a->records);
    if (!drafts || !a->records) {
        st = OSC_ENOMEM;
        goto out;
    }
    a->n_records = draft_all(t, m, drafts);
    a->n_unusable = m->n_records - a->n_records;
    st = number_devices(t, a, drafts, a->n_records);
    if (st != OSC_OK)
        goto out;
    place_records(a, drafts, a->n_records);
    for (uint32_t d = 0; d < a->n_devices && st == OSC_OK; d++) {
        const struct osc_memory_device *const device = &a->devices[d];

        if (!device->is_unknown)
            st = pair(t, a, device);
        for (uint32_t k = 0; device->is_unknown && k < device->n; k++)
            count(t, OSC_FINDING_bad_memory_record, a->records[device->first + k].time_ns);
    }
out:
    osc_free(drafts);
    if (st != OSC_OK)
        osc_allocations_fini(a);
    return st;
}

void osc_allocations_fini(struct osc_allocations *a)
{
    osc_free(a->records);
    osc_free(a->devices);
    *a = (struct osc_allocations){0};
}

uint32_t osc_allocations_at(const struct osc_allocations *a, const struct osc_memory_device *d,
                            int64_t at_ns)
{
    uint32_t low = d->first, high = d->first + d->n;

    OSC_BISECT(low, high, i, a->records[i].time_ns < at_ns);
    return low;
}
