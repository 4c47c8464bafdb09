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

char osc_shape_letter(enum osc_form_shape shape)
{
    static const char letters[OSC_SHAPE_COUNT] = {
        [OSC_SHAPE_RANGE] = 'X',     [OSC_SHAPE_BEGIN] = 'B',      [OSC_SHAPE_ASYNC] = 'b',
        [OSC_SHAPE_INSTANT] = 'i',   [OSC_SHAPE_COUNTER] = 'C',    [OSC_SHAPE_END] = 'E',
        [OSC_SHAPE_ASYNC_END] = 'e', [OSC_SHAPE_ARROW_FROM] = 's', [OSC_SHAPE_ARROW_STEP] = 't',
        [OSC_SHAPE_ARROW_TO] = 'f',  [OSC_SHAPE_ABOUT] = 'M',
    };

    if ((unsigned)shape < OSC_SHAPE_COUNT)
        return letters[shape];
    return '\0';
}

enum osc_form_shape osc_shape_of_letter(uint8_t letter)
{
    if (letter == 'I' || letter == 'n')
        return OSC_SHAPE_INSTANT;
    for (int shape = OSC_SHAPE_RANGE; shape < OSC_SHAPE_COUNT; shape++) {
        if ((uint8_t)osc_shape_letter((enum osc_form_shape)shape) == letter)
            return (enum osc_form_shape)shape;
    }
    return OSC_SHAPE_NONE;
}
