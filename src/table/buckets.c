/* SPDX-License-Identifier: Apache-2.0 */
#include "table/buckets.h"

#include <string.h>

#include "base/mem.h"
#include "base/wide.h"

#define PER_POWER_BITS 3 /* eight to a power of two */
#define PER_POWER      (1u << PER_POWER_BITS)

uint32_t osc_bucket_of(int64_t v)
{
    if (v < (int64_t)PER_POWER)
        return v < 0 ? 0 : (uint32_t)v;
    const unsigned shift =
        63u - PER_POWER_BITS - (unsigned)__builtin_clzll((unsigned long long)v);

    return shift * PER_POWER + (uint32_t)(v >> shift);
}

/* How many bits below the highest ones values of bucket INDEX differ in. */
static unsigned shift_of(uint32_t index)
{
    return index < 2 * PER_POWER ? 0 : index / PER_POWER - 1;
}

int64_t osc_bucket_start(uint32_t index)
{
    if (index >= OSC_BUCKETS)
        return INT64_MAX;
    return index < 2 * PER_POWER ? index
                                 : (int64_t)(index % PER_POWER + PER_POWER) << shift_of(index);
}

int64_t osc_bucket_middle(uint32_t index)
{
    const uint32_t i = index < OSC_BUCKETS ? index : OSC_BUCKETS - 1;

    return osc_bucket_start(i) + ((INT64_C(1) << shift_of(i)) - 1) / 2;
}

void osc_buckets_fini(struct osc_buckets *b)
{
    osc_free(b->at);
    *b = (struct osc_buckets){0};
}

/* Add COUNT to bucket INDEX, from place *FROM on, which moves behind it. */
static osc_status add_count(struct osc_buckets *b, size_t *from, uint32_t index, uint64_t count)
{
    size_t i = *from;

    while (i < b->n && b->at[i].index < index)
        i++;
    *from = i + 1;
    if (i < b->n && b->at[i].index == index) {
        const uint64_t room = UINT64_MAX - b->at[i].count;

        b->at[i].count += count < room ? count : room;
        return OSC_OK;
    }
    if (osc_grow(&b->at, &b->cap, b->n + 1, sizeof *b->at) != OSC_OK)
        return OSC_ENOMEM;
    memmove(&b->at[i + 1], &b->at[i], (b->n - i) * sizeof *b->at);
    b->at[i] = (struct osc_bucket){index, count};
    b->n++;
    return OSC_OK;
}

/* Read a number of at most LIMIT at *AT of TEXT, and the byte END behind it unless the text
 * ends there; false if there is none. */
static bool read_number(struct osc_str text, uint32_t *at, char end, uint64_t limit,
                        uint64_t *value)
{
    const uint32_t start = *at;

    for (*value = 0; *at < text.len && text.s[*at] >= '0' && text.s[*at] <= '9'; ++*at) {
        const uint64_t digit = (uint64_t)(text.s[*at] - '0');

        if (*value > (limit - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    if (*at == start || (*at < text.len && text.s[*at] != end))
        return false;
    *at += *at < text.len;
    return true;
}

osc_status osc_buckets_add(struct osc_buckets *b, struct osc_str text)
{
    osc_status st = OSC_OK;
    uint64_t index, count;
    size_t from = 0;

    for (uint32_t at = 0; at < text.len && st == OSC_OK;) {
        if (!read_number(text, &at, ':', OSC_BUCKETS - 1, &index) ||
            !read_number(text, &at, ' ', UINT64_MAX, &count) || count == 0)
            return OSC_EFORMAT;
        if (from > 0 && index <= b->at[from - 1].index)
            return OSC_EFORMAT;
        st = add_count(b, &from, (uint32_t)index, count);
    }
    return st;
}

void osc_buckets_put(struct osc_strbuf *out, uint32_t index, uint64_t count)
{
    if (out->len > 0)
        osc_strbuf_addc(out, ' ');
    osc_strbuf_addf(out, "%u:%llu", index, (unsigned long long)count);
}

int64_t osc_buckets_quantile(const struct osc_buckets *b, unsigned part, unsigned whole)
{
    osc_wide n = 0, sum = 0;
    size_t i = 0;

    for (size_t k = 0; k < b->n; k++)
        n += b->at[k].count;
    if (n == 0)
        return 0;
    const osc_wide place = (n * part + whole - 1) / whole;
    for (sum = b->at[0].count; sum < place && i + 1 < b->n; sum += b->at[i].count)
        i++;
    return osc_bucket_middle(b->at[i].index);
}
