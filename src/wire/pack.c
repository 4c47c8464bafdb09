/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/pack.h"

#include <string.h>

#include "opscope/record.h"

/* How the number in VALUE or in the first word is stored. */
enum flavour { PLAIN, SIGNED, FLOAT };

/* The layout of a kind. is_known is false for an unassigned kind. */
struct shape {
    bool is_known, is_timed, has_id, is_bytes, is_list, is_stack;
    uint8_t n_words;
    uint8_t first; /* enum flavour of the first word, or of the value */
};

#define ID_NONE      false
#define ID_NAME      true
#define ID_DEVICE    true
#define ID_BEGIN     true
#define ID_CAUSE     true
#define ID_STACK_END true

#define SHAPE(number, name, timed, id, words, what)                                            \
    [number] = {                                                                               \
        .is_known = true,                                                                      \
        .is_timed = (timed),                                                                   \
        .has_id = ID_##id,                                                                     \
        .is_bytes = (number) == OSC_RECORD_ARG_TEXT || (number) == OSC_RECORD_ARG_JSON,        \
        .is_list = (number) == OSC_RECORD_ARG_I64S,                                            \
        .is_stack = (number) == OSC_RECORD_ARG_STACK,                                          \
        .n_words = (words),                                                                    \
        .first = (number) == OSC_RECORD_COUNTER_I64 || (number) == OSC_RECORD_ARG_I64 ? SIGNED \
                 : (number) == OSC_RECORD_COUNTER_F64 || (number) == OSC_RECORD_ARG_F64        \
                     ? FLOAT                                                                   \
                     : PLAIN},

static const struct shape listed[OSC_RECORD_BEGIN] = {OSC_RECORD_KIND_LIST(SHAPE)};
static const struct shape begin = {.is_known = true, .is_timed = true, .has_id = true};
static const struct shape complete = {
    .is_known = true, .is_timed = true, .has_id = true, .n_words = 2};
static const struct shape unknown;

/* The most bytes that the words of a record can hold. */
#define WORDS_MAX (UINT64_C(2) * (OSC_RECORD_SLOTS_MAX - 1))
/* The most bytes for a slot: two words of ten bytes each, or kind, time and id. */
#define SLOT_PACKED_MAX 20u
/* Numbers are stored with 8-byte writes, whatever their length. */
#define STORE_SLACK 8u
/* A time this far after the previous one takes more than four bytes; a negative difference is
 * farther still. */
#define FAR (UINT64_C(1) << 27)

static bool is_begin(uint32_t kind)
{
    return kind - OSC_RECORD_BEGIN < OSC_SCOPE_KIND_COUNT;
}

static const struct shape *shape_of(uint32_t kind)
{
    if (kind < OSC_RECORD_BEGIN)
        return &listed[kind];
    if (is_begin(kind))
        return &begin;
    return kind - OSC_RECORD_COMPLETE < OSC_SCOPE_KIND_COUNT ? &complete : &unknown;
}

static uint64_t zigzag(uint64_t v)
{
    return v << 1 ^ (0 - (v >> 63));
}

static uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* --- packing --------------------------------------------------------------------- */

/* Indexed by the highest set bit of a 28-bit number: its length as a varint, and the
 * continuation bits of its bytes. */
#define ONE  \
    {        \
        1, 0 \
    }
#define TWO     \
    {           \
        2, 0x80 \
    }
#define THREE     \
    {             \
        3, 0x8080 \
    }
#define FOUR        \
    {               \
        4, 0x808080 \
    }
static const struct {
    uint32_t n_bytes, go_on;
} widths[28] = {
    ONE,   ONE,   ONE,   ONE,   ONE,   ONE,   ONE,   TWO,  TWO,  TWO,  TWO,  TWO,  TWO,  TWO,
    THREE, THREE, THREE, THREE, THREE, THREE, THREE, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR,
};

