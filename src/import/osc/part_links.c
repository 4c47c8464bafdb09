/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/part_links.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "import/osc/live_dir.h"
#include "import/osc/open_input.h"
#include "import/osc/osc_file.h"

/* The header of the recording at PATH; part 0: it is not a recording. Pipes are not read. */
static struct osc_file_header header_of(const char *path)
{
    struct osc_file_header h = {0};
    struct osc_input in;
    struct stat info;

    if (strcmp(path, "-") == 0 || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return h;
    if (osc_input_open(&in, path, NULL) == OSC_OK && in.n_probe >= sizeof h)
        memcpy(&h, in.probe, sizeof h);
    osc_input_close(&in);
    /* Files of exported columns have no id. */
    if (!osc_file_header_is_good(&h) || h.version != OSC_FILE_VERSION ||
        (h.recording[0] == 0 && h.recording[1] == 0))
        h.part = 0;
    return h;
}

/* Get why the part at PATH ended: enum osc_end_reason; 0: it was not ended, UINT32_MAX: it
 * cannot be read. */
static osc_status get_end(const char *path, uint32_t *reason)
{
    struct osc_file f = {0};
    struct osc_input in;
    unsigned char *payload = NULL;
    size_t cap = 0;
    osc_status st = osc_input_open(&in, path, NULL);

    if (st == OSC_OK)
        st = osc_file_open(&f, &in, OSC_INFLATE_NONE, NULL);
    *reason = st == OSC_OK ? 0 : UINT32_MAX;
    for (size_t i = 0; i < f.n_chunks && st == OSC_OK; i++) {
        struct osc_wire_end end;

        if (f.chunks[i].header.type != OSC_CHUNK_END)
            continue;
        st = osc_file_payload(&f, i, &payload, &cap);
        if (st != OSC_OK || f.chunks[i].header.payload_bytes < sizeof end)
            continue;
        memcpy(&end, payload, sizeof end);
        *reason = end.reason;
    }
    osc_free(payload);
    osc_file_close(&f);
    osc_input_close(&in);
    return st == OSC_ENOMEM ? st : OSC_OK;
}

static bool is_next(const struct osc_file_header *a, const struct osc_file_header *b)
{
    return a->part > 0 && b->part == a->part + 1 &&
           memcmp(a->recording, b->recording, sizeof a->recording) == 0;
}

static bool is_empty(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Find the part after file I among those of the N files at PATHS that continue no part yet:
 * index + 1; 0: none. A part that has just begun is empty and known only by its name. */
static osc_status find_next(const struct osc_part_links *l, const char *const *paths,
                            const struct osc_file_header *headers, uint32_t n, uint32_t i,
                            uint32_t *next)
{
    *next = 0;
    if (headers[i].part == 0)
        return OSC_OK;
    char *const name = osc_live_dir_next_part(paths[i], headers[i].part);

    if (!name)
        return OSC_ENOMEM;
    for (uint32_t k = 0; k < n && *next == 0; k++)
        if (l->before[k] == 0 &&
            (is_next(&headers[i], &headers[k]) ||
             (headers[k].part == 0 && strcmp(paths[k], name) == 0 && is_empty(name))))
            *next = k + 1;
    osc_free(name);
    return OSC_OK;
}

/* Find the file that continues file I; HEADERS has the headers of all N. */
static osc_status link_one(struct osc_part_links *l, const char *const *paths,
                           const struct osc_file_header *headers, uint32_t n, uint32_t i)
{
    uint32_t next, reason;
    osc_status st = find_next(l, paths, headers, n, i, &next);

    if (st != OSC_OK || next == 0)
        return st;
    st = get_end(paths[i], &reason);
    if (reason == 0 || reason == OSC_END_CONTINUED) {
        l->after[i] = next;
        l->before[next - 1] = i + 1;
    }
    return st;
}

osc_status osc_part_links_find(struct osc_part_links *l, const char *const *paths, uint32_t n)
{
    struct osc_file_header *headers = osc_calloc((size_t)n + 1, sizeof *headers);
    osc_status st = OSC_OK;
    bool has_later = false; /* a file that may continue another */

    l->after = osc_calloc((size_t)n + 1, sizeof *l->after);
    l->before = osc_calloc((size_t)n + 1, sizeof *l->before);
    if (!headers || !l->after || !l->before)
        st = OSC_ENOMEM;
    for (uint32_t i = 0; i < n && n > 1 && st == OSC_OK; i++) {
        headers[i] = header_of(paths[i]);
        has_later = has_later || headers[i].part != 1;
    }
    /* Among thousands of whole recordings nothing is looked for. */
    for (uint32_t i = 0; i < n && has_later && st == OSC_OK; i++)
        st = link_one(l, paths, headers, n, i);
    osc_free(headers);
    return st;
}

void osc_part_links_fini(struct osc_part_links *l)
{
    osc_free(l->after);
    osc_free(l->before);
    *l = (struct osc_part_links){0};
}

/* The last part of RECORDING among the files at PATHS, or NULL. */
static const char *find_last(const uint64_t recording[2], const char *const *paths, uint32_t n)
{
    const char *last = NULL;
    uint32_t part = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct osc_file_header h =
            paths[i] ? header_of(paths[i]) : (struct osc_file_header){0};

        if (h.part > part && memcmp(h.recording, recording, sizeof h.recording) == 0) {
            part = h.part;
            last = paths[i];
        }
    }
    return last;
}

static bool is_any_left(const struct osc_live_dir *l)
{
    bool is_any = false;

    for (size_t i = 0; i < l->n_blocks && !is_any; i++)
        is_any = osc_live_dir_first(l, &l->blocks[i], 0) < osc_live_dir_end(&l->blocks[i]);
    return is_any;
}

bool osc_part_is_left(const char *live, const char *const *paths, uint32_t n)
{
    struct osc_live_dir l;
    uint32_t reason = 0;
    bool is_left = osc_live_dir_open(&l, live, NULL) == OSC_OK && is_any_left(&l);
    const char *const last = is_left ? find_last(l.header.recording, paths, n) : NULL;

    is_left = last && get_end(last, &reason) == OSC_OK && reason >= OSC_END_WINDOW &&
              reason <= OSC_END_CRASHED;
    osc_live_dir_close(&l);
    return is_left;
}
