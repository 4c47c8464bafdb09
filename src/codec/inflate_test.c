/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/inflate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "support/peak.h"

#if OSC_WITH_GZIP && OSC_WITH_ZSTD

#include <isa-l/igzip_lib.h>
#include <zstd.h>

static const char text[] = "aten::linear aten::linear aten::addmm\n";

/* With extra field, name, comment and header checksum; fixed codes. */
static const unsigned char gzip_fields[] = {
    0x1f, 0x8b, 0x08, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x05, 0x00, 0x41, 0x42, 0x01,
    0x00, 0x78, 0x6e, 0x61, 0x6d, 0x65, 0x2e, 0x6a, 0x73, 0x6f, 0x6e, 0x00, 0x61, 0x20, 0x63,
    0x6f, 0x6d, 0x6d, 0x65, 0x6e, 0x74, 0x00, 0x21, 0x9c, 0x4b, 0x2c, 0x49, 0xcd, 0xb3, 0xb2,
    0xca, 0xc9, 0xcc, 0x4b, 0x4d, 0x2c, 0x52, 0x48, 0xc4, 0xe4, 0x24, 0xa6, 0xa4, 0xe4, 0xe6,
    0x72, 0x01, 0x00, 0xc0, 0x5c, 0x9a, 0x61, 0x26, 0x00, 0x00, 0x00};
/* "stored", in a stored block. */
static const unsigned char gzip_stored[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x01, 0x06, 0x00, 0xf9, 0xff,
    0x73, 0x74, 0x6f, 0x72, 0x65, 0x64, 0x0b, 0xf9, 0x43, 0x56, 0x06, 0x00, 0x00, 0x00};
/* No data at all. */
static const unsigned char gzip_empty[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00,
                                           0x00, 0x02, 0x03, 0x03, 0x00, 0x00, 0x00,
                                           0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
/* With a checksum. */
static const unsigned char zstd_text[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x26, 0xcd, 0x00, 0x00, 0x98, 0x61, 0x74, 0x65,
    0x6e, 0x3a, 0x3a, 0x6c, 0x69, 0x6e, 0x65, 0x61, 0x72, 0x20, 0x61, 0x64, 0x64,
    0x6d, 0x6d, 0x0a, 0x01, 0x00, 0x90, 0xcc, 0x2f, 0x68, 0x22, 0x36, 0xaa};
static const unsigned char zstd_skippable[] = {0x5a, 0x2a, 0x4d, 0x18, 0x03, 0x00,
                                               0x00, 0x00, 'a',  'b',  'c'};

struct bytes {
    unsigned char *p;
    size_t n;
};

struct result {
    enum osc_inflate_state state;
    struct osc_err err;
    struct osc_inflate_info info;
    size_t n_out;
};

/* Decode IN to OUT, in pieces of at most N_IN and N_OUT bytes. */
static struct result decode(enum osc_inflate_format format, struct bytes in, size_t n_in,
                            struct bytes out, size_t n_out)
{
    struct result r = {.state = OSC_INFLATE_MORE};
    struct osc_inflate *z;
    size_t n_read = 0, n_idle = 0;

    assert_int_equal(osc_inflate_new(&z, format, NULL), OSC_OK);
    while (r.state != OSC_INFLATE_END && r.state != OSC_INFLATE_ERROR) {
        struct osc_inflate_io io = {.in = in.p + n_read, .out = out.p + r.n_out};

        io.n_in = in.n - n_read < n_in ? in.n - n_read : n_in;
        io.n_out = out.n - r.n_out < n_out ? out.n - r.n_out : n_out;
        io.is_last = n_read + io.n_in == in.n;
        r.state = osc_inflate_run(z, &io, &r.err);
        n_idle = n_read == (size_t)(io.in - in.p) && r.n_out == (size_t)(io.out - out.p)
                     ? n_idle + 1
                     : 0;
        assert_true(n_idle < 3); /* every call makes progress */
        n_read = (size_t)(io.in - in.p);
        r.n_out = (size_t)(io.out - out.p);
    }
    r.info = *osc_inflate_info(z);
    assert_int_equal(r.info.in_bytes, n_read);
    assert_int_equal(r.info.out_bytes, r.n_out);
    osc_inflate_free(z);
    return r;
}

static enum osc_inflate_format probe(struct bytes in)
{
    return osc_inflate_probe(in.p, in.n);
}

static void expect_text(struct bytes in, size_t n_in, size_t n_out, const char *expected)
{
    unsigned char buffer[200];
    const struct result r =
        decode(probe(in), in, n_in, (struct bytes){buffer, sizeof buffer}, n_out);

    assert_int_equal(r.state, OSC_INFLATE_END);
    assert_int_equal(r.n_out, strlen(expected));
    assert_memory_equal(buffer, expected, r.n_out);
    assert_int_equal(r.info.in_bytes, in.n);
}

/* A copy on the heap, so that ASan checks its end. */
static struct bytes copy(const void *p, size_t n)
{
    const struct bytes b = {osc_malloc(n), n};

    assert_non_null(b.p);
    memcpy(b.p, p, n);
    return b;
}

static const struct {
    const unsigned char *p;
    size_t n;
    const char *text;
} samples[] = {
    {gzip_fields, sizeof gzip_fields, text},     {gzip_stored, sizeof gzip_stored, "stored"},
    {gzip_empty, sizeof gzip_empty, ""},         {zstd_text, sizeof zstd_text, text},
    {zstd_skippable, sizeof zstd_skippable, ""},
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

static void reads_small_streams_in_any_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct bytes in = copy(samples[i].p, samples[i].n);

        for (size_t n_in = 1; n_in <= in.n; n_in++) {
            for (size_t n_out = 1; n_out <= sizeof text; n_out++)
                expect_text(in, n_in, n_out, samples[i].text);
        }
        osc_free(in.p);
    }
}

