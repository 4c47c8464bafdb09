/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/fingerprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "import/build/filename.h"
#include "import/osc/live_dir.h"

/* Append the length and the digest of the LEN bytes at P to OUT. */
static void add_content(struct osc_strbuf *out, const void *p, size_t len)
{
    const struct osc_digest d = osc_digest_of(p, len);

    osc_strbuf_addf(out, " %zu %016" PRIx64 "%016" PRIx64, len, d.high, d.low);
}

/* Append the content of PATH if it is a live directory. */
static osc_status add_live(struct osc_strbuf *out, const char *path)
{
    struct osc_live_dir l = {0};
    const osc_status st = osc_live_dir_open(&l, path, NULL);

    if (st == OSC_ENOMEM)
        return st;
    if (st != OSC_OK || l.is_there || l.is_lost)
        osc_strbuf_addf(out, "live %d %d %d %d %" PRIu64, st, l.is_there, l.is_running,
                        l.is_cut, l.n_bad_blocks);
    if (l.is_there) {
        add_content(out, &l.header, sizeof l.header);
        add_content(out, l.threads, l.n_threads * sizeof *l.threads);
        add_content(out, l.blocks, l.n_blocks * sizeof *l.blocks);
        add_content(out, l.strings, l.strings_bytes);
        add_content(out, l.standing, l.standing_bytes);
    }
    osc_strbuf_addc(out, '\n');
    osc_live_dir_close(&l);
    return OSC_OK;
}

/* Append whether the recording at PATH, its part PART, continues in another part. */
static osc_status add_next(struct osc_strbuf *out, const char *path, uint32_t part)
{
    char *const next = osc_live_dir_next_part(path, part);
    struct stat info;

    if (!next)
        return OSC_ENOMEM;
    osc_strbuf_adds(out, stat(next, &info) == 0 ? "goes on\n" : "");
    osc_free(next);
    return OSC_OK;
}

/* Append the live directories that a recording at PATH may have left beside it. */
static osc_status add_left(struct osc_strbuf *out, const char *path)
{
    const struct osc_filename f = osc_filename_parse(path);
    const uint32_t part = f.number.len ? (uint32_t)strtoul(f.number.s, NULL, 10) : 1;
    const uint32_t parts[] = {1, part};
    const uint32_t n = !f.is_recording ? 0 : part == 1 ? 1 : 2;
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        char *const live = osc_live_dir_path(path, parts[i]);

        st = live ? add_live(out, live) : OSC_ENOMEM;
        osc_free(live);
    }
    return st == OSC_OK && n > 0 ? add_next(out, path, part) : st;
}

/* Append the present identity of the file at PATH. */
static osc_status add_file(struct osc_strbuf *out, const char *path)
{
    struct stat info;

    osc_strbuf_add(out, path, strlen(path) + 1);
    if (strcmp(path, "-") == 0) /* standard input cannot be read twice */
        return OSC_OK;
    if (stat(path, &info) != 0) {
        osc_strbuf_addf(out, "none %d\n", errno);
        return add_left(out, path);
    }
    if (S_ISDIR(info.st_mode))
        return add_live(out, path);
    if (!S_ISREG(info.st_mode)) /* neither can a pipe */
        return OSC_OK;
    osc_strbuf_addf(out, "%jd %jd.%09ld %ju\n", (intmax_t)info.st_size,
                    (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                    (uintmax_t)info.st_ino);
    return add_left(out, path);
}

osc_status osc_files_digest(struct osc_digest *d, const char *const *paths, uint32_t n)
{
    struct osc_strbuf all = {0};
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++)
        st = add_file(&all, paths[i]);
    if (st == OSC_OK)
        st = all.status;
    if (st == OSC_OK)
        *d = osc_digest_of(all.s, all.len);
    osc_strbuf_fini(&all);
    return st;
}

void osc_fingerprint_text(char *text, const struct osc_digest *d)
{
    snprintf(text, OSC_FINGERPRINT_BYTES, "%016" PRIx64 "%016" PRIx64, d->high, d->low);
}