/* The 28-bit number V as varint bytes; *N is their number. */
static inline uint32_t spread(uint32_t v, uint32_t *n)
{
    const uint32_t last_bit = 31 - (uint32_t)__builtin_clz(v | 1);

    v += 3 * (v & 0xfffc000); /* move bits 14 and up to bit 16: two halves */
    v += v & 0x3f803f80;      /* in each half, move bits 7 and up to bit 8 */
    *n = widths[last_bit].n_bytes;
    return v | widths[last_bit].go_on;
}

/* Write V; there must be room for 10 bytes. */
static inline unsigned char *put_varint(unsigned char *p, uint64_t v)
{
    if (__builtin_expect(v < UINT64_C(1) << 28, 1)) {
        uint32_t n;
        const uint32_t x = spread((uint32_t)v, &n);

        memcpy(p, &x, sizeof x);
        return p + n;
    }
    for (; v >= 0x80; v >>= 7)
        *p++ = (unsigned char)(v | 0x80);
    *p++ = (unsigned char)v;
    return p;
}

static unsigned char *put_number(unsigned char *p, uint64_t v, uint8_t flavour)
{
    if (flavour == FLOAT) {
        memcpy(p, &v, sizeof v);
        return p + sizeof v;
    }
    return put_varint(p, flavour == SIGNED ? zigzag(v) : v);
}

/* Word I after slot 0 of the record at S. */
static uint64_t word_at(const struct osc_record_slot *s, uint32_t i)
{
    uint64_t word;

    memcpy(&word, (const unsigned char *)(s + 1) + i * sizeof word, sizeof word);
    return word;
}

/* Number of slots of a record of SHAPE with VALUE; 0: VALUE is invalid. */
static uint32_t slots_of(const struct shape *shape, uint64_t value)
{
    if (!shape->is_known)
        return 0;
    if (shape->is_bytes)
        return value <= 8 * WORDS_MAX ? 1 + (uint32_t)(value + 15) / 16 : 0;
    if (shape->is_list)
        return value <= WORDS_MAX ? 1 + (uint32_t)(value + 1) / 2 : 0;
    if (shape->is_stack)
        return value <= OSC_RECORD_FRAMES_MAX ? 1 + (uint32_t)(value + 1) / 2 : 0;
    return 1 + shape->n_words / 2u;
}

/* Write what follows kind, time and id. */
static unsigned char *put_rest(unsigned char *p, const struct shape *shape,
                               const struct osc_record_slot *s)
{
    if (shape->is_timed) {
        if (shape->n_words)
            p = put_number(p, word_at(s, 0), shape->first);
        for (uint32_t i = 1; i < shape->n_words; i++)
            p = put_varint(p, word_at(s, i));
        return p;
    }
    p = put_number(p, s->value, shape->first);
    if (shape->is_bytes) {
        memcpy(p, s + 1, s->value);
        return p + s->value;
    }
    if (shape->is_list)
        for (uint32_t i = 0; i < s->value; i++)
            p = put_varint(p, zigzag(word_at(s, i)));
    return p;
}

size_t osc_pack_bound(uint32_t n_slots)
{
    return sizeof(struct osc_pack_segment) + STORE_SLACK + (size_t)n_slots * SLOT_PACKED_MAX;
}

/* A segment that is being written. */
struct packer {
    unsigned char *p;
    uint64_t ticks;           /* of the last timed record */
    uint64_t least, greatest; /* of the times passed to widen_times() */
    uint32_t n_untimed;
    const struct osc_record_slot *stack; /* borrowed: slot 0 of the last ARG_STACK, or NULL */
};

/* Update the earliest and latest time with the current one. */
static void widen_times(struct packer *out)
{
    out->least = out->ticks < out->least ? out->ticks : out->least;
    out->greatest = out->ticks > out->greatest ? out->ticks : out->greatest;
}

