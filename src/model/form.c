/* SPDX-License-Identifier: Apache-2.0 */
#include "model/form.h"

const char *osc_arg_key_text(enum osc_arg_key key)
{
    static const char *const texts[] = {
#define OSC_ARG_KEY_TEXT(name, text) text,
        OSC_ARG_KEY_LIST(OSC_ARG_KEY_TEXT)
#undef OSC_ARG_KEY_TEXT
    };

    return (unsigned)key < OSC_ARG_KEY_COUNT ? texts[key] : "";
}
