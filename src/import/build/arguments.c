/* SPDX-License-Identifier: Apache-2.0 */
#include "import/build/arguments.h"

#include <math.h>

#include "base/strbuf.h"

void osc_arguments_fini(struct osc_arguments *a)
{
    osc_free(a->slots);
    osc_free(a->words);
    *a = (struct osc_arguments){0};
}

void osc_arguments_add(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                       enum osc_arg_type type, uint64_t bits)
{
    const uint32_t n = osc_arg_words(type);

    if (b->status != OSC_OK || a->n_slots == OSC_FORM_SLOTS_MAX)
        return;
    b->status = osc_build_grow(&a->slots, &a->cap_slots, a->n_slots + 1, sizeof *a->slots);
    if (b->status == OSC_OK)
        b->status = osc_build_grow(&a->words, &a->cap_words, a->n_words + 2, sizeof *a->words);
    if (b->status != OSC_OK)
        return;
    a->slots[a->n_slots++] = (struct osc_slot){.key = key, .type = (uint8_t)type};
    if (n > 0)
        a->words[a->n_words] = (uint32_t)bits;
    if (n > 1)
        a->words[a->n_words + 1] = (uint32_t)(bits >> 32);
    a->n_words += n;
}

void osc_arguments_int(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                       int64_t value)
{
    const bool is_short = value >= INT32_MIN && value <= INT32_MAX;

    osc_arguments_add(b, a, key, is_short ? OSC_ARG_INT32 : OSC_ARG_INT64, (uint64_t)value);
}

void osc_arguments_double(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                          uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    if (isfinite(d)) {
        osc_arguments_add(b, a, key, OSC_ARG_DOUBLE, bits);
    } else {
        const struct osc_str text = isnan(d)  ? OSC_STR("NaN")
                                    : d > 0.0 ? OSC_STR("Infinity")
                                              : OSC_STR("-Infinity");
        osc_arguments_add(b, a, key, OSC_ARG_STRING, osc_build_string(b, text.s, text.len).v);
    }
}

void osc_arguments_string(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                          osc_sid value)
{
    osc_arguments_add(b, a, key, OSC_ARG_STRING, value.v);
}

void osc_arguments_id(struct osc_builder *b, struct osc_arguments *a, osc_sid key,
                      uint64_t value)
{
    struct osc_strbuf digits = {0};

    if (value <= INT64_MAX) {
        osc_arguments_int(b, a, key, (int64_t)value);
        return;
    }
    osc_strbuf_addf(&digits, "%llu", (unsigned long long)value);
    if (digits.status == OSC_OK)
        osc_arguments_add(b, a, key, OSC_ARG_STRING,
                          osc_build_string(b, digits.s, (uint32_t)digits.len).v);
    else
        b->status = digits.status;
    osc_strbuf_fini(&digits);
}
