/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/inflate.h"

#include <string.h>

#include "base/mem.h"

#if OSC_WITH_GZIP
#include <isa-l/igzip_lib.h>
#endif
#if OSC_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define MAX_IN_PIECE    ((uint32_t)256 << 10) /* makes up for a copy of the state */
#define MAX_OUT_PIECE   ((uint32_t)1 << 30)   /* ISA-L counts in 32 bits */
#define MAX_WINDOW_LOG  27
#define MIN_WINDOW_LOG  10
#define MAX_MAGIC_BYTES 4

enum phase {
    AT_MAGIC, /* before a member: its first bytes are gathered in .magic */
    IN_MEMBER,
    IN_GARBAGE,
    FAILED,
};

struct osc_inflate {
    const struct decoder *decoder;
    enum phase phase;
    bool is_flushed; /* no decoded bytes wait for output space */
    struct osc_inflate_info info;
    struct osc_err err; /* set in phase FAILED */
    unsigned char magic[MAX_MAGIC_BYTES];
    size_t n_magic;
#if OSC_WITH_GZIP
    struct {
        struct inflate_state state;
        struct inflate_state before;    /* of the last call, to undo it */
        uint32_t piece;                 /* the most input for one call */
        struct isal_gzip_header header; /* outlives a call, as a header may be split */
        bool is_header_done;
        int failure; /* reported after all bytes decoded before it */
    } gzip;
#endif
#if OSC_WITH_ZSTD
    struct {
        ZSTD_DCtx *ctx; /* owned */
        size_t wanted;  /* input up to the end of the next block header, from zstd */
        size_t n_taken; /* bytes counted for ctx, which uses malloc() */
        int window_log; /* the largest allowed */
    } zstd;
#endif
};

/* The result of step(), which advances IO like osc_inflate_run(). */
enum step {
    STEP_MORE,
    STEP_MEMBER_END,
    STEP_FAILED, /* .err is filled */
};

struct decoder {
    const char *name;
    enum osc_inflate_format format;
    size_t n_magic; /* bytes that show whether a member begins */
    osc_status (*open)(struct osc_inflate *z);
    void (*start)(struct osc_inflate *z); /* a new member */
    enum step (*step)(struct osc_inflate *z, struct osc_inflate_io *io);
    void (*close)(struct osc_inflate *z);
};

/* Fill .err for damage that is BACK bytes before the end of the consumed input. */
static enum step fail(struct osc_inflate *z, osc_status code, uint64_t back, const char *what)
{
    const uint64_t at = z->info.in_bytes - back;

    (void)osc_fail_at(&z->err, code, at, "%s member %u: %s at compressed byte %llu",
                      z->decoder->name, z->info.n_members + 1, what, (unsigned long long)at);
    return STEP_FAILED;
}

static void consume(struct osc_inflate *z, struct osc_inflate_io *io, size_t n)
{
    io->in += n;
    io->n_in -= n;
    z->info.in_bytes += n;
}

#if OSC_WITH_GZIP || OSC_WITH_ZSTD

static void produce(struct osc_inflate *z, struct osc_inflate_io *io, size_t n)
{
    io->out += n;
    io->n_out -= n;
    z->info.out_bytes += n;
}

#endif
#if OSC_WITH_GZIP

static osc_status open_gzip(struct osc_inflate *z)
{
    isal_inflate_init(&z->gzip.state);
    return OSC_OK;
}

static void start_gzip(struct osc_inflate *z)
{
    isal_inflate_reset(&z->gzip.state);
    z->gzip.state.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&z->gzip.header);
    z->gzip.is_header_done = false;
    z->gzip.piece = MAX_IN_PIECE;
}

static enum step fail_gzip(struct osc_inflate *z)
{
    /* The decoder looks ahead by up to eight bytes. */
    const int32_t ahead = z->gzip.state.read_in_length / 8;
    const uint64_t back = ahead > 0 ? (uint64_t)ahead : 0;

    switch (z->gzip.failure) {
    case ISAL_INVALID_BLOCK:
        return fail(z, OSC_EFORMAT, back, "a damaged block");
    case ISAL_INVALID_SYMBOL:
        return fail(z, OSC_EFORMAT, back, "a code that does not exist");
    case ISAL_INVALID_LOOKBACK:
        return fail(z, OSC_EFORMAT, back, "a reference to before the start");
    case ISAL_INCORRECT_CHECKSUM:
        return fail(z, OSC_EFORMAT, 0, "a checksum that does not match the data before it");
    case ISAL_UNSUPPORTED_METHOD:
        return fail(z, OSC_EFORMAT, 0, "an unknown method in the header");
    default:
        return fail(z, OSC_EFORMAT, 0, "a damaged header");
    }
}

