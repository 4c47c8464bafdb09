/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ask/note.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "import/bytes/filename.h"
#include "import/osc/open_input.h"
#include "import/osc/part_links.h"

/* So that a user who names the root of a file system does not wait for a search of it all. */
#define FOLDERS_MAX 10000u
#define RUNS_NAMED  4u /* in a message */

/* A search: its results and its messages. */
struct finding {
    struct osc_paths *paths;
    struct osc_strbuf *notes;
    struct osc_err *err;
};

/* "FOLDER/NAME", or NAME if FOLDER is NULL; the caller frees it. NULL: out of memory. */
static char *join(const char *folder, const char *name)
{
    struct osc_strbuf path = {0};

    if (folder) {
        osc_strbuf_adds(&path, folder);
        if (path.len > 0 && path.s[path.len - 1] != '/')
            osc_strbuf_addc(&path, '/');
    }
    osc_strbuf_adds(&path, name);
    if (path.status == OSC_OK)
        return path.s;
    osc_strbuf_fini(&path);
    return NULL;
}

static osc_status add_path(struct osc_paths *p, const char *folder, const char *name,
                           bool is_named)
{
    const size_t n = (size_t)p->n + 1;

    if (osc_grow(&p->all, &p->cap_all, n, sizeof *p->all) != OSC_OK ||
        osc_grow(&p->is_named, &p->cap_named, n, sizeof *p->is_named) != OSC_OK)
        return OSC_ENOMEM;
    p->all[p->n] = join(folder, name);
    if (!p->all[p->n])
        return OSC_ENOMEM;
    p->is_named[p->n++] = is_named;
    return OSC_OK;
}

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

/* The length of NAME, of which N bytes are considered, without SUFFIX. */
static size_t cut_suffix(const char *name, size_t n, const char *suffix)
{
    const size_t len = strlen(suffix);

    return n > len && memcmp(name + n - len, suffix, len) == 0 ? n - len : n;
}

/* The length of NAME without the suffixes for compression and format. */
static size_t stem_length(const char *name)
{
    const size_t n = cut_suffix(name, cut_suffix(name, strlen(name), ".gz"), ".zst");

    return cut_suffix(name, cut_suffix(name, n, ".json"), ".osc");
}

static struct osc_str stem(const char *name)
{
    return (struct osc_str){name, (uint32_t)stem_length(name)};
}

/* The index of the file among N from FIRST on that has the stem of NAME; N: none. KNOWN has
 * their indices + 1 by the HASH of the stem, which two stems have in common once in 2^64. */
static uint32_t find_copy(const struct osc_paths *p, uint32_t first, uint32_t n,
                          const char *name, const uint32_t *known)
{
    if (*known == 0)
        return n;
    if (osc_str_eq(stem(p->all[*known - 1]), stem(name)))
        return *known - 1;
    while (first < n && !osc_str_eq(stem(p->all[first]), stem(name)))
        first++;
    return first;
}

