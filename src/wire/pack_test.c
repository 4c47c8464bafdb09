/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/pack.h"

#include "base/hash.h"
#include "base/mem.h"
#include "opscope/record.h"
#include "support/unit.h"

#define TAG 0x1234

/* A number of random length, so that each width of varint occurs. */
static uint64_t any(uint64_t *seed)
{
    *seed = osc_hash_u64(*seed + 1);
    return *seed >> (osc_hash_u64(*seed) % 64);
}

static struct osc_block *new_block(void)
{
    struct osc_block *b = osc_calloc(1, sizeof *b);

    assert_non_null(b);
    b->seq = 0x51234;
    b->thread = 7;
    b->tag = TAG;
    b->tid = 99;
    return b;
}

/* The words that the X-list gives KIND after slot 0, in slots. */
static uint32_t words_of(uint32_t kind)
{
    static const uint8_t words[OSC_RECORD_BEGIN] = {
#define WORDS(number, name, timed, id, n, what) [number] = (n),
        OSC_RECORD_KIND_LIST(WORDS)
#undef WORDS
    };

    if (kind >= OSC_RECORD_COMPLETE)
        return 2;
    return kind >= OSC_RECORD_BEGIN ? 0 : words[kind];
}

static bool is_timed(uint32_t kind)
{
    static const bool timed[OSC_RECORD_BEGIN] = {
#define TIMED(number, name, timed, id, n, what) [number] = (timed),
        OSC_RECORD_KIND_LIST(TIMED)
#undef TIMED
    };

    return kind >= OSC_RECORD_BEGIN || timed[kind];
}

static bool has_id(uint32_t kind)
{
    enum { NONE, NAME, DEVICE, STACK_END, BEGIN, CAUSE };
    static const uint8_t ids[OSC_RECORD_BEGIN] = {
#define ID(number, name, timed, id, n, what) [number] = (id),
        OSC_RECORD_KIND_LIST(ID)
#undef ID
    };

    return kind >= OSC_RECORD_BEGIN || ids[kind] != NONE;
}

/* All kinds, followed by 0. */
static const uint8_t kinds[] = {
#define NUMBER(number, name, timed, id, words, what) number,
    OSC_RECORD_KIND_LIST(NUMBER)
#undef NUMBER
        OSC_RECORD_BEGIN,
    OSC_RECORD_BEGIN + OSC_SCOPE_OVERHEAD,
    OSC_RECORD_COMPLETE,
    OSC_RECORD_COMPLETE + OSC_SCOPE_OVERHEAD,
};

static bool is_text(uint32_t kind)
{
    return kind == OSC_RECORD_ARG_TEXT || kind == OSC_RECORD_ARG_JSON;
}

/* Write a random record of KIND at slot I of B; returns its number of slots. */
static uint32_t put(struct osc_block *b, uint32_t i, uint32_t kind, uint64_t *seed)
{
    uint32_t n_words = words_of(kind);
    struct osc_record_slot *s = &b->slots[i];
    uint64_t value = any(seed);

    if (is_text(kind)) {
        value = any(seed) % 300;
        n_words = (uint32_t)(value + 15) / 16 * 2;
    } else if (kind == OSC_RECORD_ARG_I64S) {
        value = any(seed) % 39;
        n_words = (uint32_t)(value + 1) / 2 * 2;
    } else if (kind == OSC_RECORD_ARG_STACK) {
        value = any(seed) % (OSC_RECORD_FRAMES_MAX + 1);
        n_words = (uint32_t)(value + 1) / 2 * 2;
    } else if (kind >= OSC_RECORD_COMPLETE) {
        value >>= 1;
    }
    const uint32_t n_slots = 1 + n_words / 2;

    if (i + n_slots > OSC_BLOCK_SLOTS)
        return 0;
    s->value = value;
    for (uint32_t w = 0; w < n_words; w++) {
        uint64_t word = kind >= OSC_RECORD_COMPLETE ? any(seed) >> 1 : any(seed);

        word |= kind == OSC_RECORD_ARG_STACK; /* an address of 0 would not count as a frame */
        if (w % 2)
            s[1 + w / 2].word = word;
        else
            s[1 + w / 2].value = word;
    }
    s->word = osc_record_word((uint32_t)any(seed), TAG, kind, n_slots);
    return n_slots;
}

