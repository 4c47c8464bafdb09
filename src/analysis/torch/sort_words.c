/* SPDX-License-Identifier: Apache-2.0 */
/* torch's words for sorting, which tables declare by shared_options.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/shared_options.h"
#include "model/known_names.h"
#include "table/nearest.h"

static const struct osc_sort_word words[] = {
    {"self_cpu_time_total", "host_self_ns", NULL},
    {"self_cpu_time_total", "self_cpu_ns", NULL},
    {"self_cpu_time_total", "self_ns", NULL},
    {"cpu_time_total", "host_total_ns", NULL},
    {"cpu_time_total", "cpu_ns", NULL},
    {"cpu_time_total", "total_ns", NULL},
    {"cpu_time", "host_total_ns", "calls"},
    {"cpu_time", "cpu_ns", "calls"},
    {"cpu_time", "total_ns", "calls"},
    {"self_device_time_total", "device_self_ns", NULL},
    {"self_device_time_total", "self_device_ns", NULL},
    {"device_time_total", "device_total_ns", NULL},
    {"device_time_total", "device_ns", NULL},
    {"device_time", "device_total_ns", "calls"},
    {"device_time", "device_ns", "calls"},
    {"self_cpu_memory_usage", "self_cpu_bytes", NULL},
    {"cpu_memory_usage", "cpu_bytes", NULL},
    {"self_device_memory_usage", "self_device_bytes", NULL},
    {"device_memory_usage", "device_bytes", NULL},
    {"count", "calls", NULL},
    {"count", "events", NULL},
    {"key", "name", NULL},
    {NULL, NULL, NULL},
};

/* Where all time is that of devices. */
static const struct osc_sort_word words_of_device_work[] = {
    {"self_device_time_total", "total_ns", NULL},
    {"device_time_total", "total_ns", NULL},
    {"device_time", "total_ns", "calls"},
    {"count", "calls", NULL},
    {"key", "name", NULL},
    {NULL, NULL, NULL},
};

/* Where columns mean the events of a track, or one event, of which torch has no words. */
static const struct osc_sort_word words_of_names[] = {{"key", "name", NULL},
                                                      {NULL, NULL, NULL}};

/* Whether the LEN bytes at WORD can be torch's word for a device, such as "cuda", or the name
 * of a backend. One that is nearly "cpu" is a slip, unless it is another unit, such as "npu".
 */
static bool is_device(const char *word, size_t len)
{
    char text[16];

    if (len == 0 || len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    return osc_edit_distance(text, "cpu") > 1 ||
           (len == 3 && strcmp(text + 1, "pu") == 0 && text[0] != 'c');
}

/* The word for a device in KEY; "": there is none. */
static struct osc_str device_of(struct osc_str key)
{
    static const char *const ends[] = {"_time_total", "_time", "_memory_usage"};
    const size_t before = osc_str_starts(key, OSC_STR("self_")) ? 5 : 0;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t after = strlen(ends[i]);

        if (key.len > before + after && memcmp(key.s + key.len - after, ends[i], after) == 0 &&
            is_device(key.s + before, key.len - before - after))
            return (struct osc_str){key.s + before, (uint32_t)(key.len - before - after)};
    }
    return OSC_STR("");
}

/* torch's words, and what is nearly "cpu", as "npu" is. */
static bool is_any_device(struct osc_str word)
{
    return osc_str_eq(word, OSC_STR("device")) || osc_str_eq(word, OSC_STR("privateuse1")) ||
           osc_known_device_number(word) >= 0 ||
           (word.len == 3 && memcmp(word.s + 1, "pu", 2) == 0);
}

const struct osc_sort_words osc_torch_words = {words, "device", device_of, is_any_device};
const struct osc_sort_words osc_torch_words_of_device_work = {words_of_device_work, "device",
                                                              device_of, is_any_device};
const struct osc_sort_words osc_torch_words_of_names = {words_of_names, "device", device_of,
                                                        is_any_device};