/* Write the bytes that were in the decoder's buffer when it failed. */
static enum step drain_gzip(struct osc_inflate *z, struct osc_inflate_io *io)
{
    struct inflate_state *const s = &z->gzip.state;
    size_t n = 0;

    if (s->tmp_out_valid > s->tmp_out_processed)
        n = (size_t)(s->tmp_out_valid - s->tmp_out_processed);
    if (n > io->n_out)
        n = io->n_out;
    if (n > 0)
        memcpy(io->out, s->tmp_out_buffer + s->tmp_out_processed, n);
    s->tmp_out_processed += (int32_t)n;
    produce(z, io, n);
    return s->tmp_out_valid > s->tmp_out_processed ? STEP_MORE : fail_gzip(z);
}

struct amount {
    uint32_t n_read, n_written;
};

static int call_isal(struct osc_inflate *z, const struct osc_inflate_io *io,
                     struct amount *amount)
{
    struct inflate_state *const s = &z->gzip.state;
    const uint32_t n_in = (uint32_t)(io->n_in < z->gzip.piece ? io->n_in : z->gzip.piece);
    const uint32_t n_out = (uint32_t)(io->n_out < MAX_OUT_PIECE ? io->n_out : MAX_OUT_PIECE);

    memcpy(&s->next_in, &io->in, sizeof s->next_in); /* it only reads, but says uint8_t * */
    s->avail_in = n_in;
    s->next_out = io->out;
    s->avail_out = n_out;
    const int ret =
        z->gzip.is_header_done ? isal_inflate(s) : isal_read_gzip_header(s, &z->gzip.header);
    *amount = (struct amount){n_in - s->avail_in, n_out - s->avail_out};
    return ret;
}

/*
 * Copy only the parts of FROM that are in use. Its tables, 20 KiB, are made again by the header
 * of each block; its buffer, 64 KiB, is filled from the start. Copying all would take most of
 * the time for a file of tiny members.
 */
static void copy_state(struct inflate_state *to, const struct inflate_state *from)
{
    const size_t tables = offsetof(struct inflate_state, lit_huff_code);
    const size_t rest = offsetof(struct inflate_state, block_state);
    const size_t end =
        offsetof(struct inflate_state, tmp_out_buffer) + (size_t)from->tmp_out_valid;

    memcpy(to, from, tables);
    if (from->block_state != ISAL_BLOCK_NEW_HDR)
        memcpy((char *)to + tables, (const char *)from + tables, rest - tables);
    memcpy((char *)to + rest, (const char *)from + rest, end - rest);
}

static enum step step_gzip(struct osc_inflate *z, struct osc_inflate_io *io)
{
    struct amount amount;
    int ret;

    if (z->gzip.failure < 0)
        return drain_gzip(z, io);
    /*
     * The fast loop of ISA-L writes the output of a bad code before it detects that the code is
     * bad. So the call is undone and repeated in smaller pieces, at last byte by byte. ISA-L
     * enters the loop only with eight bytes of input.
     */
    const bool may_repeat = z->gzip.is_header_done && io->n_in > 4;
    if (may_repeat)
        copy_state(&z->gzip.before, &z->gzip.state);
    while ((ret = call_isal(z, io, &amount)) < 0 && may_repeat && z->gzip.piece > 1) {
        copy_state(&z->gzip.state, &z->gzip.before);
        z->gzip.piece /= 64;
    }
    consume(z, io, amount.n_read);
    produce(z, io, amount.n_written);
    if (ret < 0) {
        z->gzip.failure = ret;
        return drain_gzip(z, io);
    }
    if (!z->gzip.is_header_done) {
        z->gzip.is_header_done = ret == ISAL_DECOMP_OK;
        return STEP_MORE;
    }
    return z->gzip.state.block_state == ISAL_BLOCK_FINISH ? STEP_MEMBER_END : STEP_MORE;
}

static void close_gzip(struct osc_inflate *z)
{
    (void)z;
}

static const struct decoder gzip_decoder = {
    .name = "gzip",
    .format = OSC_INFLATE_GZIP,
    .n_magic = 3,
    .open = open_gzip,
    .start = start_gzip,
    .step = step_gzip,
    .close = close_gzip,
};

#endif
#if OSC_WITH_ZSTD

static osc_status open_zstd(struct osc_inflate *z)
{
    z->zstd.ctx = ZSTD_createDCtx();
    if (!z->zstd.ctx)
        return OSC_ENOMEM;
    return OSC_OK;
}

