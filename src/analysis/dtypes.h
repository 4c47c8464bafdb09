/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtypes.h - the dtypes of inputs: their sizes, and what the tables of operators say of them.
 *
 * Threading: not locked.
 */
#pragma once

#include "table/table.h"

/* The help of column `input_dtypes`, which continues with when it is present. */
#define OSC_INPUT_DTYPES_HELP                                                                 \
    "Types of the inputs in torch's words, with commas between them: the "                    \
    "elements of a tensor (float, long int, c10::BFloat16), Scalar, ScalarList, TensorList, " \
    "and nothing for any other input. Missing if nothing was recorded."

/* Say in R, which is grouped by dtype, that the trace has none, if it shows no COLUMN. */
void osc_dtypes_note(struct osc_result *r, uint32_t column);

/* The bytes of an element of dtype TYPE, in the words of torch or of its collectives; 0:
 * unknown. */
int64_t osc_dtype_bytes(struct osc_str type);
