/* SPDX-License-Identifier: Apache-2.0 */
#include "import/bytes/text_window.h"

#include "base/mem.h"
#include "support/unit.h"

/* Blocks of PIECE bytes of a text that repeats the alphabet, in two alternating buffers. */
struct made_blocks {
    struct osc_blocks blocks;
    size_t size, piece, at;
    osc_status last; /* the status after the end */
    unsigned n_calls;
    char *buffers[2];
};

static char letter(uint64_t offset)
{
    return (char)('a' + offset % 23);
}

static osc_status next_made(struct osc_blocks *b, char **data, size_t *len, struct osc_err *err)
{
    struct made_blocks *m = (struct made_blocks *)b;
    char *to = m->buffers[m->n_calls++ % 2] + OSC_TEXT_HEADROOM;
    const size_t left = m->size - m->at;

    *data = to;
    *len = left < m->piece ? left : m->piece;
    for (size_t i = 0; i < *len; i++)
        to[i] = letter(m->at + i);
    m->at += *len;
    return *len == 0 && m->last != OSC_OK ? osc_fail(err, m->last, "made to fail") : OSC_OK;
}

static struct made_blocks make(size_t size, size_t piece)
{
    struct made_blocks m = {.blocks = {.next = next_made}, .size = size, .piece = piece};

    for (int i = 0; i < 2; i++) {
        m.buffers[i] = osc_malloc(OSC_TEXT_HEADROOM + piece + OSC_TEXT_PADDING);
        assert_non_null(m.buffers[i]);
        memset(m.buffers[i], 'X', OSC_TEXT_HEADROOM + piece + OSC_TEXT_PADDING);
    }
    return m;
}

static void unmake(struct made_blocks *m, struct osc_text *t)
{
    osc_text_fini(t);
    osc_free(m->buffers[0]);
    osc_free(m->buffers[1]);
    assert_null(t->big);
}

TEST(gives_every_byte_once_with_zeros_behind_the_end)
{
    static const char zeros[OSC_TEXT_PADDING];
    static const size_t pieces[] = {1, 7, 1000, 4096};

    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        struct made_blocks m = make(1000, pieces[k]);
        struct osc_text t;
        uint64_t n = 0;

        osc_text_init(&t, &m.blocks, 500);
        assert_true(t.p == t.end);
        while (osc_text_more(&t, t.p)) {
            assert_memory_equal(t.end, zeros, sizeof zeros);
            for (; t.p < t.end; t.p++, n++) {
                assert_int_equal(osc_text_offset(&t, t.p), 500 + n);
                assert_int_equal(*t.p, letter(n));
            }
        }
        assert_int_equal(n, 1000);
        assert_true(t.at_end);
        assert_int_equal(t.status, OSC_OK);
        unmake(&m, &t);
    }
}

/* A token of TOKEN bytes, which begins at the third byte, is kept while the rest is read. */
static void keep_token(size_t token, size_t piece)
{
    struct made_blocks m = make(token + 10, piece);
    struct osc_text t;
    char *keep;

    osc_text_init(&t, &m.blocks, 0);
    assert_non_null(osc_text_more(&t, t.p));
    keep = t.p += 3;
    while ((size_t)(t.end - keep) < token) {
        const size_t before = (size_t)(t.end - keep);

        t.p = t.end - 1; /* may be anywhere after the kept bytes */
        keep = osc_text_more(&t, keep);
        assert_non_null(keep);
        assert_int_equal(t.p - keep, before - 1);
        assert_int_equal(osc_text_offset(&t, keep), 3);
    }
    for (size_t i = 0; i < token; i++)
        assert_int_equal(keep[i], letter(3 + i));
    unmake(&m, &t);
}

TEST(keeps_a_token_in_one_piece)
{
    keep_token(20, 4);
    keep_token(5000, 64);
    keep_token(OSC_TEXT_HEADROOM, 1000);
    keep_token((size_t)5 * OSC_TEXT_HEADROOM, 1000); /* in a buffer of its own, which grows */
    keep_token((size_t)5 * OSC_TEXT_HEADROOM, (size_t)3 * OSC_TEXT_HEADROOM);
}

TEST(refuses_to_keep_more_than_a_token)
{
    const size_t piece = (size_t)1 << 20;
    struct made_blocks m = make(OSC_TOKEN_MAX * 2, piece);
    struct osc_text t;

    osc_text_init(&t, &m.blocks, 0);
    while (osc_text_more(&t, t.p))
        continue;
    assert_false(t.at_end);
    assert_true((size_t)(t.end - t.p) > OSC_TEXT_KEPT_MAX);
    assert_true((size_t)(t.end - t.p) <= OSC_TEXT_KEPT_MAX + piece);
    assert_int_equal(osc_text_offset(&t, t.p), 0);
    t.p = t.end;
    assert_non_null(osc_text_more(&t, t.p)); /* reading goes on if less is kept */
    unmake(&m, &t);
}

