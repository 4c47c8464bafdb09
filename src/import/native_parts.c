/* SPDX-License-Identifier: Apache-2.0 */
#include "import/native_parts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "import/osc_file.h"

/* The header of the recording at PATH; part 0: it is none. Pipes are left alone. */
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
    /* Exported columns have no id. */
    if (!osc_file_header_is_good(&h) || h.version != OSC_FILE_VERSION ||
        (h.recording[0] == 0 && h.recording[1] == 0))
        h.part = 0;
    return h;
}

/* Whether the part at PATH says that the next one goes on, or at least nothing else. */
static osc_status look_at_end(const char *path, bool *goes_on)
{
    struct osc_file f = {0};
    struct osc_input in;
    unsigned char *payload = NULL;
    size_t cap = 0;
    osc_status st = osc_input_open(&in, path, NULL);

    if (st == OSC_OK)
        st = osc_file_open(&f, &in, OSC_INFLATE_NONE, NULL);
    *goes_on = st == OSC_OK;
    for (size_t i = 0; i < f.n_chunks && st == OSC_OK; i++) {
        struct osc_wire_end end;

        if (f.chunks[i].header.type != OSC_CHUNK_END)
            continue;
        st = osc_file_payload(&f, i, &payload, &cap);
        if (st != OSC_OK || f.chunks[i].header.payload_bytes < sizeof end)
            continue;
        memcpy(&end, payload, sizeof end);
        *goes_on = end.reason == OSC_END_CONTINUED;
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

/* Find what goes on from file I, whose header is one of the N at HEADERS. */
static osc_status link_one(struct osc_part_links *l, const char *const *paths,
                           const struct osc_file_header *headers, uint32_t n, uint32_t i)
{
    for (uint32_t k = 0; k < n; k++) {
        bool goes_on;

        if (l->before[k] > 0 || !is_next(&headers[i], &headers[k]))
            continue;
        const osc_status st = look_at_end(paths[i], &goes_on);
        if (goes_on) {
            l->after[i] = k + 1;
            l->before[k] = i + 1;
        }
        return st;
    }
    return OSC_OK;
}

osc_status osc_part_links_find(struct osc_part_links *l, const char *const *paths, uint32_t n)
{
    struct osc_file_header *headers = osc_calloc((size_t)n + 1, sizeof *headers);
    osc_status st = OSC_OK;

    l->after = osc_calloc((size_t)n + 1, sizeof *l->after);
    l->before = osc_calloc((size_t)n + 1, sizeof *l->before);
    if (!headers || !l->after || !l->before)
        st = OSC_ENOMEM;
    for (uint32_t i = 0; i < n && n > 1 && st == OSC_OK; i++)
        headers[i] = header_of(paths[i]);
    for (uint32_t i = 0; i < n && n > 1 && st == OSC_OK; i++)
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
