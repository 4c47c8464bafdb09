/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/rocm_device_numbers.h"

#include <stdio.h>
#include <string.h>

#include "codec/json.h"
#include "model/known_names.h"

/* A machine has fewer agents; a trace with others is not renumbered. */
#define AGENTS_MAX 64

/* A set of numbers below AGENTS_MAX. */
typedef uint64_t numbers;

struct seen {
    numbers work, memory, properties;
    bool is_beyond; /* some number is too large */
};

/* Add N; what has no number tells nothing. */
static void add(struct seen *s, numbers *set, int64_t n)
{
    if (n >= AGENTS_MAX)
        s->is_beyond = true;
    else if (n >= 0)
        *set |= UINT64_C(1) << n;
}

/* The number N if DEVICE is hip:N, else -1. */
static int64_t hip_number(const struct osc_trace *t, osc_sid device)
{
    struct osc_str family = OSC_STR("");
    const int64_t n = osc_device_split(osc_trace_str(t, device), &family);

    return osc_str_eq(family, OSC_STR("hip")) ? n : -1;
}

/* Add the devices of the memory records in chunk K. */
static void see_memory(const struct osc_trace *t, const struct osc_chunk *k, struct seen *s)
{
    const int32_t cuda = osc_known_device_number(OSC_STR("cuda")),
                  hip = osc_known_device_number(OSC_STR("hip"));

    for (uint32_t i = 0; i < k->n_rows; i++) {
        int64_t type, id;

        if ((k->kind[i] == OSC_KIND_ALLOC || k->kind[i] == OSC_KIND_FREE) &&
            osc_row_arg_int(t, k, i, OSC_ARG_KEY_DEVICE_TYPE, &type) &&
            (type == cuda || type == hip) &&
            osc_row_arg_int(t, k, i, OSC_ARG_KEY_DEVICE_ID, &id))
            add(s, &s->memory, id);
    }
}

static bool is_subset(numbers a, numbers b)
{
    return (a & ~b) == 0;
}

/* Whether devices that are BY places before their agents agree with all that T says. */
static bool fits(const struct seen *s, unsigned by)
{
    const numbers devices = s->work >> by;

    if (devices << by != s->work)
        return false; /* an agent would be before device 0 */
    if (s->properties != 0 && !is_subset(devices, s->properties))
        return false;
    return s->memory == 0 || is_subset(devices, s->memory) || is_subset(s->memory, devices);
}

static osc_status rename_all(struct osc_trace *t, unsigned by)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 1; i < t->n_tracks && st == OSC_OK; i++) {
        const int64_t n = hip_number(t, t->tracks[i].device);
        char name[24];

        if (n < (int64_t)by)
            continue;
        const int len = snprintf(name, sizeof name, "hip:%lld", (long long)(n - by));
        st = osc_strings_add(&t->strings, (struct osc_str){name, (uint32_t)len},
                             &t->tracks[i].device, NULL);
    }
    return st;
}

bool osc_rocm_device_numbers_read(const struct osc_trace *t, struct osc_str *family,
                                  unsigned *places)
{
    struct osc_str rest, word, number;
    int64_t n;

    if (!osc_trace_meta(t, OSC_DEVICES_MEMBER, &rest) || !osc_json_next(&rest, &word) ||
        word.len < 3 || word.s[0] != '"' || !osc_json_next(&rest, &number) ||
        !osc_json_int(number, &n) || n < 0 || n >= AGENTS_MAX)
        return false;
    *family = (struct osc_str){word.s + 1, word.len - 2};
    *places = (unsigned)n;
    return true;
}

osc_status osc_rocm_device_numbers_match(struct osc_trace *t)
{
    struct seen s = {0};
    struct osc_str family;
    unsigned n_fits = 0, by = 0;

    if (osc_rocm_device_numbers_read(t, &family, &by))
        return by > 0 ? rename_all(t, by) : OSC_OK;
    for (uint32_t i = 1; i < t->n_tracks; i++) {
        if (hip_number(t, t->tracks[i].device) >= 0)
            add(&s, &s.work, hip_number(t, t->tracks[i].device));
    }
    if (s.work == 0)
        return OSC_OK;
    for (uint32_t c = 1; c < t->events.n_chunks; c++)
        see_memory(t, t->events.chunks[c], &s);
    for (uint32_t i = 0; i < t->n_devices; i++)
        add(&s, &s.properties, t->devices[i].index);
    for (unsigned k = 0; k < AGENTS_MAX && !s.is_beyond; k++) {
        if (fits(&s, k)) {
            n_fits++;
            by = k;
        }
    }
    if (n_fits == 1)
        return by > 0 ? rename_all(t, by) : OSC_OK;
    osc_findings_add(&t->findings, OSC_FINDING_device_unmatched, OSC_NO_OFFSET, OSC_NO_TIME);
    return OSC_OK;
}