static inline void put_time(struct packer *out, uint64_t ticks)
{
    const uint64_t delta = ticks - out->ticks;
    /* Times increase, except at complete scopes and in signal handlers. */
    const bool is_back = ticks < out->ticks;

    if (__builtin_expect(is_back, 0))
        widen_times(out);
    out->ticks = ticks;
    if (__builtin_expect(is_back, 0))
        widen_times(out);
    out->p = put_varint(out->p, zigzag(delta));
}

/* Number of frames of the stack at S: trailing addresses of 0 do not count. */
static uint32_t frames_of(const struct osc_record_slot *s)
{
    uint32_t n = (uint32_t)s->value;

    while (n > 0 && word_at(s, n - 1) == 0)
        n--;
    return n;
}

/* Write the frames of the stack at S; outer frames shared with the previous stack are written
 * as their number. */
static void put_stack(struct packer *out, const struct osc_record_slot *s)
{
    const struct osc_record_slot *before = out->stack;
    const uint32_t n = frames_of(s), n_before = before ? frames_of(before) : 0;
    uint64_t last = n_before > 0 ? word_at(before, 0) : 0;
    uint32_t n_same = 0;

    while (n_same < n && n_same < n_before &&
           word_at(s, n - 1 - n_same) == word_at(before, n_before - 1 - n_same))
        n_same++;
    out->p = put_varint(out->p, n);
    out->p = put_varint(out->p, n_same);
    for (uint32_t i = 0; i < n - n_same; i++) {
        const uint64_t address = word_at(s, i);

        out->p = put_varint(out->p, zigzag(address - last));
        last = address;
    }
    out->stack = s;
}

/* Write the record at S, whose slot 0 has WORD; false if it is not a valid record of at most
 * N_SLOTS_MAX. */
static bool put_record(struct packer *out, const struct osc_record_slot *s, uint64_t word,
                       uint32_t n_slots_max)
{
    const uint32_t kind = osc_record_kind(word), n_slots = osc_record_n_slots(word);
    const struct shape *shape = shape_of(kind);

    if (n_slots == 0 || n_slots > n_slots_max || n_slots != slots_of(shape, s->value))
        return false;
    *out->p++ = (unsigned char)kind;
    if (shape->is_timed)
        put_time(out, s->value);
    else
        out->n_untimed++;
    if (kind >= OSC_RECORD_COMPLETE && s->value + s[1].value > out->greatest)
        out->greatest = s->value + s[1].value;
    if (shape->has_id)
        out->p = put_varint(out->p, osc_record_id(word));
    if (shape->is_stack)
        put_stack(out, s);
    else if (n_slots > 1 || !shape->is_timed)
        out->p = put_rest(out->p, shape, s);
    return true;
}

uint32_t osc_pack_find(const struct osc_block *b, uint32_t first_slot, uint32_t end_slot,
                       uint64_t ticks)
{
    const uint32_t end = end_slot < OSC_BLOCK_SLOTS ? end_slot : OSC_BLOCK_SLOTS;
    uint32_t whole = first_slot, tie = OSC_BLOCK_SLOTS;

    for (uint32_t i = first_slot, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);
        const uint32_t kind = osc_record_kind(word);
        const bool is_end =
            kind == OSC_RECORD_END || kind == OSC_RECORD_END_OF || kind == OSC_RECORD_STEP_END;

        n = 1;
        if (osc_record_tag(word) != b->tag)
            continue;
        const uint64_t value = b->slots[i].value;
        if (shape_of(kind)->is_timed && value > ticks)
            return tie < i ? tie : i;
        /* Counters of 25 MHz give many records one time: those before the end of the step that
         * ends then are of that step. */
        if (value == ticks && kind == OSC_RECORD_STEP_END)
            tie = OSC_BLOCK_SLOTS;
        else if (shape_of(kind)->is_timed && value == ticks && !is_end && tie > i)
            tie = i;
        n = osc_record_n_slots(word) ? osc_record_n_slots(word) : 1;
        whole = i + n < end ? i + n : end;
    }
    return tie < whole ? tie : whole;
}

