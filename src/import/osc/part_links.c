/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/part_links.h"

#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/idmap.h"
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

/* Get why the part at PATH ended: enum osc_wire_end_reason; 0: it was not ended, UINT32_MAX: it
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

/* Files by the recording and part that their headers name, or, for empty ones, by path: files
 * of one key are a list in their order. */
struct index {
    const char *const *paths;
    struct osc_file_header *headers; /* owned */
    uint32_t n;
    uint64_t seed;
    struct osc_idmap first; /* key -> index + 1 */
    uint32_t *next;         /* owned; index + 1 */
};

static uint64_t key_of_part(const uint64_t recording[2], uint32_t part)
{
    return osc_hash_u64(recording[0] ^ osc_hash_u64(recording[1] + part));
}

static uint64_t key_of_path(const struct index *x, const char *path)
{
    return osc_hash(path, strlen(path), x->seed);
}

static void finish_index(struct index *x)
{
    osc_idmap_fini(&x->first);
    osc_free(x->headers);
    osc_free(x->next);
}

/* Read the headers of the N files at PATHS. *HAS_LATER: a file may continue another. */
static osc_status read_headers(struct index *x, const char *const *paths, uint32_t n,
                               bool *has_later)
{
    *x = (struct index){.paths = paths, .n = n, .seed = osc_hash_seed()};
    *has_later = false;
    x->headers = osc_calloc((size_t)n + 1, sizeof *x->headers);
    x->next = osc_calloc((size_t)n + 1, sizeof *x->next);
    if (!x->headers || !x->next)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n && n > 1; i++) {
        x->headers[i] = header_of(paths[i]);
        *has_later = *has_later || x->headers[i].part != 1;
    }
    return OSC_OK;
}

/* From the last to the first, so that the lists are in the order of the paths. */
static osc_status fill_index(struct index *x)
{
    for (uint32_t i = x->n; i-- > 0;) {
        const struct osc_file_header *const h = &x->headers[i];
        uint32_t *const first =
            osc_idmap_put(&x->first, h->part > 0 ? key_of_part(h->recording, h->part)
                                                 : key_of_path(x, x->paths[i]));

        if (!first)
            return OSC_ENOMEM;
        x->next[i] = *first;
        *first = i + 1;
    }
    return OSC_OK;
}

/* The first file of the list KEY that continues no part yet: index + 1; 0: none. Those before
 * it leave the list. */
static uint32_t first_free(const struct osc_part_links *l, struct index *x, uint64_t key)
{
    uint32_t *const first =
        osc_idmap_get(&x->first, key) > 0 ? osc_idmap_put(&x->first, key) : NULL;

    while (first && *first > 0 && l->before[*first - 1] != 0)
        *first = x->next[*first - 1];
    return first ? *first : 0;
}

/* Find the part after file I among those that continue no part yet: index + 1; 0: none. A part
 * that has just begun is empty and known only by its name. */
static osc_status find_next(const struct osc_part_links *l, struct index *x, uint32_t i,
                            uint32_t *next)
{
    const struct osc_file_header *const h = &x->headers[i];
    uint32_t by_name = 0;

    *next = 0;
    if (h->part == 0)
        return OSC_OK;
    char *const name = osc_live_dir_next_part(x->paths[i], h->part);

    if (!name)
        return OSC_ENOMEM;
    uint32_t k = first_free(l, x, key_of_part(h->recording, h->part + 1));
    while (k > 0 && (l->before[k - 1] != 0 || !is_next(h, &x->headers[k - 1])))
        k = x->next[k - 1]; /* of another key with the same hash */
    *next = k;
    k = first_free(l, x, key_of_path(x, name));
    while (k > 0 && (l->before[k - 1] != 0 || x->headers[k - 1].part != 0 ||
                     strcmp(x->paths[k - 1], name) != 0))
        k = x->next[k - 1];
    if (k > 0 && is_empty(name))
        by_name = k;
    if (by_name > 0 && (*next == 0 || by_name < *next))
        *next = by_name;
    osc_free(name);
    return OSC_OK;
}

/* Find the file that continues file I. */
static osc_status link_one(struct osc_part_links *l, struct index *x, uint32_t i)
{
    uint32_t next, reason;
    osc_status st = find_next(l, x, i, &next);

    if (st != OSC_OK || next == 0)
        return st;
    st = get_end(x->paths[i], &reason);
    if (reason == 0 || reason == OSC_END_CONTINUED) {
        l->after[i] = next;
        l->before[next - 1] = i + 1;
    }
    return st;
}

osc_status osc_part_links_find(struct osc_part_links *l, const char *const *paths, uint32_t n)
{
    struct index x;
    bool has_later;
    osc_status st = read_headers(&x, paths, n, &has_later);

    l->after = osc_calloc((size_t)n + 1, sizeof *l->after);
    l->before = osc_calloc((size_t)n + 1, sizeof *l->before);
    if (!l->after || !l->before)
        st = OSC_ENOMEM;
    /* Among thousands of whole recordings nothing is looked for. */
    if (st == OSC_OK && has_later)
        st = fill_index(&x);
    for (uint32_t i = 0; i < n && has_later && st == OSC_OK; i++)
        st = link_one(l, &x, i);
    finish_index(&x);
    return st;
}

void osc_part_links_fini(struct osc_part_links *l)
{
    osc_free(l->after);
    osc_free(l->before);
    *l = (struct osc_part_links){0};
}

/* The last part of RECORDING among the files at PATHS that are called as the live directory
 * LIVE; NULL: there is none. */
static const char *find_last(const uint64_t recording[2], const char *live,
                             const char *const *paths, uint32_t n)
{
    const size_t len = strlen(live) - strlen(".osc.live");
    const char *last = NULL;
    uint32_t part = 0;

    for (uint32_t i = 0; i < n; i++) {
        const bool is_part = paths[i] && strncmp(paths[i], live, len) == 0;
        const struct osc_file_header h =
            is_part ? header_of(paths[i]) : (struct osc_file_header){0};

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
    const char *const last = is_left ? find_last(l.header.recording, live, paths, n) : NULL;

    is_left = last && get_end(last, &reason) == OSC_OK && reason >= OSC_END_WINDOW &&
              reason <= OSC_END_CRASHED;
    osc_live_dir_close(&l);
    return is_left;
}
