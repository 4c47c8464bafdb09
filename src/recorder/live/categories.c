/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/categories.h"

#include "opscope/record.h"
#include "recorder/live/names.h"
#include "recorder/live/switch_lock.h"
#include "recording/switches.h"

static struct osc_switch_rules rules; /* under the lock */
static uint32_t lock;
static uint32_t is_full;               /* a category found no room */
static uint32_t names[OSC_CATEGORIES]; /* of the categories; 0: not made yet */

/* Set the level of CATEGORY, called NAME, by the rules. */
static void set_level(uint32_t category, uint32_t name)
{
    size_t len;
    const char *const text = osc_names_text(name, &len);
    const struct osc_switch_rule *const rule = osc_switch_rules_find(&rules, text, len);
    const int level = (int)(rule ? rule->value : OSC_LEVEL_USUAL);

    /* relaxed: a call that reads the level of before is as good as an earlier one. */
    __atomic_store_n(&osc_levels_[category], (signed char)(level - 1), __ATOMIC_RELAXED);
}

uint32_t osc_categories_name(uint32_t category)
{
    /* acquire: pairs with the release in osc_categories_find() */
    return category < OSC_CATEGORIES ? __atomic_load_n(&names[category], __ATOMIC_ACQUIRE) : 0;
}

uint32_t osc_categories_find(const char *name, size_t len, uint64_t *n_full)
{
    uint64_t n_cut = 0;
    const uint32_t id = osc_names_add(
        name, len < OSC_SWITCH_PATTERN_MAX ? len : OSC_SWITCH_PATTERN_MAX, n_full, &n_cut);

    for (uint32_t i = 1; id != 0 && i < OSC_CATEGORIES; i++) {
        uint32_t found = osc_categories_name(i);

        if (found == id)
            return i;
        if (found != 0)
            continue;
        /* release: who finds the name finds its bytes; acquire: as in
         * osc_categories_name() */
        if (__atomic_compare_exchange_n(&names[i], &found, id, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE)) {
            if (osc_switch_lock(&lock)) {
                set_level(i, id);
                osc_switch_unlock(&lock);
            }
            return i;
        }
        if (found == id)
            return i;
    }
    /* Once: a program may ask each time. relaxed: a number for itself */
    *n_full += id != 0 && !__atomic_exchange_n(&is_full, 1, __ATOMIC_RELAXED);
    return 0;
}

static osc_status follow(const char *list)
{
    static struct osc_switch_rules next; /* under the lock */
    const osc_status st = osc_switch_rules_add(&rules, &osc_switch_levels, list, &next);

    if (st != OSC_OK)
        return st;
    rules = next;
    for (uint32_t i = 1; i < OSC_CATEGORIES; i++) {
        const uint32_t name = osc_categories_name(i);

        if (name != 0)
            set_level(i, name);
    }
    return OSC_OK;
}

osc_status osc_categories_enable(const char *list)
{
    if (!osc_switch_lock(&lock))
        return OSC_ELIMIT;
    const osc_status st = follow(list);

    osc_switch_unlock(&lock);
    return st;
}

void osc_categories_unlock(void)
{
    osc_switch_unlock(&lock);
}