static void start_zstd(struct osc_inflate *z)
{
    const size_t room = osc_mem_room();
    int log = MAX_WINDOW_LOG;

    while (log > MIN_WINDOW_LOG && (size_t)1 << log > room)
        log--;
    z->zstd.window_log = log;
    (void)ZSTD_DCtx_reset(z->zstd.ctx, ZSTD_reset_session_only);
    (void)ZSTD_DCtx_setParameter(z->zstd.ctx, ZSTD_d_windowLogMax, log);
    z->zstd.wanted = MAX_MAGIC_BYTES;
}

static enum step fail_zstd(struct osc_inflate *z, size_t ret)
{
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(ret);

    if (code == ZSTD_error_memory_allocation)
        return fail(z, OSC_ENOMEM, 0, "out of memory");
    if (code == ZSTD_error_frameParameter_windowTooLarge)
        return fail(z, OSC_ELIMIT, 0,
                    z->zstd.window_log < MAX_WINDOW_LOG
                        ? "a window of more than the memory limit leaves"
                        : "a window of more than 128 MiB");
    if (code == ZSTD_error_checksum_wrong)
        return fail(z, OSC_EFORMAT, 0, "a checksum that does not match the data before it");
    if (code == ZSTD_error_dictionary_wrong)
        return fail(z, OSC_EFORMAT, 0, "a dictionary that is not there");
    return fail(z, OSC_EFORMAT, 0, "a damaged block");
}

/* Count the memory that zstd uses now. False: it exceeds the limit. */
static bool count_zstd(struct osc_inflate *z)
{
    const size_t n = ZSTD_sizeof_DCtx(z->zstd.ctx), before = z->zstd.n_taken;

    if (n > before && !osc_mem_take(n - before))
        return false;
    if (n < before)
        osc_mem_give(before - n);
    z->zstd.n_taken = n;
    return true;
}

static enum step step_zstd(struct osc_inflate *z, struct osc_inflate_io *io)
{
    /*
     * If zstd fails, it does not report the output of the same call. So each call gets one
     * block without the header of the next one, which zstd would read, too.
     */
    const size_t wanted = z->zstd.wanted > 3 ? z->zstd.wanted - 3 : 1;
    ZSTD_inBuffer in = {.src = io->in, .size = io->n_in < wanted ? io->n_in : wanted};
    ZSTD_outBuffer out = {.dst = io->out, .size = io->n_out};
    const size_t ret = ZSTD_decompressStream(z->zstd.ctx, &out, &in);

    consume(z, io, in.pos);
    produce(z, io, out.pos);
    if (ZSTD_isError(ret))
        return fail_zstd(z, ret);
    z->zstd.wanted = ret;
    if (!count_zstd(z))
        return fail(z, OSC_ENOMEM, 0, "out of memory");
    return ret == 0 ? STEP_MEMBER_END : STEP_MORE;
}

static void close_zstd(struct osc_inflate *z)
{
    (void)ZSTD_freeDCtx(z->zstd.ctx);
    osc_mem_give(z->zstd.n_taken);
}

static const struct decoder zstd_decoder = {
    .name = "zstd",
    .format = OSC_INFLATE_ZSTD,
    .n_magic = 4,
    .open = open_zstd,
    .start = start_zstd,
    .step = step_zstd,
    .close = close_zstd,
};

#endif

static const struct decoder *const decoders[] = {
#if OSC_WITH_GZIP
    &gzip_decoder,
#endif
#if OSC_WITH_ZSTD
    &zstd_decoder,
#endif
    NULL,
};

enum osc_inflate_format osc_inflate_probe(const void *head, size_t len)
{
    const unsigned char *const p = head;

