/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/folders/folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/note.h"
#include "base/sort.h"
#include "import/build/filename.h"
#include "import/osc/open_input.h"
#include "import/osc/part_links.h"
#include "import/peek.h"

void osc_path_list_fini(struct osc_path_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        osc_free(l->all[i]);
    osc_free(l->all);
    *l = (struct osc_path_list){0};
}

osc_status osc_path_list_add(struct osc_path_list *l, const char *folder, const char *name)
{
    struct osc_strbuf path = {0};

    if (osc_grow(&l->all, &l->cap, (size_t)l->n + 1, sizeof *l->all) != OSC_OK)
        return OSC_ENOMEM;
    if (folder) {
        osc_strbuf_adds(&path, folder);
        if (path.len > 0 && path.s[path.len - 1] != '/')
            osc_strbuf_addc(&path, '/');
    }
    osc_strbuf_adds(&path, name);
    if (path.status != OSC_OK) {
        osc_strbuf_fini(&path);
        return OSC_ENOMEM;
    }
    l->all[l->n++] = path.s;
    return OSC_OK;
}

bool osc_folder_is_live(const char *path)
{
    const struct osc_str end = OSC_STR(".osc.live");
    const struct osc_str s = osc_str_c(path);

    return s.len > end.len && osc_str_ends(s, end);
}

/* --- copies -------------------------------------------------------------------- */

/* Compare names in one directory: by worker, then by number. */
static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const struct osc_filename fx = osc_filename_parse(x), fy = osc_filename_parse(y);
    int order = osc_str_cmp(fx.worker, fy.worker);

    if (order == 0)
        order = osc_filename_compare_numbers(fx.number, fy.number);
    return order != 0 ? order : strcmp(x, y);
}

static struct osc_str stem(const char *name)
{
    return osc_filename_parse(name).stem;
}

/* The index of the first of N files that has the stem of NAME; N: none. KNOWN has their indices
 * + 1 by the hash of the stem, which two stems have in common once in 2^64. */
static uint32_t find_copy(const struct osc_path_list *p, uint32_t n, const char *name,
                          const uint32_t *known)
{
    uint32_t i = 0;

    if (*known == 0)
        return n;
    if (osc_str_eq(stem(p->all[*known - 1]), stem(name)))
        return *known - 1;
    while (i < n && !osc_str_eq(stem(p->all[i]), stem(name)))
        i++;
    return i;
}

/* "a.json" and "a.json.gz" or "a.osc" are copies of one trace. Keep the first in order. */
static osc_status drop_copies(struct osc_path_list *p, struct osc_left_out *left,
                              struct osc_strbuf *notes)
{
    const uint64_t seed = osc_hash_seed();
    struct osc_idmap of_stem = {0};
    osc_status st = OSC_OK;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct osc_str s = stem(p->all[i]);
        uint32_t *const known =
            st == OSC_OK ? osc_idmap_put(&of_stem, osc_hash(s.s, s.len, seed)) : NULL;
        const uint32_t k = known ? find_copy(p, n, p->all[i], known) : n;

        if (!known)
            st = OSC_ENOMEM;
        if (k < n) {
            if (left->by_why[OSC_LEFT_COPY] < OSC_LEFT_NAMES)
                osc_note(notes, "%s: skipped, it is the same trace as %s", p->all[i],
                         p->all[k]);
            osc_left_out_add(left, OSC_LEFT_COPY, p->all[i], p->all[k]);
            osc_free(p->all[i]);
            continue;
        }
        if (known)
            *known = n + 1;
        p->all[n++] = p->all[i];
    }
    p->n = n;
    osc_idmap_fini(&of_stem);
    return st;
}

/* --- live directories ----------------------------------------------------------- */

/* The names of recordings in a directory: of NAME.2.osc both NAME and NAME.2, which may itself
 * be the name of a recording. */
struct recordings {
    struct osc_idmap of_name; /* by the hash of the path without suffix */
    uint64_t seed;
};

