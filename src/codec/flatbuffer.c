/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/flatbuffer.h"

#include <string.h>

static size_t here(const struct osc_flat *f)
{
    return f->out->len - f->from;
}

/* Fill up so that after MORE bytes a multiple of TO is reached. */
static void align(struct osc_flat *f, size_t to, size_t more)
{
    osc_strbuf_pad(f->out, '\0', (to - (here(f) + more) % to) % to);
}

static void add(struct osc_flat *f, const void *value, size_t n)
{
    osc_strbuf_add(f->out, value, n);
}

static void put(struct osc_flat *f, size_t place, const void *value, size_t n)
{
    if (f->out->status == OSC_OK)
        memcpy(f->out->s + f->from + place, value, n);
}

/* Let PLACE refer to what is written next. */
static void refer(struct osc_flat *f, size_t place)
{
    const uint32_t distance = (uint32_t)(here(f) - place);

    put(f, place, &distance, sizeof distance);
}

struct osc_flat osc_flat_begin(struct osc_strbuf *out)
{
    const size_t from = out->len;

    osc_strbuf_pad(out, '\0', sizeof(uint32_t));
    return (struct osc_flat){out, from};
}

size_t osc_flat_table(struct osc_flat *f, size_t place, const uint8_t *sizes, uint16_t n)
{
    uint16_t head[2] = {(uint16_t)(sizeof head + sizeof(uint16_t) * n), sizeof(int32_t)};

    align(f, 2, 0);
    const size_t vtable = here(f);
    add(f, head, sizeof head);
    for (uint16_t i = 0; i < n; i++) {
        const unsigned size = sizes[i];
        const uint16_t at = (uint16_t)(size > 0 ? (head[1] + size - 1) / size * size : 0);

        if (size > 0)
            head[1] = (uint16_t)(at + size);
        add(f, &at, sizeof at);
    }
    put(f, vtable, head, sizeof head);
    align(f, 8, 0);
    const size_t table = here(f);
    const int32_t back = (int32_t)(table - vtable);
    refer(f, place);
    osc_strbuf_pad(f->out, '\0', head[1]);
    put(f, table, &back, sizeof back);
    return table;
}

size_t osc_flat_field(const struct osc_flat *f, size_t table, uint16_t field)
{
    int32_t back;
    uint16_t at;

    if (f->out->status != OSC_OK)
        return 0;
    const char *const p = f->out->s + f->from + table;
    memcpy(&back, p, sizeof back);
    memcpy(&at, p - back + 2 * sizeof at + field * sizeof at, sizeof at);
    return table + at;
}

void osc_flat_set(struct osc_flat *f, size_t table, uint16_t field, int64_t value, uint8_t size)
{
    put(f, osc_flat_field(f, table, field), &value, size);
}

void osc_flat_text(struct osc_flat *f, size_t place, struct osc_str s)
{
    align(f, sizeof s.len, 0);
    refer(f, place);
    add(f, &s.len, sizeof s.len);
    add(f, s.s, s.len);
    osc_strbuf_addc(f->out, '\0');
}

size_t osc_flat_vector(struct osc_flat *f, size_t place, uint32_t n)
{
    align(f, sizeof n, 0);
    refer(f, place);
    add(f, &n, sizeof n);
    const size_t first = here(f);
    osc_strbuf_pad(f->out, '\0', sizeof(uint32_t) * n);
    return first;
}

void osc_flat_pairs(struct osc_flat *f, size_t place, const int64_t (*pairs)[2], uint32_t n)
{
    align(f, sizeof **pairs, sizeof n);
    refer(f, place);
    add(f, &n, sizeof n);
    add(f, pairs, n * sizeof *pairs);
}

void osc_flat_end(struct osc_flat *f)
{
    align(f, 8, 0);
}
