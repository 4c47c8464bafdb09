/* SPDX-License-Identifier: Apache-2.0 */
/* What clients say of ranges and marks besides their names, as arguments. */
#include <inttypes.h>
#include <stdio.h>

#include "opscope/record.h"
#include "sources/handle_map.h"
#include "sources/nvtx/nvtx_payload.h"

/* Names of categories, by domain and number. */
static struct osc_handle_map categories = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const void *category_key(const struct osc_nvtx_domain *d, uint32_t category)
{
    return osc_handle_of((uint64_t)d->number << 32 | category);
}

void osc_nvtx_name_category(const struct osc_nvtx_domain *d, uint32_t category,
                            struct osc_text *text)
{
    (void)osc_handle_set(&categories, category_key(d, category), (uintptr_t)text);
}

void osc_nvtx_add_category(const struct osc_nvtx_domain *d, uint32_t category)
{
    struct osc_text *const named =
        osc_handle_get_address(&categories, category_key(d, category));

    if (named)
        osc_arg_name(OSC_SOURCE_NAME("category"), osc_text_name(named));
    else
        osc_arg_i64(OSC_SOURCE_NAME("category"), category);
}

void osc_nvtx_add_color(uint32_t argb)
{
    char text[8] = "#000000";

    for (int i = 6; i > 0; i--, argb >>= 4)
        text[i] = "0123456789abcdef"[argb & 15];
    osc_arg_name(OSC_SOURCE_NAME("color"), osc_text_name(osc_text_find(text, 7)));
}

void osc_nvtx_add_unsigned(osc_name key, uint64_t value)
{
    char digits[24];

    if (value <= INT64_MAX)
        osc_arg_i64(key, (int64_t)value);
    else /* has no integer of ours */
        osc_arg_json(key, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, value));
}

/* A type of a newer NVTX is left out: its width is not known. */
static void add_payload(const struct osc_nvtx_attributes *a)
{
    const osc_name key = OSC_SOURCE_NAME("payload");

    switch (a->payload_type) {
    case OSC_NVTX_PAYLOAD_U64:
        osc_nvtx_add_unsigned(key, a->payload.u64);
        break;
    case OSC_NVTX_PAYLOAD_I64:
        osc_arg_i64(key, a->payload.i64);
        break;
    case OSC_NVTX_PAYLOAD_DOUBLE:
        osc_arg_f64(key, a->payload.f64);
        break;
    case OSC_NVTX_PAYLOAD_U32:
        osc_arg_i64(key, a->payload.u32);
        break;
    case OSC_NVTX_PAYLOAD_I32:
        osc_arg_i64(key, a->payload.i32);
        break;
    case OSC_NVTX_PAYLOAD_FLOAT:
        osc_arg_f64(key, (double)a->payload.f32);
        break;
    default:
        break;
    }
}

void osc_nvtx_add_attributes(const struct osc_nvtx_domain *d,
                             const struct osc_nvtx_attributes *a)
{
    if (d->text)
        osc_arg_name(OSC_SOURCE_NAME("domain"), osc_text_name(d->text));
    if (a->category != 0)
        osc_nvtx_add_category(d, a->category);
    if (a->color_type == OSC_NVTX_COLOR_ARGB)
        osc_nvtx_add_color(a->color);
    if (a->payload_type == OSC_NVTX_PAYLOAD_LIST)
        osc_nvtx_add_payloads(d, osc_nvtx_payloads_of(a));
    else if (a->payload_type != OSC_NVTX_PAYLOAD_NONE)
        add_payload(a);
}