static void a_stream_that_is_cut_gives_its_start_and_says_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        for (size_t n = 0; n < samples[i].n; n++) {
            const struct bytes in = copy(samples[i].p, n ? n : 1);
            const enum osc_inflate_format format =
                osc_inflate_probe(samples[i].p, samples[i].n);

            for (size_t n_in = 1; n_in <= n + 1; n_in++) {
                unsigned char out[100];
                const struct result r = decode(format, (struct bytes){in.p, n}, n_in,
                                               (struct bytes){out, sizeof out}, 7);

                assert_int_equal(r.state, OSC_INFLATE_ERROR);
                assert_int_equal(r.err.code, OSC_ETRUNC);
                assert_int_equal(r.err.offset, n);
                assert_true(r.n_out <= strlen(samples[i].text));
                assert_memory_equal(out, samples[i].text, r.n_out);
            }
            osc_free(in.p);
        }
    }
}

static void a_flipped_byte_is_an_error_or_does_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const struct bytes in = copy(samples[i].p, samples[i].n);

        for (size_t at = 0; at < in.n * 8; at++) {
            unsigned char whole[2000], pieces[2000];

            in.p[at / 8] ^= (unsigned char)(1 << at % 8);
            const enum osc_inflate_format format =
                osc_inflate_probe(samples[i].p, samples[i].n);
            const struct result a =
                decode(format, in, in.n, (struct bytes){whole, sizeof whole}, sizeof whole);
            const struct result b =
                decode(format, in, 1, (struct bytes){pieces, sizeof pieces}, 3);

            assert_int_equal(a.state, b.state);
            assert_int_equal(a.n_out, b.n_out);
            assert_memory_equal(whole, pieces, a.n_out);
            if (a.state == OSC_INFLATE_END && a.info.garbage_bytes == 0) {
                assert_int_equal(a.n_out, strlen(samples[i].text));
                assert_memory_equal(whole, samples[i].text, a.n_out);
            }
            in.p[at / 8] ^= (unsigned char)(1 << at % 8);
        }
        osc_free(in.p);
    }
}

