/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_properties.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "codec/json.h"

/* The whole number of member KEY, also as text; -1: none, or a negative one. */
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

/* The text of member `name`, empty if it is none. */
static osc_status read_name(struct osc_arena *arena, struct osc_str device,
                            struct osc_str *name)
{
    struct osc_strbuf text = {0};
    struct osc_str value;

    *name = (struct osc_str){"", 0};
    if (!osc_json_member(device, "name", &value) || value.len < 3 || value.s[0] != '"')
        return OSC_OK;
    (void)osc_json_unescape(value.s + 1, value.s + value.len - 1, &text);
    osc_status st = text.status;
    if (st == OSC_OK) {
        const char *const copy = osc_arena_dup(arena, text.s, text.len);

        if (copy)
            *name = (struct osc_str){copy, (uint32_t)text.len};
        else
            st = OSC_ENOMEM;
    }
    osc_strbuf_fini(&text);
    return st;
}

static osc_status add_device(struct osc_device_properties_list *l, struct osc_str device)
{
    struct osc_device_properties p = {
        .id = number_of(device, "id"),
        .memory_bytes = number_of(device, "totalGlobalMem"),
        .major = number_of(device, "computeMajor"),
        .minor = number_of(device, "computeMinor"),
        .sm_count = number_of(device, "numSms"),
    };

    if (p.id < 0)
        p.id = (int64_t)l->n;
    osc_status st = read_name(&l->arena, device, &p.name);
    if (st == OSC_OK)
        st = osc_grow(&l->v, &l->cap, l->n + 1, sizeof *l->v);
    if (st != OSC_OK)
        return st;
    uint32_t *const place = osc_idmap_put(&l->of_id, (uint64_t)p.id);
    if (!place)
        return OSC_ENOMEM;
    l->v[l->n++] = p;
    *place = *place == 0 ? (uint32_t)l->n : *place;
    return OSC_OK;
}

/* The list in the file, or an empty text. */
static struct osc_str find_list(const struct osc_trace *t)
{
    for (uint32_t i = 0; i < t->n_metas; i++) {
        const struct osc_meta *const m = &t->metas[i];

        if (osc_str_eq(osc_trace_str(t, m->key), OSC_STR("deviceProperties")))
            return m->is_string ? OSC_STR("") : osc_trace_str(t, m->value);
    }
    return OSC_STR("");
}

osc_status osc_device_properties_read(const struct osc_trace *t,
                                      struct osc_device_properties_list *l)
{
    struct osc_str rest = find_list(t), device;
    osc_status st = OSC_OK;

    while (st == OSC_OK && l->n < UINT32_MAX && osc_json_next(&rest, &device))
        st = add_device(l, device);
    return st;
}

void osc_device_properties_fini(struct osc_device_properties_list *l)
{
    osc_free(l->v);
    osc_idmap_fini(&l->of_id);
    osc_arena_fini(&l->arena);
    *l = (struct osc_device_properties_list){0};
}

const struct osc_device_properties *osc_device_properties_find(
    const struct osc_device_properties_list *l, int64_t id)
{
    const uint32_t place = id < 0 ? 0 : osc_idmap_get(&l->of_id, (uint64_t)id);

    return place == 0 ? NULL : &l->v[place - 1];
}
