/* SPDX-License-Identifier: Apache-2.0 */
/* The inline functions of opscope/record.h as functions of the library, for languages that do
 * not compile C. */
#pragma GCC diagnostic ignored \
    "-Wmissing-prototypes" /* their definitions are their only ones */
#define OSC_INLINE OSC_API

#include "opscope/record.h"
