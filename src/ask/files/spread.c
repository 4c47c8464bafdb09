/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/files/spread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/thread.h"

/* Memory that a file takes, in bytes for each of its own: its model, facts and rows. Compressed
 * text is ten times as long. */
#define HELD_PER_BYTE    3
#define TEXT_PER_BYTE    10
#define COMPRESSED(path) (ends(path, ".gz") || ends(path, ".zst"))

static bool ends(const char *path, const char *suffix)
{
    return osc_str_ends(osc_str_c(path), osc_str_c(suffix));
}

/* Whether file I of L is to be read for O, and not with the file before. */
static bool is_first(const struct osc_loaded *l, uint32_t i)
{
    return l->links.before[i] == 0 && !(l->is_other && l->is_other[i]);
}

bool osc_spread_is_worth(const struct osc_loaded *l, const struct osc_load *o)
{
    const unsigned n_threads = o->how->n_threads ? o->how->n_threads : osc_cpu_count();
    const uint64_t room = osc_mem_room();
    uint64_t largest = 0;
    uint32_t n = 0;

    if (!l->is_visited || l->is_serial || !o->visitor->fork || n_threads < 2)
        return false;
    for (uint32_t i = 0; i < l->files.n; i++) {
        const char *const path = l->files.all[i];
        struct stat info;

        if (!is_first(l, i))
            continue;
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
            return false; /* it fails, is a live recording, or a pipe */
        const uint64_t size = (uint64_t)info.st_size * (COMPRESSED(path) ? TEXT_PER_BYTE : 1);
        largest = size > largest ? size : largest;
        n++;
    }
    return n >= n_threads && largest < room / HELD_PER_BYTE / n_threads;
}

/* One file: what the load is for the thread that reads it, and the outcome. */
struct item {
    uint32_t file;
    struct osc_loaded loaded; /* files and links are borrowed */
    void *visitor;            /* forked; NULL: none */
    osc_status st;
    struct osc_err err;
};

struct spread {
    struct osc_loaded *loaded;
    const struct osc_load *load;
    osc_spread_import *import;
    uint32_t *files;     /* owned; the first file of each item */
    struct item **items; /* owned; those that are read, until they are taken */
    uint32_t n;
    /* An item failed: none is begun any more. relaxed: it only saves work. */
    atomic_bool is_over;
    pthread_mutex_t taking; /* held while items are taken; of what follows, and of loaded */
    uint32_t n_taken;
    osc_status st; /* of the first item that failed */
    struct osc_err *err;
    pthread_mutex_t progress; /* held while the progress callback runs; of what follows */
    const char *shown;        /* the file whose progress is shown */
    int stops;                /* what the callback returned */
};

/* --- progress ----------------------------------------------------------------------- */

/* The progress callback of an item: that of the load gets one file at a time. */
static int show_one(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    struct spread *const s = ctx;
    const struct osc_how *const how = s->load->how;

    pthread_mutex_lock(&s->progress);
    if (path && !s->shown)
        s->shown = path;
    if (s->stops == 0 && path && path == s->shown)
        s->stops = how->progress(how->ctx, path, done_bytes, total_bytes);
    const int stops = s->stops;
    pthread_mutex_unlock(&s->progress);
    return stops;
}

/* FILE was read: show the progress of another one. */
static void show_next(struct spread *s, const char *file)
{
    const struct osc_how *const how = s->load->how;

    pthread_mutex_lock(&s->progress);
    if (s->shown == file)
        s->shown = NULL;
    (void)how->progress(how->ctx, NULL, 0, 0);
    pthread_mutex_unlock(&s->progress);
}

/* --- outcomes ----------------------------------------------------------------------- */

/* Move what FROM has to L. */
static osc_status move_loaded(struct osc_loaded *l, struct osc_loaded *from)
{
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < from->n_units && st == OSC_OK; i++) {
        st = osc_grow(&l->units, &l->cap_units, (size_t)l->n_units + 1, sizeof *l->units);
        if (st == OSC_OK)
            l->units[l->n_units++] = from->units[i];
    }
    l->n_read += from->n_read;
    l->n_unread += from->n_unread;
    l->has_failed |= from->has_failed;
    l->is_outdated |= from->is_outdated;
    if (!l->torch_version) {
        l->torch_version = from->torch_version;
        from->torch_version = NULL;
    }
    if (from->notes.len > 0)
        osc_strbuf_add(&l->notes, from->notes.s, from->notes.len);
    osc_left_out_take(&l->files.left, &from->files.left);
    return st != OSC_OK ? st : l->notes.status;
}

/* Whether ITEM may have failed only because others used memory, too. */
static bool is_short(const struct item *item)
{
    return item->st == OSC_ENOMEM || item->st == OSC_ELIMIT || item->loaded.is_short;
}

