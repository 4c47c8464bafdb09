/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headlines.h - the sentences of the table `headlines`.
 *
 * Threading: constant.
 */
#pragma once

#include "prose/phrase.h"

extern const struct osc_prose osc_headlines_prose;
