/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.h - which categories are recorded up to which level.
 *
 *   - A category is an index of osc_levels_, where calls read its level. It stays while the
 *     process lives; there are 255 of them, besides 0, which is none.
 *   - Rules say the level of a category by its name, the last one that matches: also of one
 *     that is made later. Without a rule it has level 1.
 *
 * Threading: any thread and handler.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The index of the category called NAME, LEN bytes, made if needed; 0: there is no room for it.
 * Longer names than a pattern may have are cut. Losses are added to *N_FULL. */
uint32_t osc_categories_find(const char *name, size_t len, uint64_t *n_full);

/* The name of CATEGORY as the recording has it; 0: there is no such category. */
uint32_t osc_categories_name(uint32_t category);

/* Follow a list such as "io,net:2,-debug": these categories get level 1, 2 and 0. OSC_EINVAL:
 * it is no such list; OSC_ELIMIT: too many rules, or another call does not end. Then nothing
 * has changed. */
osc_status osc_categories_enable(const char *list);

/* Call in the child of a fork: releases the lock, which another thread of the parent may have
 * held. */
void osc_categories_unlock(void);
