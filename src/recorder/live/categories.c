/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/categories.h"

#include <string.h>

#include "opscope/record.h"
#include "recorder/live/names.h"
#include "recorder/live/switch_lock.h"
#include "recording/switches.h"

struct rules {
    struct osc_switch_level v[OSC_SWITCH_RULES_MAX];
    uint32_t n;
};

static struct rules rules; /* under the lock */
static uint32_t lock;
static uint32_t is_full;               /* a category found no room */
static uint32_t names[OSC_CATEGORIES]; /* of the categories; 0: not made yet */

static uint8_t level_of(const struct rules *r, uint32_t name)
{
    size_t len;
    const char *const text = osc_names_text(name, &len);

    for (uint32_t i = r->n; i-- > 0;)
        if (osc_switch_matches(&r->v[i].pattern, text, len))
            return r->v[i].level;
    return OSC_LEVEL_USUAL;
}

/* relaxed: a call that reads the level of before is as good as an earlier one. */
static void set_level(uint32_t category, uint8_t level)
{
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
                set_level(i, level_of(&rules, id));
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

/* Add RULE to R, in place of what it makes void; false: there is no room. */
static bool add(struct rules *r, const struct osc_switch_level *rule)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!osc_switch_is_all(&rule->pattern) &&
            strcmp(r->v[i].pattern.text, rule->pattern.text) != 0)
            r->v[n++] = r->v[i];
    if (n == OSC_SWITCH_RULES_MAX)
        return false;
    r->v[n++] = *rule;
    r->n = n;
    return true;
}

static osc_status follow(const char *list)
{
    static struct rules next; /* under the lock */
    const char *item;
    size_t len;

    next = rules;
    while (osc_switch_next(&list, &item, &len)) {
        struct osc_switch_level rule;

        if (!osc_switch_read_level(item, len, &rule))
            return OSC_EINVAL;
        if (!add(&next, &rule))
            return OSC_ELIMIT;
    }
    rules = next;
    for (uint32_t i = 1; i < OSC_CATEGORIES; i++) {
        const uint32_t name = osc_categories_name(i);

        if (name != 0)
            set_level(i, level_of(&rules, name));
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