static void an_error_has_words_and_stays(void **state)
{
    struct bytes in = copy(gzip_stored, sizeof gzip_stored);
    unsigned char out[100];
    struct osc_inflate *z;
    struct osc_err err = {0};

    (void)state;
    in.p[sizeof gzip_stored - 8] ^= 1;
    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, NULL), OSC_OK);
    struct osc_inflate_io io = {.in = in.p, .n_in = in.n, .out = out, .n_out = sizeof out};
    assert_int_equal(osc_inflate_run(z, &io, &err), OSC_INFLATE_ERROR);
    assert_string_equal(err.message, "gzip member 1: a checksum that does not match the data "
                                     "before it at compressed byte 29");
    assert_int_equal(err.code, OSC_EFORMAT);
    assert_int_equal(io.out - out, 6);
    assert_memory_equal(out, "stored", 6);
    err = (struct osc_err){0};
    assert_int_equal(osc_inflate_run(z, &io, &err), OSC_INFLATE_ERROR);
    assert_int_equal(err.offset, 29);
    assert_int_equal(osc_inflate_run(z, &io, NULL), OSC_INFLATE_ERROR);
    osc_inflate_free(z);
    osc_free(in.p);
}

static void other_bytes_are_no_header(void **state)
{
    unsigned char json[] = "{\"a\":1}", out[10];
    const struct bytes in = {json, sizeof json - 1};
    const struct result gzip =
        decode(OSC_INFLATE_GZIP, in, 2, (struct bytes){out, sizeof out}, sizeof out);
    const struct result zstd =
        decode(OSC_INFLATE_ZSTD, in, 2, (struct bytes){out, sizeof out}, sizeof out);

    (void)state;
    assert_int_equal(osc_inflate_probe(json, in.n), OSC_INFLATE_NONE);
    assert_int_equal(osc_inflate_probe(gzip_empty, 2), OSC_INFLATE_NONE);
    assert_int_equal(gzip.err.code, OSC_EFORMAT);
    assert_string_equal(gzip.err.message, "gzip member 1: no header at compressed byte 0");
    assert_int_equal(zstd.err.code, OSC_EFORMAT);
    assert_int_equal(zstd.err.offset, 0);
}

/* Append N bytes to B, which has room. */
static void add(struct bytes *b, const void *p, size_t n)
{
    memcpy(b->p + b->n, p, n);
    b->n += n;
}

static void many_members_are_one_stream(void **state)
{
    struct bytes in = {osc_malloc(100000), 0}, out = {osc_malloc(100000), 100000};
    size_t n_text = 0;

    (void)state;
    for (int i = 0; i < 400; i++) {
        add(&in, gzip_fields, sizeof gzip_fields);
        add(&in, gzip_empty, sizeof gzip_empty);
        if (i % 10 == 0)
            add(&in, "\0\0\0\0\0", (size_t)(i % 5));
        n_text += strlen(text);
    }
    for (size_t n_in = 1; n_in < 200; n_in += 9) {
        const struct result r = decode(OSC_INFLATE_GZIP, in, n_in, out, 1000);

        assert_int_equal(r.state, OSC_INFLATE_END);
        assert_int_equal(r.info.n_members, 800);
        assert_int_equal(r.n_out, n_text);
        assert_memory_equal(out.p + n_text - 38, text, 38);
    }
    in.n = 0;
    for (int i = 0; i < 400; i++) {
        add(&in, zstd_text, sizeof zstd_text);
        add(&in, zstd_skippable, sizeof zstd_skippable);
    }
    for (size_t n_in = 1; n_in < 200; n_in += 9) {
        const struct result r = decode(OSC_INFLATE_ZSTD, in, n_in, out, 1000);

        assert_int_equal(r.state, OSC_INFLATE_END);
        assert_int_equal(r.info.n_members, 800);
        assert_int_equal(r.n_out, n_text);
    }
    osc_free(in.p);
    osc_free(out.p);
}

