/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx_payload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opscope/record.h"
#include "sources/source_thread.h"

#define PAYLOADS_MAX 64u
#define LIST_BYTES   3072u /* of a list as text */
#define WIDE_MAX     256u  /* characters of a wide text */
#define LIST_MAX     384u

/* The bytes of a payload. */
struct bytes {
    const char *at;
    size_t n;
};

struct piece {
    const char *s; /* NULL: there is none */
    size_t len;
};

struct osc_nvtx_payloads osc_nvtx_payloads_of(const struct osc_nvtx_attributes *a)
{
    struct osc_nvtx_payloads p = {0};
    const uintptr_t address = (uintptr_t)a->payload.u64;

    if (a->payload_type != OSC_NVTX_PAYLOAD_LIST || a->reserved <= 0)
        return p;
    memcpy(&p.list, &address, sizeof address);
    p.n = p.list ? (size_t)a->reserved : 0;
    p.n = p.n < PAYLOADS_MAX ? p.n : PAYLOADS_MAX;
    return p;
}

/* --- values --------------------------------------------------------------------------- */

/* The element of F at AT. */
static uint64_t unsigned_at(const struct osc_nvtx_field *f, const char *at)
{
    uint64_t value = 0;

    memcpy(&value, at, f->width); /* the host is little-endian, as clients are */
    return value;
}

static int64_t signed_at(const struct osc_nvtx_field *f, const char *at)
{
    const unsigned shift = 64 - 8u * f->width;

    return (int64_t)(unsigned_at(f, at) << shift) >> shift;
}

static double float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double half_at(const char *at)
{
    uint16_t half;

    memcpy(&half, at, sizeof half);
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, fraction = half & 0x3ff;
    const uint32_t exponent = half >> 10 & 0x1f;
    if (exponent == 0)
        return (sign ? -1 : 1) * (double)fraction * 0x1p-24;
    return float_of_bits(sign | (exponent == 0x1f ? 0xff : exponent + 112) << 23 |
                         fraction << 13);
}

static double float_at(const struct osc_nvtx_field *f, const char *at)
{
    double value;

    if (f->class == OSC_NVTX_CLASS_HALF)
        return half_at(at);
    if (f->class == OSC_NVTX_CLASS_BFLOAT)
        return float_of_bits((uint32_t)unsigned_at(f, at) << 16);
    if (f->width == sizeof(float))
        return float_of_bits((uint32_t)unsigned_at(f, at));
    memcpy(&value, at, sizeof value);
    return value;
}

static bool is_float(const struct osc_nvtx_field *f)
{
    return f->class == OSC_NVTX_CLASS_FLOAT || f->class == OSC_NVTX_CLASS_HALF ||
           f->class == OSC_NVTX_CLASS_BFLOAT;
}

/* How many elements F of S has. */
static uint64_t length_of(const struct osc_nvtx_schema *s, const struct osc_nvtx_field *f,
                          struct bytes b)
{
    if (f->form != OSC_NVTX_FIELD_COUNTED)
        return f->n;
    const struct osc_nvtx_field *const length =
        s && f->n < s->n_fields ? &s->fields[f->n] : NULL;
    if (!length || length->form != OSC_NVTX_FIELD_ONE || length->offset + length->width > b.n ||
        (length->class != OSC_NVTX_CLASS_SIGNED && length->class != OSC_NVTX_CLASS_UNSIGNED))
        return UINT64_MAX;
    if (length->class == OSC_NVTX_CLASS_UNSIGNED)
        return unsigned_at(length, b.at + length->offset);
    const int64_t n = signed_at(length, b.at + length->offset);
    return n > 0 ? (uint64_t)n : 0;
}

/* --- texts ---------------------------------------------------------------------------- */

static struct piece piece_of(const struct osc_text *text)
{
    return (struct piece){text->bytes, text->len};
}

/* The text of at most N characters of four bytes at AT, which need not be aligned. */
static struct piece wide_piece(const char *at, size_t n)
{
    wchar_t wide[WIDE_MAX + 1];

    n = n < WIDE_MAX ? n : WIDE_MAX;
    memcpy(wide, at, n * sizeof *wide);
    wide[n] = L'\0';
    return piece_of(osc_nvtx_text_wide(wide));
}