TEST(asks_no_more_once_the_text_ended)
{
    static const osc_status ends[] = {OSC_OK, OSC_ETRUNC};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct made_blocks m = make(10, 10);
        struct osc_text t;

        m.last = ends[i];
        osc_text_init(&t, &m.blocks, 0);
        assert_non_null(osc_text_more(&t, t.p));
        t.p += 4;
        assert_null(osc_text_more(&t, t.p));
        assert_null(osc_text_more(&t, t.p));
        assert_int_equal(m.n_calls, 2);
        assert_int_equal(t.status, ends[i]);
        assert_string_equal(t.err.message, ends[i] == OSC_OK ? "" : "made to fail");
        assert_int_equal(*t.p, letter(4)); /* still there */
        unmake(&m, &t);
    }
}

TEST(looks_ahead_without_losing_its_place)
{
    struct made_blocks m = make(100, 9);
    struct osc_text t;

    osc_text_init(&t, &m.blocks, 0);
    assert_int_equal(osc_text_look(&t, 0), letter(0));
    t.p += 5;
    assert_int_equal(osc_text_look(&t, 60), letter(65));
    assert_int_equal(osc_text_look(&t, 94), letter(99));
    assert_int_equal(osc_text_look(&t, 95), -1);
    assert_int_equal(osc_text_offset(&t, t.p), 5);
    unmake(&m, &t);
}

static osc_status next_blanks(struct osc_blocks *b, char **data, size_t *len,
                              struct osc_err *err)
{
    struct made_blocks *m = (struct made_blocks *)b;

    (void)err;
    *data = m->buffers[m->n_calls % 2] + OSC_TEXT_HEADROOM;
    *len = m->n_calls < 4 ? 4 : 0;
    memcpy(*data, m->n_calls++ < 3 ? " \n\r\t" : "  x ", 4);
    return OSC_OK;
}

TEST(looks_past_blanks_over_blocks)
{
    struct made_blocks m = make(16, 4);
    struct osc_text t;
    size_t at = 1;

    m.blocks.next = next_blanks;
    osc_text_init(&t, &m.blocks, 0);
    assert_int_equal(osc_text_look_past_blank(&t, &at), 'x');
    assert_int_equal(at, 14);
    assert_int_equal(osc_text_offset(&t, t.p), 0);
    at++;
    assert_int_equal(osc_text_look_past_blank(&t, &at), -1);
    assert_int_equal(at, 16);
    unmake(&m, &t);
}

static osc_status next_only_blanks(struct osc_blocks *b, char **data, size_t *len,
                                   struct osc_err *err)
{
    struct made_blocks *m = (struct made_blocks *)b;

    (void)err;
    *data = m->buffers[m->n_calls++ % 2] + OSC_TEXT_HEADROOM;
    *len = m->piece;
    memset(*data, ' ', *len);
    return OSC_OK;
}

TEST(looks_equally_far_past_blanks_whatever_the_blocks_are)
{
    static const size_t pieces[] = {65536, 1000003};

    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
        struct made_blocks m = make(0, pieces[k]);
        struct osc_text t;
        size_t at = 1;

        m.blocks.next = next_only_blanks;
        osc_text_init(&t, &m.blocks, 0);
        assert_int_equal(osc_text_look_past_blank(&t, &at), -1);
        assert_int_equal(at, OSC_TEXT_LOOK_MAX + 1);
        assert_int_equal(osc_text_look(&t, OSC_TEXT_LOOK_MAX + 1), ' ');
        unmake(&m, &t);
    }
}

TEST(says_so_when_there_is_no_memory_for_a_long_token)
{
    struct made_blocks m = make((size_t)4 * OSC_TEXT_HEADROOM, OSC_TEXT_HEADROOM);
    struct osc_text t;

    osc_text_init(&t, &m.blocks, 0);
    assert_non_null(osc_text_more(&t, t.p));
    assert_non_null(osc_text_more(&t, t.p)); /* in the headroom */
    osc_mem_fail_after(0);
    assert_null(osc_text_more(&t, t.p));
    osc_mem_fail_after(-1);
    assert_int_equal(t.status, OSC_ENOMEM);
    assert_true(t.at_end);
    assert_int_equal(*t.p, letter(0));
    unmake(&m, &t);
}

UNIT_MAIN("text_window")