    if (len >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8)
        return OSC_INFLATE_GZIP;
    if (len >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
        return OSC_INFLATE_ZSTD;
    /* Skippable frames have sixteen magic numbers (RFC 8878, section 3.1.2). */
    if (len >= 4 && p[0] >> 4 == 5 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
        return OSC_INFLATE_ZSTD;
    return OSC_INFLATE_NONE;
}

osc_status osc_inflate_new(struct osc_inflate **z, enum osc_inflate_format format,
                           struct osc_err *err)
{
    const struct decoder *const *d = decoders;

    *z = NULL;
    while (*d && (*d)->format != format)
        d++;
    if (!*d)
        return osc_fail(err, OSC_EINVAL,
                        "this opscope was built without %s; decompress it first",
                        format == OSC_INFLATE_GZIP ? "gzip" : "zstd");

    struct osc_inflate *const made = osc_calloc(1, sizeof *made);
    if (!made)
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    made->decoder = *d;
    made->is_flushed = true;
    if (made->decoder->open(made) != OSC_OK) {
        osc_free(made);
        return osc_fail(err, OSC_ENOMEM, "out of memory");
    }
    *z = made;
    return OSC_OK;
}

void osc_inflate_free(struct osc_inflate *z)
{
    if (!z)
        return;
    z->decoder->close(z);
    osc_free(z);
}

/* Begin the member whose magic number was read; the decoder reads that first. */
static enum step enter_member(struct osc_inflate *z, struct osc_inflate_io *io)
{
    struct osc_inflate_io magic = {
        .in = z->magic, .n_in = z->n_magic, .out = io->out, .n_out = io->n_out};
    enum step step = STEP_MORE;

    z->info.in_bytes -= z->n_magic; /* they are counted again */
    z->decoder->start(z);
    z->phase = IN_MEMBER;
    /* So few bytes give no output, so all of them are consumed. */
    while (step == STEP_MORE && magic.n_in > 0)
        step = z->decoder->step(z, &magic);
    z->n_magic = 0;
    return step;
}

/* End decoding: the input has ended, or no member begins here. .magic has the bytes read. */
static enum step leave_members(struct osc_inflate *z)
{
    if (z->info.n_members == 0) {
        const bool is_cut = z->n_magic < z->decoder->n_magic;

        return is_cut ? fail(z, OSC_ETRUNC, 0, "the end of the input")
                      : fail(z, OSC_EFORMAT, z->n_magic, "no header");
    }
    z->phase = IN_GARBAGE;
    z->info.garbage_bytes = z->n_magic;
    z->info.garbage_offset = z->info.in_bytes - z->n_magic;
    return STEP_MORE;
}

/* Skip padding and gather a magic number. */
static enum step read_magic(struct osc_inflate *z, struct osc_inflate_io *io)
{
    while (io->n_in > 0 && z->n_magic < z->decoder->n_magic) {
        const unsigned char c = *io->in;

        consume(z, io, 1);
        if (c == 0 && z->n_magic == 0 && z->info.n_members > 0)
            z->info.padding_bytes++;
        else
            z->magic[z->n_magic++] = c;
    }
    if (z->n_magic < z->decoder->n_magic) {
        const bool is_clean_end = z->n_magic == 0 && z->info.n_members > 0;

        return io->is_last && !is_clean_end ? leave_members(z) : STEP_MORE;
    }
    return osc_inflate_probe(z->magic, z->n_magic) == z->decoder->format ? enter_member(z, io)
                                                                         : leave_members(z);
}

static enum step read_member(struct osc_inflate *z, struct osc_inflate_io *io)
{
    const size_t n_in = io->n_in, n_out = io->n_out;

    if (n_out == 0 || (n_in == 0 && !io->is_last && z->is_flushed))
        return STEP_MORE;

    const enum step step = z->decoder->step(z, io);
    z->is_flushed = io->n_out > 0;
    /* No input left, no output made, and the member has not ended: the rest is missing. */
    if (step == STEP_MORE && io->n_in == 0 && io->is_last && n_in == 0 && io->n_out == n_out)
        return fail(z, OSC_ETRUNC, 0, "the end of the input");
    return step;
}

static enum step skip_garbage(struct osc_inflate *z, struct osc_inflate_io *io)
{
    z->info.garbage_bytes += io->n_in;
    consume(z, io, io->n_in);
    return STEP_MORE;
}

static enum step run_phase(struct osc_inflate *z, struct osc_inflate_io *io)
{
    switch (z->phase) {
    case AT_MAGIC:
        return read_magic(z, io);
    case IN_MEMBER:
        return read_member(z, io);
    case IN_GARBAGE:
        return skip_garbage(z, io);
    case FAILED:
        break;
    }
    return STEP_FAILED;
}

enum osc_inflate_state osc_inflate_run(struct osc_inflate *z, struct osc_inflate_io *io,
                                       struct osc_err *err)
{
    for (;;) {
        const enum step step = run_phase(z, io);

        if (step == STEP_FAILED) {
            z->phase = FAILED;
            if (err)
                *err = z->err;
            return OSC_INFLATE_ERROR;
        }
        if (step == STEP_MEMBER_END) {
            z->phase = AT_MAGIC;
            z->info.n_members++;
            return OSC_INFLATE_END_OF_MEMBER;
        }
        if (z->phase == IN_MEMBER) {
            if (io->n_out == 0 || (io->n_in == 0 && !io->is_last))
                return OSC_INFLATE_MORE;
        } else if (io->n_in == 0) {
            return io->is_last ? OSC_INFLATE_END : OSC_INFLATE_MORE;
        }
    }
}

const struct osc_inflate_info *osc_inflate_info(const struct osc_inflate *z)
{
    return &z->info;
}
