/* SPDX-License-Identifier: Apache-2.0 */
#include "page/levels.h"

#include <stdio.h>

#include "codec/inflate.h"
#include "derive/derive.h"
#include "support/small_trace.h"
#include "support/unit.h"
#include "timeline/packet.h"

#if OSC_WITH_GZIP

#define MANY 100000000u

static struct osc_trace trace;
static struct osc_timeline timeline;
static struct osc_pack pack;
static struct osc_levels levels;
static struct osc_strbuf text, packet;

static int end(void **state)
{
    (void)state;
    osc_levels_fini(&levels);
    osc_pack_fini(&pack);
    osc_timeline_fini(&timeline);
    osc_strbuf_fini(&text);
    osc_strbuf_fini(&packet);
    osc_trace_fini(&trace);
    return 0;
}

static void make(void)
{
    const struct osc_trace *const all[] = {&trace};

    assert_int_equal(osc_derive(&trace, OSC_FACT_ORDER | OSC_FACT_ALLOCATIONS, 1, NULL),
                     OSC_OK);
    assert_int_equal(osc_timeline_make(&timeline, all, 1, 1), OSC_OK);
    assert_int_equal(osc_pack_begin(&pack), OSC_OK);
}

/* --- what is packed -------------------------------------------------------------- */

/* Inflate all of the pack, which ends, to TEXT. */
static void unpack(void)
{
    unsigned char room[4096];
    enum osc_inflate_state state = OSC_INFLATE_MORE;
    struct osc_inflate *z;
    struct osc_err err = {0};

    assert_int_equal(osc_pack_end(&pack), OSC_OK);
    struct osc_inflate_io io = {
        .in = (const unsigned char *)pack.out.s, .n_in = pack.out.len, .is_last = true};
    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, &err), OSC_OK);
    while (state == OSC_INFLATE_MORE || state == OSC_INFLATE_END_OF_MEMBER) {
        io.out = room;
        io.n_out = sizeof room;
        state = osc_inflate_run(z, &io, &err);
        osc_strbuf_add(&text, (const char *)room, sizeof room - io.n_out);
    }
    assert_int_equal(state, OSC_INFLATE_END);
    assert_int_equal(osc_inflate_info(z)->n_members, 1);
    osc_inflate_free(z);
    assert_int_equal(text.len % 8, 0);
}

static uint32_t number(const char *s)
{
    uint32_t v = 0;

    for (unsigned i = 0; i < 4; i++)
        v |= (uint32_t)(unsigned char)s[i] << 8 * i;
    return v;
}

static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* The answer to KEY in TEXT; NULL: there is none. */
static const char *answer(const char *key, uint32_t *len)
{
    for (size_t at = 0; at < text.len;) {
        const uint32_t n_key = number(text.s + at), n = number(text.s + at + 4);
        const char *const name = text.s + at + 8, *const bytes = name + padded(n_key);

        at = (size_t)(bytes - text.s) + padded(n);
        assert_true(at <= text.len);
        *len = n;
        if (n_key == strlen(key) && memcmp(name, key, n_key) == 0)
            return bytes;
    }
    return NULL;
}

TEST_WITH(answers_come_back_as_they_were, NULL, end)
{
    bool is_taken = false;
    uint32_t len = 0;

    assert_int_equal(osc_pack_begin(&pack), OSC_OK);
    assert_int_equal(osc_pack_add(&pack, "a", "12345678", 8, MANY, &is_taken), OSC_OK);
    assert_true(is_taken);
    assert_int_equal(osc_pack_add(&pack, "table/x?b=1", "123", 3, MANY, &is_taken), OSC_OK);
    assert_true(is_taken);
    assert_int_equal(osc_pack_add(&pack, "", "", 0, MANY, &is_taken), OSC_OK);
    assert_true(is_taken);
    unpack();
    const char *const first = answer("a", &len);
    assert_int_equal(len, 8);
    assert_memory_equal(first, "12345678", 8);
    const char *const second = answer("table/x?b=1", &len);
    assert_int_equal(len, 3);
    assert_memory_equal(second, "123\0\0\0\0", 8);
    assert_non_null(answer("", &len));
    assert_int_equal(len, 0);
    assert_null(answer("table/x", &len));
}