/* Check that R is the record in slot I. */
static void assert_same(const struct osc_block *b, uint32_t i, const struct osc_packed *r)
{
    const struct osc_record_slot *s = &b->slots[i];
    const uint32_t kind = osc_record_kind(s->word);
    assert_int_equal(r->kind, kind);
    assert_int_equal(r->id, has_id(kind) ? osc_record_id(s->word) : 0);
    assert_int_equal(is_timed(kind) ? r->ticks : r->value, s->value);
    for (uint32_t w = 0; w < words_of(kind); w++)
        assert_int_equal(r->words[w], w % 2 ? s[1 + w / 2].word : s[1 + w / 2].value);
    for (uint32_t w = 0; kind == OSC_RECORD_ARG_STACK && w < s->value; w++)
        assert_int_equal(r->frames[w], w % 2 ? s[1 + w / 2].word : s[1 + w / 2].value);
    if (is_text(kind)) {
        assert_int_equal(r->n_bytes, s->value);
        assert_memory_equal(r->bytes, s + 1, s->value);
    }
    if (kind == OSC_RECORD_ARG_I64S) {
        const unsigned char *at = r->bytes;
        for (uint32_t w = 0; w < s->value; w++) {
            int64_t v;
            at = osc_unpack_i64(at, r->bytes + r->n_bytes, &v);
            assert_non_null(at);
            assert_int_equal(v, w % 2 ? s[1 + w / 2].word : s[1 + w / 2].value);
        }
        assert_ptr_equal(at, r->bytes + r->n_bytes);
    }
}

/* Pack slots of B, unpack and compare; returns the number of slots packed. */
static uint32_t assert_round_trip(const struct osc_block *b, uint32_t first, uint32_t end)
{
    unsigned char *const out = osc_malloc(osc_pack_bound(end - first));
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    uint64_t least = UINT64_MAX;
    struct osc_packed r;
    uint32_t i = first, n = 0;

    assert_non_null(out);
    const size_t len =
        osc_pack_block(b, (struct osc_pack_range){first, end, false}, &s, out, &times);

    /* In an allocation of its own, so that ASan notices a read beyond it. */
    unsigned char *const packed = osc_malloc(len + !len);
    assert_non_null(packed);
    memcpy(packed, out, len);
    assert_int_equal(s.n_bytes, len);
    assert_in_range(len + sizeof s, 0, osc_pack_bound(end - first) - 4);
    struct osc_unpack u = {.at = packed, .end = packed + len, .ticks = s.start_ticks};
    for (; osc_unpack_next(&u, &r); n++) {
        assert_same(b, i, &r);
        if (is_timed(r.kind) && r.ticks < least)
            least = r.ticks;
        if (is_timed(r.kind))
            assert_in_range(r.ticks, times.first, times.last);
        i += osc_record_n_slots(b->slots[i].word);
    }
    assert_ptr_equal(u.at, u.end);
    assert_int_equal(n, s.n_records);
    assert_int_equal(i, first + s.n_slots);
    assert_int_equal(s.n_unfinished, 0);
    if (least != UINT64_MAX)
        assert_int_equal(times.first, least);
    osc_free(packed);
    osc_free(out);
    return s.n_slots;
}

TEST(every_kind_comes_back_as_it_was)
{
    struct osc_block *b = new_block();
    uint64_t seed = 1;

    for (int round = 0; round < 200; round++)
        for (size_t k = 0; k < sizeof kinds; k++) {
            const uint32_t n = put(b, 0, kinds[k], &seed);
            assert_int_equal(assert_round_trip(b, 0, n), n);
        }
    osc_free(b);
}

TEST(random_blocks_come_back_from_any_slot)
{
    struct osc_block *b = new_block();
    uint64_t seed = 2;

    for (int round = 0; round < 200; round++) {
        uint32_t used = 0, middle = 0, n;
        do {
            n = put(b, used, kinds[any(&seed) % sizeof kinds], &seed);
            used += n;
            if (used < 500)
                middle = used;
        } while (n);
        assert_int_equal(assert_round_trip(b, 0, used), used);
        assert_int_equal(assert_round_trip(b, middle, used), used - middle);
        /* A record that END cuts off is not packed. */
        assert_in_range(assert_round_trip(b, 0, used - 1), used - 200, used - 1);
    }
    osc_free(b);
}