static uint64_t hash_name(const struct recordings *r, const char *path, size_t len)
{
    return osc_hash(path, len, r->seed);
}

static osc_status add_name(struct recordings *r, const char *path, size_t len)
{
    uint32_t *const is_known = osc_idmap_put(&r->of_name, hash_name(r, path, len));

    if (is_known)
        *is_known = 1;
    return is_known ? OSC_OK : OSC_ENOMEM;
}

static osc_status add_recordings(struct recordings *r, const struct osc_path_list *p)
{
    osc_status st = OSC_OK;

    r->seed = osc_hash_seed();
    for (uint32_t i = 0; i < p->n && st == OSC_OK; i++) {
        const struct osc_filename f = osc_filename_parse(p->all[i]);
        const struct osc_str path = osc_str_c(p->all[i]);

        if (osc_str_ends(path, OSC_STR(".osc")))
            st = add_name(r, path.s, path.len - strlen(".osc"));
        if (f.is_recording && st == OSC_OK)
            st = add_name(r, path.s, (size_t)(f.worker.s - path.s) + f.worker.len);
    }
    return st;
}

/* Whether the live directory PATH is read with a part of its recording. */
static bool has_part(const struct recordings *r, const char *path)
{
    return osc_idmap_get(&r->of_name, hash_name(r, path, strlen(path) - strlen(".osc.live"))) !=
           0;
}

/* Drop live directories that are read together with a file of their recording, and those that
 * are still empty: the failure to open them would fail the whole run. One whose records are
 * later than the files of its recording moves to the end. */
static osc_status drop_live(struct osc_path_list *p, struct osc_left_out *left,
                            struct osc_strbuf *notes)
{
    struct recordings r = {.seed = 0};
    char **const late = osc_calloc((size_t)p->n + 1, sizeof *late);
    const uint32_t n_all = p->n;
    uint32_t n = 0, n_late = 0;
    osc_status st = late ? add_recordings(&r, p) : OSC_ENOMEM;

    for (uint32_t i = 0; i < n_all && st == OSC_OK; i++) {
        char *const path = p->all[i];
        const bool is_live = osc_folder_is_live(path), is_part = is_live && has_part(&r, path);

        p->all[i] = NULL;
        if (is_part && osc_part_is_left(path, (const char *const *)p->all, n_all)) {
            late[n_late++] = path;
        } else if (is_part) {
            osc_free(path);
        } else if (is_live && osc_live_is_blank(path)) {
            if (left->by_why[OSC_LEFT_BLANK] < OSC_LEFT_NAMES)
                osc_note(notes, "%s: skipped, nothing was recorded into it", path);
            osc_left_out_add(left, OSC_LEFT_BLANK, path, NULL);
            osc_free(path);
        } else {
            p->all[n++] = path;
        }
    }
    if (st == OSC_OK) {
        for (uint32_t i = 0; i < n_late; i++)
            p->all[n++] = late[i];
        p->n = n;
    }
    osc_free(late);
    osc_idmap_fini(&r.of_name);
    return st;
}

/* --- reading --------------------------------------------------------------------- */

/* A directory that is being read. */
struct reading {
    struct osc_folder *folder;
    const char *path;
    DIR *dir;
    struct osc_path_list plain; /* traces that are not called as in a log directory */
    struct osc_left_out *left;
};

static void leave_out(struct reading *r, enum osc_left_why why, const char *name)
{
    struct osc_path_list one = {0};

    if (osc_path_list_add(&one, r->path, name) == OSC_OK)
        osc_left_out_add(r->left, why, one.all[0], NULL);
    else
        r->left->status = OSC_ENOMEM;
    osc_path_list_fini(&one);
}