TEST_WITH(what_does_not_fit_changes_nothing, NULL, end)
{
    static char noise[4096];
    bool is_taken = true;
    uint32_t v = 1, len;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)((v = v * 1664525u + 1013904223u) >> 24);
    assert_int_equal(osc_pack_begin(&pack), OSC_OK);
    assert_int_equal(osc_pack_add(&pack, "large", noise, sizeof noise, 4000, &is_taken),
                     OSC_OK);
    assert_false(is_taken);
    assert_int_equal(osc_pack_add(&pack, "small", noise, 100, 4000, &is_taken), OSC_OK);
    assert_true(is_taken);
    assert_true(pack.out.len < 4000);
    unpack();
    assert_null(answer("large", &len));
    assert_memory_equal(answer("small", &len), noise, 100);
}

/* --- levels ---------------------------------------------------------------------- */

/* Write the tile at TILE of LEN bytes to OUT as a packet. */
static void restore(const char *tile, size_t len, struct osc_strbuf *out)
{
    const size_t head = 48 + (size_t)16 * number(tile + 20), n = number(tile + 24);
    const unsigned char *const columns = (const unsigned char *)tile + head;
    uint32_t before[5] = {0};

    assert_int_equal(len, head + n * 20 + (size_t)12 * number(tile + 40));
    osc_strbuf_clear(out);
    osc_strbuf_add(out, tile, head);
    for (size_t i = 0; i < n; i++)
        for (unsigned w = 0; w < 5; w++) {
            uint32_t v = 0;

            for (unsigned b = 0; b < 4; b++)
                v |= (uint32_t)columns[((size_t)w * 4 + b) * n + i] << 8 * b;
            v += before[w];
            before[w] = w == 0 || w == 2 ? v : 0;
            for (unsigned b = 0; b < 4; b++)
                osc_strbuf_addc(out, (char)(v >> 8 * b & 0xff));
        }
    osc_strbuf_add(out, tile + head + n * 20, len - head - n * 20);
}

/* Compare the tiles of level K with what the server says to the same windows. */
static void compare_level(unsigned k)
{
    struct osc_packet_lanes tracks[64];
    struct osc_strbuf right = {0};
    char key[32];
    uint32_t len = 0;
    size_t at = 0;

    snprintf(key, sizeof key, "cells/%u", k);
    const char *const level = answer(key, &len);
    assert_non_null(level);
    assert_true(timeline.n_tracks <= 64);
    for (uint32_t i = 0; i < timeline.n_tracks; i++)
        tracks[i] = (struct osc_packet_lanes){i, OSC_LANES_MAX};
    for (; at < len; at += 8 + padded(number(level + at))) {
        const char *const tile = level + at + 8;
        const int64_t from =
            (int64_t)((uint64_t)number(tile + 8) | (uint64_t)number(tile + 12) << 32);
        const int64_t width =
            (int64_t)((uint64_t)number(tile + 32) | (uint64_t)number(tile + 36) << 32);
        const struct osc_packet_request r = {.tracks = tracks,
                                             .n_tracks = timeline.n_tracks,
                                             .from_ns = from,
                                             .to_ns = from + width,
                                             .n_pixels = (uint32_t)(width >> tile[17])};

        assert_int_equal(osc_packet_write(&timeline, &r, &right), OSC_OK);
        restore(tile, number(level + at), &packet);
        assert_int_equal(packet.len, right.len);
        assert_memory_equal(packet.s, right.s, right.len);
    }
    assert_int_equal(at, len);
    osc_strbuf_fini(&right);
}

TEST_WITH(levels_are_the_packets_of_the_server, NULL, end)
{
    assert_true(small_load(&trace, OP("a", 1, 0, 9000, "") OP("b", 1, 1, 2, "")
                                       OP("b", 1, 4, 1, "") KERNEL("k", 5, 1000, 1)));
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, MANY), OSC_OK);
    assert_true(levels.n > 1);
    assert_true(levels.is_complete);
    unpack();
    for (unsigned k = 0; k < levels.n; k++)
        compare_level(k);
}