/* Add the outcome of ITEM, the next in order, unless one before it failed. */
static void take(struct spread *s, struct item *item)
{
    const struct osc_visitor *const visitor = s->load->visitor;
    struct osc_loaded *const l = s->loaded;
    bool is_kept = s->st == OSC_OK && !l->is_outdated;

    if (is_kept && is_short(item))
        l->is_outdated = l->is_serial = true;
    else if (is_kept && item->st != OSC_OK)
        s->st = osc_fail(s->err, item->st, "%s", item->err.message);
    else if (is_kept && move_loaded(l, &item->loaded) != OSC_OK)
        s->st = osc_fail(s->err, OSC_ENOMEM, "out of memory");
    is_kept = is_kept && s->st == OSC_OK && !l->is_outdated;
    if (is_kept && item->err.message[0])
        *s->err = item->err; /* of a file that was left out */
    if (item->visitor && visitor->join(visitor->ctx, item->visitor, is_kept) != OSC_OK)
        s->st = osc_fail(s->err, OSC_ENOMEM, "out of memory");
    if (s->st != OSC_OK || l->is_outdated)
        atomic_store_explicit(&s->is_over, true, memory_order_relaxed);
}

static void free_item(struct item *item)
{
    struct osc_left_out left = item->loaded.files.left;

    osc_left_out_fini(&left);
    item->loaded.files = (struct osc_paths){0}; /* borrowed */
    item->loaded.links = (struct osc_part_links){0};
    osc_loaded_fini(&item->loaded);
    osc_free(item);
}

/* ITEM, number I, was read: take it if all before it are taken, and those that waited for it.
 */
static void hand_in(struct spread *s, uint32_t i, struct item *item)
{
    pthread_mutex_lock(&s->taking);
    s->items[i] = item;
    while (s->n_taken < s->n && s->items[s->n_taken]) {
        struct item *const next = s->items[s->n_taken];

        take(s, next);
        free_item(next);
        s->items[s->n_taken++] = NULL;
    }
    pthread_mutex_unlock(&s->taking);
}

/* --- reading ------------------------------------------------------------------------ */

/* Read ITEM for the load of S. */
static void read_item(struct spread *s, struct item *item)
{
    const struct osc_loaded *const l = s->loaded;
    struct osc_load load = *s->load;
    struct osc_how how = *load.how;
    struct osc_visitor visitor = *load.visitor;

    item->loaded = (struct osc_loaded){
        .files = {.all = l->files.all, .is_named = l->files.is_named, .n = l->files.n},
        .links = l->links,
        .operand = l->operand,
        .is_visited = true,
        .may_list_again = l->may_list_again};
    item->visitor = visitor.fork(visitor.ctx);
    visitor.ctx = item->visitor;
    load.visitor = &visitor;
    load.how = &how;
    if (how.progress) {
        how.progress = show_one;
        how.ctx = s;
    }
    item->st = item->visitor ? s->import(&item->loaded, &load, item->file, &item->err)
                             : osc_fail(&item->err, OSC_ENOMEM, "out of memory");
    if (how.progress)
        show_next(s, l->files.all[item->file]);
}

static void read_one(void *ctx, uint32_t i)
{
    struct spread *const s = ctx;

    if (atomic_load_explicit(&s->is_over, memory_order_relaxed))
        return;
    struct item *const item = osc_calloc(1, sizeof *item);
    if (!item) {
        pthread_mutex_lock(&s->taking);
        s->loaded->is_outdated = s->loaded->is_serial = true;
        pthread_mutex_unlock(&s->taking);
        return;
    }
    item->file = s->files[i];
    read_item(s, item);
    hand_in(s, i, item);
}

osc_status osc_spread(struct osc_loaded *l, const struct osc_load *o, osc_spread_import *import,
                      struct osc_err *err)
{
    struct spread s = {.loaded = l, .load = o, .import = import, .err = err};

    s.files = osc_calloc((size_t)l->files.n + 1, sizeof *s.files);
    s.items = osc_calloc((size_t)l->files.n + 1, sizeof(void *));
    if (!s.files || !s.items) {
        osc_free(s.files);
        osc_free(s.items);
        return osc_loaded_fail(l, NULL, OSC_ENOMEM, "loading", err);
    }
    for (uint32_t i = 0; i < l->files.n; i++) {
        if (is_first(l, i))
            s.files[s.n++] = i;
    }
    pthread_mutex_init(&s.taking, NULL); /* these cannot fail on Linux */
    pthread_mutex_init(&s.progress, NULL);
    osc_parallel(o->how->n_threads, s.n, read_one, &s);
    pthread_mutex_destroy(&s.progress);
    pthread_mutex_destroy(&s.taking);
    for (uint32_t i = s.n_taken; i < s.n; i++) { /* behind one that was not begun */
        if (s.items[i]) {
            s.st = s.st == OSC_OK && !l->is_outdated ? OSC_ECANCELED : s.st;
            take(&s, s.items[i]);
            free_item(s.items[i]);
        }
    }
    osc_free(s.files);
    osc_free(s.items);
    if (l->is_serial)
        osc_mem_forget_refusals();
    return s.st;
}