/* Write V as docs/format.md specifies; returns the position after it. */
static unsigned char *put_plainly(unsigned char *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (unsigned char)(v % 0x80 + 0x80);
    *p++ = (unsigned char)v;
    return p;
}

/* Times and names just below and above each length of a varint. */
TEST(scopes_are_packed_as_the_format_says)
{
    unsigned char *const out = osc_malloc(osc_pack_bound(OSC_BLOCK_SLOTS));
    unsigned char *const plain = osc_malloc(osc_pack_bound(OSC_BLOCK_SLOTS)), *p = plain;
    struct osc_block *b = new_block();
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    uint64_t ticks = UINT64_C(1) << 62, seed = 3;

    for (uint32_t i = 0; i < OSC_BLOCK_SLOTS; i++) {
        const uint64_t edge = UINT64_C(1) << (i % 58);
        const bool is_end = i / 58 % 3 == 0, is_back = i % 58 < 50 && i / 58 % 5 == 4;
        const uint64_t delta = i == 0 ? 0 : is_back ? 0 - edge : edge - i / 58 % 2;
        const uint32_t id = is_end ? 0 : (uint32_t)(UINT64_C(1) << i % 32) - i / 58 % 2;
        const uint32_t kind =
            is_end ? OSC_RECORD_END
                   : OSC_RECORD_BEGIN + (uint32_t)(any(&seed) % OSC_SCOPE_KIND_COUNT);

        ticks += delta;
        b->slots[i].value = ticks;
        b->slots[i].word = osc_record_word(id, TAG, kind, 1);
        *p++ = (unsigned char)kind;
        p = put_plainly(p, delta >> 63 ? ~(delta << 1) : delta << 1);
        if (!is_end)
            p = put_plainly(p, id);
    }
    const struct osc_pack_range all = {0, OSC_BLOCK_SLOTS, false};
    assert_int_equal(osc_pack_block(b, all, &s, out, &times), p - plain);
    assert_memory_equal(out, plain, s.n_bytes);
    assert_int_equal(assert_round_trip(b, 0, OSC_BLOCK_SLOTS), OSC_BLOCK_SLOTS);
    osc_free(b);
    osc_free(plain);
    osc_free(out);
}

TEST(the_largest_records_have_room)
{
    struct osc_block *b = new_block();

    for (uint32_t i = 0; i < OSC_BLOCK_SLOTS; i++)
        b->slots[i] = (struct osc_record_slot){UINT64_MAX, UINT64_MAX};
    b->slots[0].value = 398;
    b->slots[0].word = osc_record_word(UINT32_MAX, TAG, OSC_RECORD_ARG_I64S, 200);
    assert_int_equal(assert_round_trip(b, 0, 200), 200);
    b->slots[0].value = UINT64_C(199) * 16;
    b->slots[0].word = osc_record_word(UINT32_MAX, TAG, OSC_RECORD_ARG_JSON, 200);
    assert_int_equal(assert_round_trip(b, 0, 200), 200);
    osc_free(b);
}

TEST(an_unfinished_slot_waits_or_is_counted)
{
    struct osc_block *b = new_block();
    unsigned char out[4096];
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    uint64_t seed = 3;

    put(b, 0, OSC_RECORD_BEGIN, &seed);
    b->slots[1].word = osc_record_word(5, TAG - 1, OSC_RECORD_END, 1); /* an older tag */
    b->slots[2].word = osc_record_word(5, TAG, OSC_RECORD_WORK, 2);    /* too short for WORK */
    b->slots[3].word = osc_record_word(5, TAG, 0x3f, 1);               /* no such kind */
    put(b, 4, OSC_RECORD_END, &seed);

    osc_pack_block(b, (struct osc_pack_range){0, 5, false}, &s, out, &times);
    assert_int_equal(s.n_slots, 1);
    assert_int_equal(s.n_records, 1);
    osc_pack_block(b, (struct osc_pack_range){0, 5, true}, &s, out, &times);
    assert_int_equal(s.n_slots, 5);
    assert_int_equal(s.n_records, 2);
    assert_int_equal(s.n_unfinished, 3);
    osc_pack_block(b, (struct osc_pack_range){1, 4, true}, &s, out, &times);
    assert_int_equal(s.n_bytes, 0);
    osc_free(b);
}