/* "a.json" and "a.json.gz" or "a.osc" are copies of one trace. Keep the first in order. */
static osc_status drop_copies(struct osc_paths *p, uint32_t first, struct osc_strbuf *notes)
{
    const uint64_t seed = osc_hash_seed();
    struct osc_idmap of_stem = {0};
    osc_status st = OSC_OK;
    uint32_t n = first;

    for (uint32_t i = first; i < p->n; i++) {
        const struct osc_str s = stem(p->all[i]);
        uint32_t *const known =
            st == OSC_OK ? osc_idmap_put(&of_stem, osc_hash(s.s, s.len, seed)) : NULL;
        const uint32_t k = known ? find_copy(p, first, n, p->all[i], known) : n;

        if (!known)
            st = OSC_ENOMEM;
        if (k < n) {
            osc_note(notes, "%s: skipped, it is the same trace as %s", p->all[i], p->all[k]);
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

enum entry { ENTRY_FILE, ENTRY_FOLDER, ENTRY_OTHER };

/* The type of entry E of DIR; links are followed. */
static enum entry kind_of(DIR *dir, const struct dirent *e)
{
    struct stat st;

    if (e->d_type == DT_REG)
        return ENTRY_FILE;
    if (e->d_type == DT_DIR)
        return ENTRY_FOLDER;
    if (fstatat(dirfd(dir), e->d_name, &st, 0) != 0 || S_ISREG(st.st_mode))
        return ENTRY_FILE; /* reading it will report what is wrong with it */
    return S_ISDIR(st.st_mode) ? ENTRY_FOLDER : ENTRY_OTHER;
}

/* Whether NAME is the name of a live directory: NAME.osc.live. */
static bool is_live(const char *name)
{
    const struct osc_str end = OSC_STR(".osc.live");
    const struct osc_str s = osc_str_c(name);

    return s.len > end.len && osc_str_ends(s, end);
}

/* Whether P has, from FIRST on, a file of the recording whose live directory is PATH: NAME.osc
 * or a part, NAME.2.osc. NAME itself may end in a number. NULL entries are skipped. */
static bool has_file_of(const struct osc_paths *p, uint32_t first, const char *path)
{
    const size_t stem = strlen(path) - strlen(".osc.live");
    const size_t whole = strlen(path) - strlen(".live");

    for (uint32_t i = first; i < p->n; i++) {
        if (!p->all[i])
            continue;
        if (strlen(p->all[i]) == whole && memcmp(p->all[i], path, whole) == 0)
            return true;
        const struct osc_filename f = osc_filename_parse(p->all[i]);
        const char *const slash = strrchr(path, '/');
        const size_t len = stem - (slash ? (size_t)(slash + 1 - path) : 0);

        if (f.is_recording && f.worker.len == len &&
            memcmp(f.worker.s, path + stem - len, len) == 0)
            return true;
    }
    return false;
}

/* Move entry I to the end: what it holds is later than the files of its recording. */
static void move_back(struct osc_paths *p, uint32_t i)
{
    char *const path = p->all[i];

    memmove(p->all + i, p->all + i + 1, (p->n - i - 1) * sizeof *p->all);
    p->all[p->n - 1] = path;
}

/* Drop live directories from FIRST on that are read together with a file of their recording,
 * and those that are still empty: the failure to open them would fail the whole run. */
static void drop_live(struct osc_paths *p, uint32_t first, struct osc_strbuf *notes)
{
    uint32_t n = first, n_ahead = p->n;

    for (uint32_t i = first; i < n_ahead;) {
        char *const path = p->all[i];

        if (!is_live(path)) {
            i++;
        } else if (!has_file_of(p, first, path)) {
            if (osc_live_is_blank(path)) {
                osc_note(notes, "%s: skipped, nothing was recorded into it", path);
                p->all[i] = NULL;
                osc_free(path);
            }
            i++;
        } else if (osc_part_is_left(path, (const char *const *)p->all + first, p->n - first)) {
            move_back(p, i);
            n_ahead--;
        } else {
            p->all[i++] = NULL;
            osc_free(path);
        }
    }
    for (uint32_t i = first; i < p->n; i++)
        if (p->all[i])
            p->all[n++] = p->all[i];
    p->n = n;
}

/* Add the traces in directory PATH: those named as in a log directory, or all files that end as
 * traces do. */
static osc_status add_files(const struct finding *f, const char *path, bool is_logdir)
{
    struct osc_paths *const p = f->paths;
    const uint32_t first = p->n;
    osc_status st = OSC_OK;
    DIR *const dir = opendir(path);

    if (!dir)
        return osc_fail(f->err, OSC_EIO, "%s: %s", path, strerror(errno));
    for (const struct dirent *e; st == OSC_OK && (e = readdir(dir));) {
        const struct osc_filename name = osc_filename_parse(e->d_name);
        const bool live = !is_logdir && is_live(e->d_name);

        if (is_logdir ? !name.is_logdir : (!name.is_trace && !live) || e->d_name[0] == '.')
            continue;
        if (kind_of(dir, e) == (live ? ENTRY_FOLDER : ENTRY_FILE))
            st = add_path(p, path, e->d_name, false);
    }
    closedir(dir);
    if (st == OSC_OK && p->n > first) {
        osc_sort(p->all + first, p->n - first, sizeof *p->all, compare_names);
        st = drop_copies(p, first, f->notes);
        drop_live(p, first, f->notes);
        if (st != OSC_OK)
            return osc_fail(f->err, st, "%s", osc_status_text(st));
    }
    return st;
}

struct folder {
    char *path; /* owned */
    dev_t device;
    ino_t node;
    bool is_run;
};

/* A search through the directories below one, breadth first, each once. */
struct walk {
    struct folder *folders; /* owned; the first is the start */
    size_t cap;
    uint32_t n, n_runs;
};

static void finish_walk(struct walk *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        osc_free(w->folders[i].path);
    osc_free(w->folders);
}

/* Add PATH to the directories to search, unless it is there already. */
static osc_status add_folder(struct walk *w, const char *path)
{
    struct stat st;
    bool is_new = stat(path, &st) == 0;

    for (uint32_t i = 0; i < w->n && is_new; i++)
        is_new = w->folders[i].node != st.st_ino || w->folders[i].device != st.st_dev;
    if (!is_new)
        return OSC_OK;
    if (osc_grow(&w->folders, &w->cap, (size_t)w->n + 1, sizeof *w->folders) != OSC_OK)
        return OSC_ENOMEM;
    w->folders[w->n] = (struct folder){join(NULL, path), st.st_dev, st.st_ino, false};
    if (!w->folders[w->n].path)
        return OSC_ENOMEM;
    w->n++;
    return OSC_OK;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Find out whether folder I is a run, and add the directories in it to the search. */
static osc_status look_into(struct walk *w, uint32_t i, struct osc_strbuf *notes)
{
    const char *const path = w->folders[i].path;
    struct osc_paths below = {0};
    osc_status st = OSC_OK;
    DIR *const dir = opendir(path);

    if (!dir) {
        osc_note(notes, "%s: skipped: %s", path, strerror(errno));
        return OSC_OK;
    }
    for (const struct dirent *e; st == OSC_OK && (e = readdir(dir));) {
        const enum entry kind = kind_of(dir, e);

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (kind == ENTRY_FOLDER)
            st = add_path(&below, path, e->d_name, false);
        else if (kind == ENTRY_FILE && osc_filename_parse(e->d_name).is_logdir)
            w->folders[i].is_run = true;
    }
    closedir(dir);
    w->n_runs += w->folders[i].is_run;
    /* Sorted, so that among several links to a directory the choice is always the same. */
    if (below.n > 0)
        osc_sort(below.all, below.n, sizeof *below.all, compare_paths);
    for (uint32_t k = 0; k < below.n && st == OSC_OK; k++)
        st = add_folder(w, below.all[k]);
    osc_paths_fini(&below);
    return st;
}

static int compare_folders(const void *a, const void *b)
{
    const struct folder *x = a, *y = b;

    return strcmp(x->path, y->path);
}

/* Fail with a message that names the runs below PATH. */
static osc_status refuse_runs(struct walk *w, const char *path, struct osc_err *err)
{
    struct osc_strbuf names = {0};
    osc_status st = OSC_EINVAL;
    uint32_t n = 0;

    osc_sort(w->folders, w->n, sizeof *w->folders, compare_folders);
    for (uint32_t i = 0; i < w->n && n < RUNS_NAMED; i++) {
        if (w->folders[i].is_run)
            osc_strbuf_addf(&names, "%s%s", n++ > 0 ? ", " : "", w->folders[i].path);
    }
    if (w->n_runs > n)
        osc_strbuf_addf(&names, " and %u more", w->n_runs - n);
    if (names.status == OSC_OK)
        (void)osc_fail(err, st,
                       "%s: there are %u runs below it, %s; name one of them, or several to "
                       "read them as one",
                       path, w->n_runs, names.s);
    else
        st = names.status;
    osc_strbuf_fini(&names);
    return st;
}

/* Add the files of the one run below directory PATH, which has no traces itself. */
static osc_status add_run_below(const struct finding *f, const char *path)
{
    struct walk w = {0};
    osc_status st = add_folder(&w, path);

    for (uint32_t i = 0; i < w.n && st == OSC_OK; i++) {
        if (w.n > FOLDERS_MAX)
            break;
        st = look_into(&w, i, f->notes);
    }
    if (st == OSC_OK && w.n > FOLDERS_MAX)
        st = osc_fail(f->err, OSC_EIO,
                      "%s: it contains no traces and more than %u directories; name one that "
                      "contains some",
                      path, FOLDERS_MAX);
    else if (st == OSC_OK && w.n_runs > 1)
        st = refuse_runs(&w, path, f->err);
    for (uint32_t i = 0; i < w.n && st == OSC_OK; i++) {
        if (w.folders[i].is_run)
            st = add_files(f, w.folders[i].path, true);
    }
    finish_walk(&w);
    return st;
}

static osc_status add_directory(const struct finding *f, const char *path)
{
    const uint32_t first = f->paths->n;
    osc_status st = add_files(f, path, true);

    if (st == OSC_OK && f->paths->n == first)
        st = add_files(f, path, false);
    if (st == OSC_OK && f->paths->n == first)
        st = add_run_below(f, path);
    if (st == OSC_OK && f->paths->n == first)
        st = osc_fail(
            f->err, OSC_EIO,
            "%s: it contains no traces: no .osc, .json, .json.gz or .json.zst in it, "
            "no WORKER[.NUMBER].pt.trace.json[.gz] below it; pass a file of another name "
            "by itself",
            path);
    return st;
}

/* Whether the directory PATH is a live directory, whatever its name; then it is a trace. */
static bool holds_blocks(const char *path)
{
    char *const blocks = join(path, "blocks");
    struct stat st;
    const bool holds = blocks && stat(blocks, &st) == 0 && S_ISREG(st.st_mode);

    osc_free(blocks);
    return holds;
}

osc_status osc_paths_find(struct osc_paths *p, const char *const *operands, size_t n,
                          struct osc_strbuf *notes, struct osc_err *err)
{
    const struct finding f = {p, notes, err};
    osc_status st = OSC_OK;

    for (size_t i = 0; i < n && st == OSC_OK; i++) {
        const char *const path = operands[i];
        struct stat info;

        if (path[0] == '\0')
            st = osc_fail(err, OSC_EINVAL, "an operand is empty; a trace was expected");
        else if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
                 !is_live(path) && !holds_blocks(path))
            st = add_directory(&f, path);
        else
            st = add_path(p, NULL, path, true);
    }
    return st == OSC_ENOMEM ? osc_fail(err, st, "out of memory") : st;
}

void osc_paths_fini(struct osc_paths *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        osc_free(p->all[i]);
    osc_free(p->all);
    osc_free(p->is_named);
    *p = (struct osc_paths){0};
}
