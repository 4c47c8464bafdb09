/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headlines.h - the sentences of the table `headlines`.
 *
 * Threading: pure functions.
 */
#pragma once

/* NULL if all sentences name facts that there are (prose/phrase.h); else where one does not. */
const char *osc_headlines_check(void);