TEST(a_time_is_found_between_records)
{
    struct osc_block *b = new_block();

    b->slots[0] = (struct osc_record_slot){100, osc_record_word(1, TAG, OSC_RECORD_BEGIN, 1)};
    b->slots[1] = (struct osc_record_slot){9, osc_record_word(1, TAG, OSC_RECORD_ARG_I64, 1)};
    b->slots[2] = (struct osc_record_slot){150, osc_record_word(0, TAG + 1, 1, 1)};
    b->slots[3] =
        (struct osc_record_slot){200, osc_record_word(0, TAG, OSC_RECORD_STEP_END, 1)};
    b->slots[4] =
        (struct osc_record_slot){200, osc_record_word(0, TAG, OSC_RECORD_STEP_BEGIN, 2)};
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 0), 0);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 100), 0);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 101), 3);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 200), 4);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 201), 6);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, UINT64_MAX), 6);
    assert_int_equal(osc_pack_find(b, 7, OSC_BLOCK_SLOTS, UINT64_MAX), 7);
    osc_free(b);
}

/* Counters of 25 MHz, as some of AArch64, give a step, what is in it and its end one time. */
TEST(a_step_that_ends_at_a_time_has_what_stands_before)
{
    struct osc_block *b = new_block();
    static const uint32_t at_200[] = {OSC_RECORD_STEP_BEGIN, OSC_RECORD_INSTANT,
                                      OSC_RECORD_STEP_END, OSC_RECORD_INSTANT};

    for (uint32_t i = 0; i < 4; i++)
        b->slots[i] = (struct osc_record_slot){200, osc_record_word(1, TAG, at_200[i], 1)};
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 199), 0);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 200), 3);
    assert_int_equal(osc_pack_find(b, 0, 2, 200), 0);
    b->slots[4] = (struct osc_record_slot){201, osc_record_word(1, TAG, OSC_RECORD_INSTANT, 1)};
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 200), 3);
    assert_int_equal(osc_pack_find(b, 0, OSC_BLOCK_SLOTS, 201), 4);
    osc_free(b);
}

TEST(standing_records_are_picked_out)
{
    struct osc_block *b = new_block();
    unsigned char out[32768];
    struct osc_pack_segment s;
    struct osc_packed r;
    uint64_t seed = 6;
    uint32_t used = 0, n = 0;

    for (size_t k = 0; k < sizeof kinds; k++)
        used += put(b, used, kinds[k], &seed);
    b->slots[used].word = osc_record_word(0, TAG + 1, OSC_RECORD_DEVICE, 3);
    used += put(b, used + 1, OSC_RECORD_THREAD_NAME, &seed) + 1;
    const size_t len = osc_pack_standing(b, (struct osc_pack_range){0, used, false}, &s, out);
    struct osc_unpack u = {.at = out, .end = out + len, .ticks = s.start_ticks};
    for (; osc_unpack_next(&u, &r); n++)
        assert_true(r.kind == OSC_RECORD_METADATA || r.kind >= OSC_RECORD_DEVICE ||
                    r.kind == OSC_RECORD_THREAD_NAME);
    assert_int_equal(n, 7);
    assert_int_equal(s.n_records, 7);
    assert_int_equal(s.n_slots, 0);
    osc_free(b);
}

/* Unpack BYTES, copied to an allocation of their own. They may be invalid; unpacking must
 * end. */
static uint32_t unpack_all(const unsigned char *bytes, size_t len)
{
    unsigned char *copy = osc_malloc(len + !len);
    struct osc_packed r;
    uint32_t n = 0;

    assert_non_null(copy);
    memcpy(copy, bytes, len);
    struct osc_unpack u = {.at = copy, .end = copy + len, .ticks = 0};
    for (; osc_unpack_next(&u, &r); n++)
        if (r.kind >= OSC_RECORD_ARG_I64S && r.kind <= OSC_RECORD_ARG_JSON && r.n_bytes)
            assert_in_range((uintptr_t)(r.bytes + r.n_bytes), (uintptr_t)copy, (uintptr_t)u.at);
    assert_true(u.at == NULL || u.at == u.end);
    osc_free(copy);
    return n;
}