/* The text of F in B, of at most N characters. */
static struct piece text_at(const struct osc_nvtx_field *f, struct bytes b, uint64_t n)
{
    const char *const at = b.at + f->offset;
    size_t left = f->offset < b.n ? b.n - f->offset : 0;
    const char *far;

    if (f->form == OSC_NVTX_FIELD_POINTER || f->class == OSC_NVTX_CLASS_REGISTERED) {
        if (left < sizeof far)
            return (struct piece){0};
        memcpy(&far, at, sizeof far);
        if (far && f->class == OSC_NVTX_CLASS_REGISTERED)
            return piece_of((const struct osc_text *)(const void *)far);
        if (!far || (f->width != 1 && f->width != sizeof(wchar_t)))
            return (struct piece){0};
        return f->width == 1 ? (struct piece){far, strlen(far)}
                             : piece_of(osc_nvtx_text_wide((const wchar_t *)(const void *)far));
    }
    if (left < f->width || (f->width != 1 && f->width != sizeof(wchar_t)))
        return (struct piece){0};
    if (f->form != OSC_NVTX_FIELD_ZERO && left / f->width > n)
        left = (size_t)n * f->width;
    return f->width == 1 ? (struct piece){at, strnlen(at, left)}
                         : wide_piece(at, left / sizeof(wchar_t));
}

/* --- fields --------------------------------------------------------------------------- */

static void count_field(void)
{
    osc_source_count(OSC_SOURCE_COUNT_FIELDS);
}

static void add_integers(osc_name key, const struct osc_nvtx_field *f, const char *at, size_t n)
{
    int64_t values[LIST_MAX];

    if (n > LIST_MAX)
        count_field();
    n = n < LIST_MAX ? n : LIST_MAX;
    for (size_t i = 0; i < n; i++)
        values[i] = f->class == OSC_NVTX_CLASS_SIGNED
                        ? signed_at(f, at + i * f->width)
                        : (int64_t)unsigned_at(f, at + i * f->width);
    osc_arg_i64s(key, values, n);
}

/* A list of what has no integers of ours. */
static void add_numbers(osc_name key, const struct osc_nvtx_field *f, const char *at, size_t n)
{
    char text[LIST_BYTES] = "[";
    size_t len = 1;

    for (size_t i = 0; i < n; i++) {
        const char *const one = at + i * f->width;
        const double value = is_float(f) ? float_at(f, one) : 0;
        char number[40] = "null";

        if (!is_float(f))
            (void)snprintf(number, sizeof number, "%" PRIu64, unsigned_at(f, one));
        else if (isfinite(value))
            (void)snprintf(number, sizeof number, f->width == sizeof value ? "%.17g" : "%.9g",
                           value);
        if (len + strlen(number) + 2 > sizeof text) {
            count_field();
            break;
        }
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? "," : "", number);
    }
    text[len++] = ']';
    osc_arg_json(key, text, len);
}

/* A value of an enumeration is recorded by its name, if it has one. */
static void add_one(osc_name key, const struct osc_nvtx_field *f, const char *at)
{
    const uint64_t value = is_float(f) ? 0 : unsigned_at(f, at);

    for (uint32_t i = 0; f->names && i < f->names->n; i++) {
        if (f->names->entries[i].value == value) {
            osc_arg_name(key, osc_text_name(f->names->entries[i].name));
            return;
        }
    }
    if (is_float(f))
        osc_arg_f64(key, float_at(f, at));
    else if (f->class == OSC_NVTX_CLASS_SIGNED)
        osc_arg_i64(key, signed_at(f, at));
    else
        osc_nvtx_add_unsigned(key, value);
}

static bool is_message(const struct osc_nvtx_field *f)
{
    return (f->flags & OSC_NVTX_ENTRY_ROLE) == OSC_NVTX_ENTRY_MESSAGE &&
           (f->class == OSC_NVTX_CLASS_TEXT || f->class == OSC_NVTX_CLASS_REGISTERED);
}

/* Record the field F of the bytes B, which the program vouches for only as far as their
 * length: what lies outside is counted and left out. The message became the name already. */