uint64_t osc_pack_newest(const struct osc_block *b, uint32_t end_slot)
{
    const uint32_t end = end_slot < OSC_BLOCK_SLOTS ? end_slot : OSC_BLOCK_SLOTS;
    uint64_t newest = 0;

    for (uint32_t i = 0, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        n = osc_record_n_slots(word);
        if (osc_record_tag(word) != b->tag || n == 0)
            return UINT64_MAX;
        if (shape_of(osc_record_kind(word))->is_timed && b->slots[i].value > newest)
            newest = b->slots[i].value;
    }
    return newest;
}

/* The time of the first complete record with a time, from FIRST on. */
static uint64_t start_ticks(const struct osc_block *b, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        if (osc_record_tag(word) == b->tag && shape_of(osc_record_kind(word))->is_timed)
            return b->slots[i].value;
    }
    return 0;
}

static bool is_standing(uint32_t kind)
{
    return kind == OSC_RECORD_DEVICE || kind == OSC_RECORD_DEVICE_NAME ||
           kind == OSC_RECORD_QUEUE || kind == OSC_RECORD_THREAD_NAME ||
           kind == OSC_RECORD_PROCESS_NAME || kind == OSC_RECORD_METADATA;
}

size_t osc_pack_standing(const struct osc_block *b, struct osc_pack_range range,
                         struct osc_pack_segment *s, unsigned char *out)
{
    const uint32_t end = range.end_slot < OSC_BLOCK_SLOTS ? range.end_slot : OSC_BLOCK_SLOTS;
    struct packer at = {.p = out};

    *s = (struct osc_pack_segment){.seq = b->seq, .thread = b->thread};
    for (uint32_t i = range.first_slot, n; i < end; i += n) {
        const uint64_t word = osc_record_look(&b->slots[i]);

        n = 1;
        if (osc_record_tag(word) != b->tag || osc_record_n_slots(word) == 0) {
            s->n_unfinished++;
            continue;
        }
        n = osc_record_n_slots(word);
        if (is_standing(osc_record_kind(word)))
            s->n_records += put_record(&at, &b->slots[i], word, end - i);
    }
    s->n_bytes = (uint32_t)(at.p - out);
    return s->n_bytes;
}

/* Write kind and time, DELTA after the previous one. */
static inline unsigned char *put_short(unsigned char *p, uint32_t kind, uint32_t delta)
{
    uint32_t n;
    const uint32_t time = spread(delta << 1, &n); /* zigzag */

    *p = (unsigned char)kind;
    memcpy(p + 1, &time, sizeof time);
    return p + 1 + n;
}

/* Write a name; it seldom exceeds 14 bits. */
static inline unsigned char *put_name(unsigned char *p, uint32_t v)
{
    if (__builtin_expect(v < 1U << 14, 1)) {
        const uint32_t is_long = v > 0x7f;
        const uint16_t x = (uint16_t)((v + (v & 0x3f80)) | is_long << 7);

        memcpy(p, &x, sizeof x);
        return p + 1 + is_long;
    }
    return put_varint(p, v);
}

/*
 * Write consecutive ends and begins of scopes from slot FIRST on and return the slot of the
 * first record that is something else or FAR after the previous one. Nearly all records are
 * such, so the loop keeps its state in registers.
 */
