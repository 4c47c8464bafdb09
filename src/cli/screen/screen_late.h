/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen_late.h - the section about ranks that let the others wait.
 *
 * The rank with most of the waiting, if it has more than its share and came later than clocks
 * may be wrong: how much, since when, why.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdint.h>

#include "cli/screen/page.h"

/* The rank that lets the others wait; -1: none. */
int64_t osc_screen_late_rank(const struct osc_screen *s);

/* Print the section, or nothing. */
void osc_screen_put_late(struct osc_page *p);