static void add_field(const struct osc_nvtx_domain *d, const struct osc_nvtx_schema *s,
                      const struct osc_nvtx_field *f, struct bytes b)
{
    const osc_name key = f->name->len > 0 ? osc_text_name(f->name) : OSC_SOURCE_NAME("payload");
    const uint64_t n = length_of(s, f, b);
    const char *const at = b.at + f->offset;

    if (is_message(f) && f->form != OSC_NVTX_FIELD_OTHER)
        return;
    if (f->form != OSC_NVTX_FIELD_OTHER &&
        (f->class == OSC_NVTX_CLASS_TEXT || f->class == OSC_NVTX_CLASS_REGISTERED)) {
        const struct piece text = text_at(f, b, n);

        if (text.s)
            osc_arg_text(key, text.s, text.len);
        else
            count_field();
        return;
    }
    if (f->form == OSC_NVTX_FIELD_OTHER || f->offset > b.n || n > (b.n - f->offset) / f->width)
        count_field();
    else if (f->form != OSC_NVTX_FIELD_ONE)
        (is_float(f) || (f->class == OSC_NVTX_CLASS_UNSIGNED && f->width == 8)
             ? add_numbers
             : add_integers)(key, f, at, (size_t)n);
    else if (f->type == OSC_NVTX_ENTRY_CATEGORY)
        osc_nvtx_add_category(d, (uint32_t)unsigned_at(f, at));
    else if (f->type == OSC_NVTX_ENTRY_COLOR)
        osc_nvtx_add_color((uint32_t)unsigned_at(f, at));
    else
        add_one(key, f, at);
}

/* --- payloads ------------------------------------------------------------------------- */

/* The field of a payload P that has a type instead of a schema. */
static struct osc_nvtx_field plain_field(const struct osc_nvtx_payload *p)
{
    struct osc_nvtx_field f = osc_nvtx_field_of(p->schema);

    if (f.class == OSC_NVTX_CLASS_TEXT) {
        f.form = OSC_NVTX_FIELD_ZERO;
    } else if (f.class != OSC_NVTX_CLASS_OTHER && p->bytes / f.width != 1) {
        f.form = OSC_NVTX_FIELD_LIST;
        f.n = p->bytes / f.width < UINT32_MAX ? (uint32_t)(p->bytes / f.width) : 0;
    }
    return f;
}

/* The bytes of P; their number is 0 if there is nothing to read. */
static struct bytes bytes_of(const struct osc_nvtx_payload *p)
{
    size_t n = p->data ? p->bytes : 0;

    if (n == SIZE_MAX)
        n = p->schema == OSC_NVTX_ENTRY_TEXT || p->schema == OSC_NVTX_ENTRY_TEXT_UTF8
                ? strlen(p->data) + 1
                : 0;
    return (struct bytes){p->data, n};
}

struct osc_text *osc_nvtx_message_of(const struct osc_nvtx_domain *d,
                                     struct osc_nvtx_payloads p)
{
    struct osc_text *found = NULL;

    for (size_t i = 0; i < p.n; i++) {
        const struct osc_nvtx_schema *const s = osc_nvtx_schema_of(d, p.list[i].schema);
        const struct bytes b = bytes_of(&p.list[i]);

        if (b.n == 0)
            continue;
        for (uint32_t k = 0; s && s->has_message && k < s->n_fields; k++) {
            const struct osc_nvtx_field *const f = &s->fields[k];

            if (!is_message(f) || f->form == OSC_NVTX_FIELD_OTHER)
                continue;
            const struct piece text = text_at(f, b, length_of(s, f, b));
            found = text.s ? osc_text_find(text.s, text.len) : found;
        }
    }
    return found;
}

void osc_nvtx_add_payloads(const struct osc_nvtx_domain *d, struct osc_nvtx_payloads p)
{
    for (size_t i = 0; i < p.n && i < PAYLOADS_MAX; i++) {
        const struct osc_nvtx_schema *const s = osc_nvtx_schema_of(d, p.list[i].schema);
        const struct bytes b = bytes_of(&p.list[i]);

        if (b.n == 0)
            continue;
        if (p.list[i].schema < OSC_NVTX_SCHEMA_FIRST) {
            const struct osc_nvtx_field f = plain_field(&p.list[i]);

            add_field(d, NULL, &f, b);
        } else if (!s) {
            count_field();
        }
        for (uint32_t k = 0; s && k < s->n_fields; k++)
            add_field(d, s, &s->fields[k], b);
    }
}