/* Write a stack of N frames at slot I of B; its outer frames are the same in all stacks. */
static uint32_t put_frames(struct osc_block *b, uint32_t i, uint32_t n, uint64_t inner)
{
    struct osc_record_slot *s = &b->slots[i];

    s[0].value = n;
    for (uint32_t w = 0; w < n; w++) {
        const uint64_t address =
            w == 0 ? inner : UINT64_C(0x7f1200000000) - UINT64_C(100) * (n - w);

        if (w % 2)
            s[1 + w / 2].word = address;
        else
            s[1 + w / 2].value = address;
    }
    s[0].word = osc_record_word(0, TAG, OSC_RECORD_ARG_STACK, 1 + (n + 1) / 2);
    return 1 + (n + 1) / 2;
}

TEST(frames_that_stacks_share_are_told_once)
{
    struct osc_block *b = new_block();
    unsigned char out[4096];
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    struct osc_packed r;
    uint32_t at[4], used = 0;
    static const uint32_t depths[4] = {32, 32, 20, 0};

    for (uint32_t i = 0; i < 4; i++) {
        at[i] = used;
        used += put_frames(b, used, depths[i], UINT64_C(0x7f1100000000) + i);
    }
    const size_t len =
        osc_pack_block(b, (struct osc_pack_range){0, used, false}, &s, out, &times);
    assert_in_range(len, 1, 32 * 3 + 40);
    struct osc_unpack u = {.at = out, .end = out + len};
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(osc_unpack_next(&u, &r));
        assert_int_equal(r.value, depths[i]);
        assert_same(b, at[i], &r);
    }
    assert_false(osc_unpack_next(&u, &r));
    assert_ptr_equal(u.at, out + len);
    osc_free(b);
}

TEST(hostile_bytes_are_never_read_beyond)
{
    struct osc_block *b = new_block();
    unsigned char packed[32768], noise[256];
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    uint64_t seed = 4;
    uint32_t used = 0;

    for (size_t k = 0; k < 2 * sizeof kinds; k++)
        used += put(b, used, kinds[k / 2], &seed);
    const size_t len =
        osc_pack_block(b, (struct osc_pack_range){0, used, false}, &s, packed, &times);
    for (size_t cut = 0; cut <= len; cut++)
        assert_in_range(unpack_all(packed, cut), 0, s.n_records);
    for (size_t i = 0; i < len; i++) {
        const unsigned char was = packed[i];
        for (int bit = 0; bit < 8; bit++) {
            packed[i] = (unsigned char)(was ^ 1 << bit);
            unpack_all(packed, len);
        }
        packed[i] = was;
    }
    for (int round = 0; round < 20000; round++) {
        const size_t n = any(&seed) % sizeof noise;
        for (size_t i = 0; i < n; i++)
            noise[i] = (unsigned char)(any(&seed) & (round % 2 ? 0x7f : 0xff));
        unpack_all(noise, n);
    }
    osc_free(b);
}

TEST(hostile_blocks_are_never_read_beyond)
{
    struct osc_block *b = new_block();
    unsigned char *out = osc_malloc(osc_pack_bound(OSC_BLOCK_SLOTS));
    struct osc_pack_segment s;
    struct osc_pack_times times = {0};
    uint64_t seed = 5;

    assert_non_null(out);
    for (int round = 0; round < 2000; round++) {
        for (uint32_t i = 0; i < OSC_BLOCK_SLOTS; i++) {
            b->slots[i].value = any(&seed);
            b->slots[i].word = osc_record_word(
                (uint32_t)any(&seed), TAG, kinds[any(&seed) % sizeof kinds], any(&seed) % 256);
        }
        const size_t len =
            osc_pack_block(b, (struct osc_pack_range){0, UINT32_MAX, true}, &s, out, &times);
        assert_int_equal(s.n_slots, OSC_BLOCK_SLOTS);
        assert_int_equal(unpack_all(out, len), s.n_records);
    }
    osc_free(out);
    osc_free(b);
}

UNIT_MAIN("pack")
