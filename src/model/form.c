/* SPDX-License-Identifier: Apache-2.0 */
#include "model/form.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

const char *osc_arg_key_text(enum osc_arg_key key)
{
    static const char *const texts[] = {
#define OSC_ARG_KEY_TEXT(name, text) text,
        OSC_ARG_KEY_LIST(OSC_ARG_KEY_TEXT)
#undef OSC_ARG_KEY_TEXT
    };

    return (unsigned)key < OSC_ARG_KEY_COUNT ? texts[key] : "";
}

osc_status osc_form_set_slots(struct osc_form *f, const struct osc_slot *slots, uint32_t n)
{
    assert(n <= OSC_FORM_SLOTS_MAX);
    f->slots = n > 0 ? osc_malloc(n * sizeof *f->slots) : NULL;
    f->n_slots = f->slots ? (uint16_t)n : 0;
    if (f->n_slots < n)
        return OSC_ENOMEM;
    if (n > 0)
        memcpy(f->slots, slots, n * sizeof *slots);
    return OSC_OK;
}

void osc_form_cut_slots(struct osc_form *f, uint32_t n)
{
    assert(n <= f->n_slots);
    f->n_slots = (uint16_t)n;
    if (n > 0)
        return;
    osc_free(f->slots);
    f->slots = NULL;
}