static void padding_and_garbage_after_the_end_are_counted(void **state)
{
    static const struct {
        const char *tail;
        size_t n_tail, n_padding, n_garbage;
    } tails[] = {
        {"", 0, 0, 0},
        {"\0\0\0\0\0\0\0", 7, 7, 0},
        {"garbage", 7, 0, 7},
        {"\0\0x", 3, 2, 1},
        {"\x1f", 1, 0, 1},
        {"\x1f\x8b", 2, 0, 2},
        {"\x1f\x8b\x09\0\0", 5, 0, 5},
        {"\x28\xb5\x2f", 3, 0, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        for (size_t s = 0; s < N_SAMPLES; s++) {
            unsigned char buffer[200], out[100];
            struct bytes in = {buffer, 0};

            add(&in, samples[s].p, samples[s].n);
            add(&in, tails[i].tail, tails[i].n_tail);
            for (size_t n_in = 1; n_in <= in.n; n_in++) {
                const struct result r =
                    decode(probe(in), in, n_in, (struct bytes){out, sizeof out}, 100);

                assert_int_equal(r.state, OSC_INFLATE_END);
                assert_int_equal(r.n_out, strlen(samples[s].text));
                assert_int_equal(r.info.padding_bytes, tails[i].n_padding);
                assert_int_equal(r.info.garbage_bytes, tails[i].n_garbage);
                if (tails[i].n_garbage > 0)
                    assert_int_equal(r.info.garbage_offset, samples[s].n + tails[i].n_padding);
            }
        }
    }
}

/* Text that compresses to about a third, in many blocks. */
static struct bytes make_text(size_t n)
{
    const struct bytes b = {osc_malloc(n + 64), n};

    assert_non_null(b.p);
    for (size_t i = 0, k = 0; i < n; k++) {
        const uint64_t h = osc_hash_u64(k);
        i += (size_t)snprintf((char *)b.p + i, 64, "{\"name\":\"op%u\",\"ts\":%u},\n",
                              (unsigned)(h % 300), (unsigned)(h >> 40));
    }
    return b;
}

static struct bytes compress_gzip(struct bytes in)
{
    struct isal_zstream *const z = osc_calloc(1, sizeof *z);
    unsigned char *const level = osc_malloc(ISAL_DEF_LVL1_DEFAULT);
    struct bytes out = {osc_malloc(in.n + 10000), in.n + 10000};

    assert_non_null(z);
    assert_non_null(level);
    isal_deflate_init(z);
    z->gzip_flag = IGZIP_GZIP;
    z->level = 1;
    z->level_buf = level;
    z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    z->next_in = in.p;
    z->avail_in = (uint32_t)in.n;
    z->end_of_stream = 1;
    z->next_out = out.p;
    z->avail_out = (uint32_t)out.n;
    assert_int_equal(isal_deflate(z), COMP_OK);
    assert_int_equal(z->internal_state.state, ZSTATE_END);
    out.n -= z->avail_out;
    osc_free(level);
    osc_free(z);
    return out;
}

static struct bytes compress_zstd(struct bytes in)
{
    struct bytes out = {osc_malloc(ZSTD_compressBound(in.n)), ZSTD_compressBound(in.n)};

    ZSTD_CCtx *const ctx = ZSTD_createCCtx();

    assert_non_null(ctx);
    assert_non_null(out.p);
    (void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    out.n = ZSTD_compress2(ctx, out.p, out.n, in.p, in.n);
    assert_false(ZSTD_isError(out.n));
    (void)ZSTD_freeCCtx(ctx);
    return out;
}

static void check_large(struct bytes plain, struct bytes packed)
{
    static const size_t pieces[] = {30, 70, 1000, 4096, 65536, 1 << 20};
    const struct bytes out = {osc_malloc(plain.n + 100), plain.n + 100};

    assert_non_null(out.p);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        for (size_t j = 1; j < sizeof pieces / sizeof pieces[0]; j++) {
            const struct result r = decode(probe(packed), packed, pieces[i], out, pieces[j]);

            assert_int_equal(r.state, OSC_INFLATE_END);
            assert_int_equal(r.n_out, plain.n);
            assert_memory_equal(out.p, plain.p, plain.n);
        }
    }
    osc_free(out.p);
}

/* Cut PACKED, then damage it; up to SLACK bytes before the damage may be lost. */
static void check_damage(struct bytes plain, struct bytes packed, size_t slack)
{
    const struct bytes out = {osc_malloc(plain.n * 4), plain.n * 4};
    size_t last_cut = 0;

    assert_non_null(out.p);
    for (size_t at = 100; at < packed.n; at += packed.n / 30) {
        /* Decoding a cut copy shows how much text the bytes before AT give. */
        const struct result cut =
            decode(probe(packed), (struct bytes){packed.p, at}, 5000, out, 4096);
        assert_int_equal(cut.err.code, OSC_ETRUNC);
        assert_true(cut.n_out >= last_cut);
        assert_memory_equal(out.p, plain.p, cut.n_out);
        last_cut = cut.n_out;

        packed.p[at] ^= 0x55;
        const struct result a = decode(probe(packed), packed, packed.n, out, out.n);
        assert_true(a.state == OSC_INFLATE_ERROR);
        assert_true(a.n_out + slack >= cut.n_out);
        assert_memory_equal(out.p, plain.p, cut.n_out < a.n_out ? cut.n_out : a.n_out);
        for (size_t n_out = 100; n_out < 100000; n_out *= 9) {
            const struct result b = decode(probe(packed), packed, 999, out, n_out);
            assert_int_equal(b.state, OSC_INFLATE_ERROR);
            assert_int_equal(b.n_out, a.n_out);
        }
        packed.p[at] ^= 0x55;
    }
    osc_free(out.p);
}

static void large_streams_come_out_whole_in_any_pieces(void **state)
{
    const struct bytes plain = make_text(300000);
    const struct bytes gzip = compress_gzip(plain), zstd = compress_zstd(plain);

    (void)state;
    check_large(plain, gzip);
    check_large(plain, zstd);
    osc_free(plain.p);
    osc_free(gzip.p);
    osc_free(zstd.p);
}

static void what_comes_before_damage_is_handed_out(void **state)
{
    const struct bytes plain = make_text(300000);
    const struct bytes gzip = compress_gzip(plain), zstd = compress_zstd(plain);

    (void)state;
    check_damage(plain, gzip, 0);
    check_damage(plain, zstd, 0);
    osc_free(plain.p);
    osc_free(gzip.p);
    osc_free(zstd.p);
}

static size_t max_rss_bytes(void)
{
    struct rusage u;

    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return (size_t)u.ru_maxrss * 1024;
}

/* 1 GiB of zeros, from one MiB compressed and repeated. */
static void run_bomb(struct bytes packed)
{
    static unsigned char out[65536];
    struct osc_inflate *z;
    enum osc_inflate_state st = OSC_INFLATE_MORE;

    assert_int_equal(osc_inflate_new(&z, probe(packed), NULL), OSC_OK);
    for (int i = 0; i < 1024; i++) {
        struct osc_inflate_io io = {.in = packed.p, .n_in = packed.n, .is_last = i == 1023};

        do {
            io.out = out;
            io.n_out = sizeof out;
            st = osc_inflate_run(z, &io, NULL);
            assert_true(st != OSC_INFLATE_ERROR);
        } while (io.n_in > 0 || io.n_out == 0 || (io.is_last && st != OSC_INFLATE_END));
    }
    assert_int_equal(st, OSC_INFLATE_END);
    assert_int_equal(osc_inflate_info(z)->out_bytes, (uint64_t)1 << 30);
    osc_inflate_free(z);
}

static void a_bomb_takes_no_memory(void **state)
{
    const struct bytes zeros = {osc_calloc(1, 1 << 20), 1 << 20};
    const struct bytes gzip = compress_gzip(zeros), zstd = compress_zstd(zeros);
    const size_t before = max_rss_bytes();

    (void)state;
    run_bomb(gzip);
    run_bomb(zstd);
    assert_true(max_rss_bytes() - before < (size_t)16 << 20);
    osc_free(zeros.p);
    osc_free(gzip.p);
    osc_free(zstd.p);
}

static void a_window_beyond_128_mib_is_refused(void **state)
{
    /* Window descriptors of RFC 8878, section 3.1.1.1.2: 2^27 and 2^28. */
    unsigned char allowed[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01, 0x00, 0x00};
    unsigned char refused[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x90, 0x01, 0x00, 0x00};
    unsigned char out[10];

    (void)state;
    expect_text((struct bytes){allowed, sizeof allowed}, 9, 9, "");
    const struct result r = decode(OSC_INFLATE_ZSTD, (struct bytes){refused, sizeof refused}, 9,
                                   (struct bytes){out, sizeof out}, 9);
    assert_int_equal(r.state, OSC_INFLATE_ERROR);
    assert_int_equal(r.err.code, OSC_ELIMIT);
}

static void a_window_counts_and_must_fit(void **state)
{
    unsigned char window64[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x80, 0x01, 0x00, 0x00};
    const size_t before = osc_mem_held();
    unsigned char out[10];
    struct peak peak;

    (void)state;
    peak_begin(&peak);
    expect_text((struct bytes){window64, sizeof window64}, 9, 9, "");
    assert_true(peak_end(&peak) > (size_t)64 << 20);
    assert_int_equal(osc_mem_held(), before);

    osc_mem_set_limit(before + ((size_t)50 << 20));
    peak_begin(&peak);
    const struct result r = decode(OSC_INFLATE_ZSTD, (struct bytes){window64, sizeof window64},
                                   9, (struct bytes){out, sizeof out}, 9);
    assert_int_equal(r.state, OSC_INFLATE_ERROR);
    assert_int_equal(r.err.code, OSC_ELIMIT);
    assert_non_null(strstr(r.err.message, "memory limit"));
    assert_true(peak_end(&peak) < (size_t)1 << 20);
    osc_mem_set_limit(SIZE_MAX);
    assert_int_equal(osc_mem_held(), before);
}

static void says_so_when_memory_is_exhausted(void **state)
{
    struct osc_inflate *z;

    (void)state;
    osc_mem_fail_after(0);
    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, NULL), OSC_ENOMEM);
    osc_mem_fail_after(-1);
    assert_null(z);
    osc_inflate_free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_small_streams_in_any_pieces),
        cmocka_unit_test(a_stream_that_is_cut_gives_its_start_and_says_where),
        cmocka_unit_test(a_flipped_byte_is_an_error_or_does_not_matter),
        cmocka_unit_test(an_error_has_words_and_stays),
        cmocka_unit_test(other_bytes_are_no_header),
        cmocka_unit_test(many_members_are_one_stream),
        cmocka_unit_test(padding_and_garbage_after_the_end_are_counted),
        cmocka_unit_test(large_streams_come_out_whole_in_any_pieces),
        cmocka_unit_test(what_comes_before_damage_is_handed_out),
        cmocka_unit_test(a_bomb_takes_no_memory),
        cmocka_unit_test(a_window_beyond_128_mib_is_refused),
        cmocka_unit_test(a_window_counts_and_must_fit),
        cmocka_unit_test(says_so_when_memory_is_exhausted),
    };
    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}

#else

static void says_that_it_was_built_without(void **state)
{
    struct osc_inflate *z;
    struct osc_err err;

    (void)state;
    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, &err), OSC_EINVAL);
    assert_null(z);
    assert_string_equal(err.message,
                        "this opscope was built without gzip; decompress it first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without)};

    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}

#endif