static uint32_t put_scopes(struct packer *out, const struct osc_block *b, uint32_t first,
                           uint32_t end)
{
    /* The upper halves of their words: this tag, the kind, one slot. */
    const uint32_t end_head = (uint32_t)(osc_record_word(0, b->tag, OSC_RECORD_END, 1) >> 32);
    const uint32_t begin_head =
        (uint32_t)(osc_record_word(0, b->tag, OSC_RECORD_BEGIN, 1) >> 32);
    const struct osc_record_slot *s = b->slots + first, *const behind = b->slots + end;
    unsigned char *p = out->p;
    uint64_t ticks = out->ticks;

    for (; s < behind; s++) {
        const uint64_t word = osc_record_look(s);
        const uint32_t head = (uint32_t)(word >> 32);
        /* Rotated, so that one comparison checks all fields and the rest is the kind of
         * scope. */
        const uint32_t x = head - begin_head, scope = x >> 16 | x << 16;
        const bool is_end = head == end_head;

        if (!is_end && scope >= OSC_SCOPE_KIND_COUNT)
            break;
        const uint64_t value = s->value, delta = value - ticks;
        if (delta >= FAR)
            break;
        p = put_short(p, osc_record_kind(word), (uint32_t)delta);
        if (!is_end)
            p = put_name(p, osc_record_id(word));
        ticks = value;
    }
    out->p = p;
    out->ticks = ticks;
    return (uint32_t)(s - b->slots);
}

size_t osc_pack_block(const struct osc_block *b, struct osc_pack_range range,
                      struct osc_pack_segment *s, unsigned char *out,
                      struct osc_pack_times *times)
{
    const uint32_t first_slot = range.first_slot;
    const uint32_t end = range.end_slot < OSC_BLOCK_SLOTS ? range.end_slot : OSC_BLOCK_SLOTS;
    const uint64_t start = start_ticks(b, first_slot, end);
    struct packer at = {.p = out, .ticks = start, .least = start, .greatest = start};
    uint32_t i = first_slot, n_records = 0, n_unfinished = 0;

    while (i < end) {
        const uint32_t other = put_scopes(&at, b, i, end);

        n_records += other - i;
        i = other;
        if (i == end)
            break;
        const uint64_t word = osc_record_look(&b->slots[i]);
        if (osc_record_tag(word) == b->tag && put_record(&at, &b->slots[i], word, end - i)) {
            i += osc_record_n_slots(word);
            n_records++;
        } else if (range.take_all) {
            n_unfinished++;
            i++;
        } else {
            break;
        }
    }
    *s = (struct osc_pack_segment){
        .seq = b->seq,
        .thread = b->thread,
        .first_slot = first_slot,
        .n_slots = i - first_slot,
        .n_records = n_records,
        .start_ticks = start,
        .n_bytes = (uint32_t)(at.p - out),
        .n_unfinished = n_unfinished,
    };
    if (n_records > at.n_untimed) {
        widen_times(&at);
        times->first = times->last && times->first < at.least ? times->first : at.least;
        times->last = times->last > at.greatest ? times->last : at.greatest;
    }
    return s->n_bytes;
}

/* --- unpacking ------------------------------------------------------------------- */

