/* SPDX-License-Identifier: Apache-2.0 */
#include "import/peek.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "codec/inflate.h"
#include "import/build/filename.h"
#include "import/build/reader.h"

#define TEXT_BYTES ((size_t)64 << 10)

/* Inflate the N_IN bytes at IN to TEXT, of which *LEN gets the length. False: not possible. */
static bool inflate(enum osc_inflate_format format, const char *in, size_t n_in, char *text,
                    size_t *len)
{
    struct osc_inflate_io io = {.in = (const unsigned char *)in,
                                .n_in = n_in,
                                .out = (unsigned char *)text,
                                .n_out = TEXT_BYTES};
    struct osc_inflate *z = NULL;
    struct osc_err ignored;

    if (osc_inflate_new(&z, format, &ignored) != OSC_OK)
        return false;
    while (io.n_in > 0 && io.n_out > 0) {
        const enum osc_inflate_state state = osc_inflate_run(z, &io, &ignored);

        if (state == OSC_INFLATE_ERROR || state == OSC_INFLATE_END)
            break;
    }
    *len = TEXT_BYTES - io.n_out;
    osc_inflate_free(z);
    return *len > 0;
}

bool osc_import_begins_like_trace(const char *path)
{
    const struct osc_reader *const reader = osc_filename_parse(path).reader;

    if (!reader || !reader->begins)
        return true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *const raw = osc_malloc(2 * TEXT_BYTES), *const text = raw ? raw + TEXT_BYTES : NULL;
    const ssize_t n = fd >= 0 && raw ? pread(fd, raw, TEXT_BYTES, 0) : -1;
    bool is_trace = true;

    if (n >= 0) {
        const enum osc_inflate_format format = osc_inflate_probe(raw, (size_t)n);
        size_t len = 0;

        if (format == OSC_INFLATE_NONE)
            is_trace = reader->begins(raw, (size_t)n);
        else if (inflate(format, raw, (size_t)n, text, &len))
            is_trace = reader->begins(text, len);
    }
    osc_free(raw);
    if (fd >= 0)
        close(fd);
    return is_trace;
}