TEST_WITH(the_longest_ranges_that_stand_alone_come_first, NULL, end)
{
    assert_true(small_load(&trace, OP("a", 1, 0, 10, "") OP("b", 1, 20, 9000, "")
                                       OP("c", 1, 10000, 30, "")));
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, MANY), OSC_OK);
    assert_int_equal(levels.n_events, 3);
    assert_int_equal(levels.events[0], 1);
    assert_int_equal(levels.events[1], 2);
    assert_int_equal(levels.events[2], 0);
    for (uint32_t i = 0; i < osc_timeline_names(&timeline); i++)
        assert_int_equal(levels.has_names[i] > 0, osc_timeline_name(&timeline, i).len > 0);
}

TEST_WITH(without_room_there_are_fewer_levels, NULL, end)
{
    struct osc_strbuf events = {0};
    uint32_t len;

    for (uint32_t i = 0, at = 0, v = 1; i < 1000; i++) {
        v = v * 1664525u + 1013904223u;
        osc_strbuf_addf(
            &events, "{'ph':'X','cat':'cpu_op','name':'n%u','pid':1,'tid':1,'ts':%u,'dur':%u},",
            v >> 24 & 7, at, 1 + (v >> 8) % 20);
        at += 20 + (v >> 16) % 40;
    }
    assert_true(small_load(&trace, events.s));
    osc_strbuf_fini(&events);
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, 5000), OSC_OK);
    assert_true(pack.out.len <= 5000);
    assert_int_equal(levels.n, 1);
    assert_false(levels.is_complete);
    assert_true(levels.quantum_ns > 1);
    unpack();
    for (unsigned k = 0; k < levels.n; k++)
        compare_level(k);
    assert_null(answer("cells/1", &len));
}

TEST_WITH(months_between_two_events_are_one_tile, NULL, end)
{
    assert_true(small_load(&trace, OP("a", 1, 0, 1, "") OP("b", 1, 2, 1, "")
                                       OP("c", 1, 31536000000000, 5, "")
                                           OP("d", 1, 31536000000010, 5, "")));
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, MANY), OSC_OK);
    assert_true(levels.n > 1);
    unpack();
    for (unsigned k = 0; k < levels.n; k++)
        compare_level(k);
    uint32_t len = 0;
    const char *const first = answer("cells/0", &len);
    assert_non_null(first);
    assert_int_equal(len, 8 + padded(number(first)));
}

TEST_WITH(a_level_with_very_many_tiles_is_left_out, NULL, end)
{
    struct osc_strbuf events = {0};

    for (uint32_t i = 0; i < 200; i++)
        osc_strbuf_addf(
            &events,
            "{'ph':'X','cat':'cpu_op','name':'a','pid':1,'tid':%u,'ts':0.00%u,'dur':0.001},",
            i / 2, i % 2 * 2);
    osc_strbuf_adds(&events, OP("c", 1, 86400000000, 5, "") OP("d", 1, 86400000010, 5, ""));
    assert_true(small_load(&trace, events.s));
    osc_strbuf_fini(&events);
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, MANY), OSC_OK);
    assert_true(levels.n > 1);
    assert_false(levels.is_complete);
    unpack();
    assert_true(text.len < 200000000);
}

TEST_WITH(an_empty_timeline_has_a_level, NULL, end)
{
    assert_true(small_load(&trace, ""));
    make();
    assert_int_equal(osc_levels_add(&levels, &timeline, &pack, MANY), OSC_OK);
    assert_true(levels.is_complete);
    assert_int_equal(levels.n_events, 0);
    unpack();
    for (unsigned k = 0; k < levels.n; k++)
        compare_level(k);
}

#else

TEST(without_isal_there_is_no_pack)
{
    struct osc_pack pack = {.z = NULL};

    assert_int_equal(osc_pack_begin(&pack), OSC_EINVAL);
    osc_pack_fini(&pack);
}

#endif

UNIT_MAIN("page/levels")
