/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dtypes.h"

/* Types in lower case, without the "c10::" that they begin with. */
static const struct {
    const char *type;
    int64_t bytes;
} types_bytes[] = {
    {"double", 8},
    {"long", 8},
    {"long int", 8},
    {"int64", 8},
    {"uint64", 8},
    {"complex64", 8},
    {"complexfloat", 8},
    {"float", 4},
    {"int", 4},
    {"int32", 4},
    {"uint32", 4},
    {"float32", 4},
    {"float64", 8},
    {"half", 2},
    {"bfloat16", 2},
    {"float16", 2},
    {"short", 2},
    {"int16", 2},
    {"uint16", 2},
    {"char", 1},
    {"unsigned char", 1},
    {"signed char", 1},
    {"byte", 1},
    {"bool", 1},
    {"int8", 1},
    {"uint8", 1},
    {"complex<float>", 8},
    {"complex<double>", 16},
    {"complex<c10::half>", 4},
    {"complex128", 16},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"short int", 2},
    {"short unsigned int", 2},
    {"unsigned int", 4},
    {"long unsigned int", 8},
};

int64_t osc_dtype_bytes(struct osc_str type)
{
    const struct osc_str prefix = OSC_STR("c10::");

    if (osc_str_starts(type, prefix))
        type = (struct osc_str){type.s + prefix.len, type.len - prefix.len};
    for (size_t i = 0; i < sizeof types_bytes / sizeof *types_bytes; i++) {
        const struct osc_str word = osc_str_c(types_bytes[i].type);

        if (word.len == type.len && osc_str_has_case(type, word))
            return types_bytes[i].bytes;
    }
    return type.len >= 7 && osc_str_has_case((struct osc_str){type.s, 7}, OSC_STR("float8_"))
               ? 1
               : 0;
}

void osc_dtypes_note(struct osc_result *r, uint32_t column)
{
    if (r->n_rows > 0 && !(r->shown >> column & 1))
        osc_result_note(r, "no dtypes of inputs in the trace: torch writes them with "
                           "record_shapes=True");
}