/* Add the file NAME. INFO describes it; NULL: it cannot be found, and reading it says why. */
static osc_status add_file(struct reading *r, const char *name, const struct stat *info)
{
    const struct osc_filename f = osc_filename_parse(name);

    if (!f.reader || (name[0] == '.' && !f.is_logdir)) {
        leave_out(r, OSC_LEFT_NAME, name);
        return OSC_OK;
    }
    r->folder->is_run = true;
    r->folder->is_logdir = r->folder->is_logdir || f.is_logdir;
    /* Its writer has just begun, or failed. An empty recording is a part whose records are
     * still in the live directory. */
    if (info && info->st_size == 0 && !f.is_recording) {
        leave_out(r, OSC_LEFT_EMPTY, name);
        return OSC_OK;
    }
    return osc_path_list_add(f.is_logdir ? &r->folder->files : &r->plain, r->path, name);
}

/* Add the entry NAME; links are followed. */
static osc_status add_entry(struct reading *r, const char *name)
{
    struct stat info;
    const bool is_found = fstatat(dirfd(r->dir), name, &info, 0) == 0;

    if (!is_found || S_ISREG(info.st_mode))
        return add_file(r, name, is_found ? &info : NULL);
    if (!S_ISDIR(info.st_mode))
        leave_out(r, OSC_LEFT_KIND, name);
    else if (osc_folder_is_live(name) && name[0] != '.')
        return osc_path_list_add(&r->plain, r->path, name);
    else
        return osc_path_list_add(&r->folder->below, r->path, name);
    return OSC_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Make the plain traces those of the directory, or leave them out where others count. */
static void choose_plain(struct reading *r)
{
    struct osc_folder *const f = r->folder;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->plain.n; i++) {
        char *const path = r->plain.all[i];
        const bool is_json =
            !osc_filename_parse(path).is_recording && !osc_folder_is_live(path);

        if (f->is_logdir)
            osc_left_out_add(r->left, OSC_LEFT_BESIDE, path, NULL);
        else if (is_json && !osc_import_begins_like_trace(path))
            osc_left_out_add(r->left, OSC_LEFT_CONTENT, path, NULL);
        else {
            r->plain.all[n++] = path;
            continue;
        }
        osc_free(path);
    }
    r->plain.n = n;
    if (f->is_logdir)
        return;
    f->files = r->plain;
    f->is_run = n > 0;
    r->plain = (struct osc_path_list){0};
}

/* Add all entries of R, sorted, so that the choice among several links to a directory, and the
 * names of what is left out, are always the same. */
static osc_status add_entries(struct reading *r)
{
    struct osc_path_list names = {0};
    osc_status st = OSC_OK;

    for (const struct dirent *e; st == OSC_OK && (e = readdir(r->dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            st = osc_path_list_add(&names, NULL, e->d_name);
    osc_sort(names.all, names.n, sizeof *names.all, compare_paths);
    for (uint32_t i = 0; i < names.n && st == OSC_OK; i++)
        st = add_entry(r, names.all[i]);
    osc_path_list_fini(&names);
    return st;
}

osc_status osc_folder_read(struct osc_folder *f, const char *path, struct osc_left_out *left,
                           struct osc_strbuf *notes, struct osc_err *err)
{
    struct reading r = {.folder = f, .path = path, .dir = opendir(path), .left = left};
    osc_status st = OSC_OK;

    if (!r.dir)
        return osc_fail(err, OSC_EIO, "%s: %s", path, strerror(errno));
    st = add_entries(&r);
    closedir(r.dir);
    if (st == OSC_OK) {
        osc_sort(r.plain.all, r.plain.n, sizeof *r.plain.all, compare_names);
        choose_plain(&r);
        osc_sort(f->files.all, f->files.n, sizeof *f->files.all, compare_names);
        st = drop_copies(&f->files, left, notes);
    }
    if (st == OSC_OK)
        st = drop_live(&f->files, left, notes);
    osc_path_list_fini(&r.plain);
    if (st == OSC_OK)
        st = left->status;
    return st == OSC_OK ? st : osc_fail(err, st, "%s", osc_status_text(st));
}

void osc_folder_fini(struct osc_folder *f)
{
    osc_path_list_fini(&f->files);
    osc_path_list_fini(&f->below);
    *f = (struct osc_folder){0};
}