/* Join the low seven bits of each byte of X; bytes beyond the number are 0. */
static inline uint64_t squeeze(uint64_t x)
{
    x &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (x & UINT64_C(0x0fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Read a number byte by byte: near the end, or longer than eight bytes. NULL: invalid. */
static const unsigned char *get_slowly(const unsigned char *at, const unsigned char *end,
                                       uint64_t *v)
{
    uint64_t x = 0;

    for (uint32_t shift = 0; at < end && shift < 64; shift += 7) {
        const uint64_t byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        x |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = x;
            return at;
        }
    }
    return NULL;
}

static inline const unsigned char *get_varint(const unsigned char *at, const unsigned char *end,
                                              uint64_t *v)
{
    if (end - at >= 8) {
        uint64_t x;
        memcpy(&x, at, sizeof x);
        const uint64_t stops = ~x & UINT64_C(0x8080808080808080);

        if (stops) {
            *v = squeeze(x & (stops ^ (stops - 1)));
            return at + __builtin_ctzll(stops) / 8 + 1;
        }
    }
    return get_slowly(at, end, v);
}

static const unsigned char *get_number(const unsigned char *at, const unsigned char *end,
                                       uint64_t *v, uint8_t flavour)
{
    if (flavour == FLOAT) {
        if (end - at < (ptrdiff_t)sizeof *v)
            return NULL;
        memcpy(v, at, sizeof *v);
        return at + sizeof *v;
    }
    at = get_varint(at, end, v);
    if (at && flavour == SIGNED)
        *v = unzigzag(*v);
    return at;
}

/* Read the bytes of a text or of the packed integers of a list. */
static const unsigned char *get_bytes(const unsigned char *at, const unsigned char *end,
                                      const struct shape *shape, struct osc_packed *r)
{
    if (slots_of(shape, r->value) == 0)
        return NULL;
    r->bytes = at;
    if (shape->is_bytes) {
        if ((uint64_t)(end - at) < r->value)
            return NULL;
        at += r->value;
    } else {
        for (uint64_t i = 0, v; i < r->value && at; i++)
            at = get_varint(at, end, &v);
    }
    r->n_bytes = at ? (uint32_t)(at - r->bytes) : 0;
    return at;
}

/* Read what follows kind, time and id. */
static const unsigned char *get_rest(const unsigned char *at, const unsigned char *end,
                                     const struct shape *shape, struct osc_packed *r)
{
    if (shape->is_timed) {
        for (uint32_t i = 0; i < shape->n_words && at; i++)
            at = get_number(at, end, &r->words[i], i == 0 ? shape->first : PLAIN);
        return at;
    }
    at = get_number(at, end, &r->value, shape->first);
    return at && (shape->is_bytes || shape->is_list) ? get_bytes(at, end, shape, r) : at;
}

/* Read the frames of a stack over those of the previous stack. */
static const unsigned char *get_stack(struct osc_unpack *u, const unsigned char *at,
                                      struct osc_packed *r)
{
    uint64_t last = u->n_frames > 0 ? u->frames[0] : 0, n_same = 0, delta = 0;

    at = get_varint(at, u->end, &r->value);
    if (at)
        at = get_varint(at, u->end, &n_same);
    if (!at || r->value > OSC_RECORD_FRAMES_MAX || n_same > r->value || n_same > u->n_frames)
        return NULL;
    memmove(u->frames + (r->value - n_same), u->frames + (u->n_frames - n_same),
            n_same * sizeof *u->frames);
    u->n_frames = (uint32_t)r->value;
    for (uint64_t i = 0; i < r->value - n_same && at; i++) {
        at = get_varint(at, u->end, &delta);
        u->frames[i] = last += unzigzag(delta);
    }
    r->frames = u->frames;
    return at;
}

/* Read kind, time and id; NULL: invalid. */
static const unsigned char *get_head(struct osc_unpack *u, const struct shape *shape,
                                     struct osc_packed *r)
{
    const unsigned char *at = u->at + 1, *const end = u->end;
    uint64_t v = 0;

    if (shape->is_timed) {
        at = get_varint(at, end, &v);
        r->ticks = u->ticks += unzigzag(v);
    }
    r->id = 0;
    if (shape->has_id && at) {
        at = get_varint(at, end, &v);
        r->id = (uint32_t)v;
        return v <= UINT32_MAX ? at : NULL;
    }
    return at;
}

bool osc_unpack_next(struct osc_unpack *u, struct osc_packed *r)
{
    if (u->at == NULL || u->at == u->end)
        return false;
    r->kind = *u->at;
    const struct shape *shape = shape_of(r->kind);
    const unsigned char *at = get_head(u, shape, r);

    if (at && shape->is_stack)
        at = get_stack(u, at, r);
    else if (at && (shape->n_words || !shape->is_timed))
        at = shape->is_known ? get_rest(at, u->end, shape, r) : NULL;
    u->at = at;
    return at != NULL;
}

const unsigned char *osc_unpack_i64(const unsigned char *at, const unsigned char *end,
                                    int64_t *value)
{
    uint64_t v = 0;

    at = get_number(at, end, &v, SIGNED);
    *value = (int64_t)v;
    return at;
}
