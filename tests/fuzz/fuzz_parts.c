/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of parts (ask/join.h) with changed bytes. The first byte says whether lengths and
 * hashes are corrected afterwards, as an attacker would do; then each three bytes are an offset
 * and a new value. The file must be merged or refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask/join.h"
#include "base/hash.h"
#include "opscope/trace.h"

#define FILE_MAX 16384

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%d},\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":5,"
    "\"dur\":9},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":8,\"dur\":2,"
    "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}]}";

/* The file before it is changed. */
static struct {
    char bytes[FILE_MAX];
    size_t n;
} whole;

static int keep(void *ctx, const char *s, size_t len)
{
    (void)ctx;
    if (len > FILE_MAX - whole.n)
        return -1;
    memcpy(whole.bytes + whole.n, s, len);
    whole.n += len;
    return 0;
}

/* Append the part of a trace of RANK to the file. */
static void add_part(int rank)
{
    char path[] = "/tmp/fuzz_parts_XXXXXX";
    const char *const paths[] = {path};
    const struct osc_question q = {.table = "operators"};
    const int fd = mkstemp(path);
    struct osc_set *set = NULL;

    if (fd < 0 || dprintf(fd, text, rank) < 0 || close(fd) != 0 ||
        osc_set_open(&set, paths, 1, NULL, NULL) != OSC_OK ||
        osc_ask_part(set, NULL, &q, keep, NULL, NULL) != OSC_OK)
        abort();
    osc_set_release(set);
    unlink(path);
}

static void put_u64(char *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)(v >> 8 * i);
}

static uint64_t get_u64(const char *from)
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v |= (uint64_t)(unsigned char)from[i] << 8 * i;
    return v;
}

/* Correct the hashes of everything in the N bytes at FILE that begins with MAGIC. */
static void correct(char *file, size_t n, const char *magic)
{
    for (size_t at = 0; at + OSC_PARTIAL_HEAD_BYTES <= n; at++) {
        char *const head = file + at;
        const size_t most = n - at - OSC_PARTIAL_HEAD_BYTES;

        if (memcmp(head, magic, 8) != 0)
            continue;
        uint64_t len = get_u64(head + 16);
        if (len > most) {
            len = most;
            put_u64(head + 16, len);
        }
        put_u64(head + 24,
                osc_hash(head + OSC_PARTIAL_HEAD_BYTES, (size_t)len, OSC_PARTIAL_SEED));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char file[FILE_MAX];
    struct osc_part part = {.bytes = file};
    struct osc_frame *f = NULL;

    if (size == 0)
        return 0;
    if (whole.n == 0) {
        add_part(0);
        add_part(1);
    }
    part.n_bytes = whole.n;
    memcpy(file, whole.bytes, whole.n);
    for (size_t i = 1; i + 2 < size; i += 3) {
        const size_t at = (size_t)data[i] << 8 | data[i + 1];

        if (at < whole.n)
            file[at] = (char)data[i + 2];
        else if (data[0] & 4)
            part.n_bytes = at % whole.n;
    }
    if (data[0] & 1)
        correct(file, part.n_bytes, "oscpart");
    if (data[0] & 2)
        correct(file, part.n_bytes, "oscparts");
    if (osc_merge(&part, 1, &f, NULL) == OSC_OK && osc_frame_rows(f) > FILE_MAX)
        abort();
    osc_frame_release(f);
    return 0;
}
