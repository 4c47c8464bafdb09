/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kind.h"

const char *osc_kind_text(enum osc_kind kind)
{
    static const char *const texts[] = {
#define OSC_KIND_TEXT(name, text) text,
        OSC_KIND_LIST(OSC_KIND_TEXT)
#undef OSC_KIND_TEXT
    };

    return (unsigned)kind < OSC_KIND_COUNT ? texts[kind] : "";
}

enum osc_kind osc_kind_of_text(struct osc_str text)
{
    unsigned kind = OSC_KIND_COUNT - 1;

    while (kind > OSC_KIND_NONE &&
           !osc_str_eq(text, osc_str_c(osc_kind_text((enum osc_kind)kind))))
        kind--;
    return (enum osc_kind)kind;
}
