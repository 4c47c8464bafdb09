/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - the page as one file, which is part of the program.
 *
 * tools/embed.py writes it when the program is built. It is HTML with two marks, each of which
 * is there once: OSC_TEMPLATE_TITLE in the title, and OSC_TEMPLATE_DATA where the data belong.
 * Without a built page it is empty.
 *
 * Threading: constants.
 */
#pragma once

#include <stddef.h>

#define OSC_TEMPLATE_TITLE "@TITLE@"
#define OSC_TEMPLATE_DATA  "@DATA@"

extern const unsigned char osc_template[];
extern const size_t osc_template_bytes;
