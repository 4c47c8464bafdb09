/* SPDX-License-Identifier: Apache-2.0 */
#include "import/spans.h"

#include "base/hash.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"

/* The time that a file covers, on a clock that files of one host have in common. */
struct cover {
    int64_t from_ns, to_ns;
};

/* False: the file is of no known process, or has no such time. */
static bool cover_of(const struct osc_identity *id, struct cover *c)
{
    return id->pid > 0 &&
           !__builtin_add_overflow(id->from_ns, id->among.base_ns, &c->from_ns) &&
           !__builtin_add_overflow(id->to_ns, id->among.base_ns, &c->to_ns);
}

static bool is_same(struct osc_str a, struct osc_str b)
{
    return a.s && b.s ? osc_str_eq(a, b) : !a.s && !b.s;
}

static bool is_same_host(const struct osc_identity *a, const struct osc_identity *b)
{
    return is_same(a->boot_id, b->boot_id) && is_same(a->host, b->host);
}

bool osc_spans_overlap(const struct osc_identity *a, const struct osc_identity *b)
{
    struct cover x, y;

    return is_same_host(a, b) && cover_of(a, &x) && cover_of(b, &y) && x.from_ns <= y.to_ns &&
           y.from_ns <= x.to_ns;
}

/* --- files of a log directory ----------------------------------------------- */

/* A file, to be sorted by the windows of its worker. */
struct by_worker {
    const struct osc_filename *name;
    struct osc_identity *id;
};

/* Compare by rank and worker. Workers of several ranks may have one name, in directories of
 * their own. */
static int compare_workers(const struct by_worker *x, const struct by_worker *y)
{
    if (x->id->among.rank != y->id->among.rank)
        return x->id->among.rank < y->id->among.rank ? -1 : 1;
    return osc_str_cmp(x->name->worker, y->name->worker);
}

static int compare_windows(const void *a, const void *b)
{
    const struct by_worker *const x = a, *const y = b;
    const int order = compare_workers(x, y);

    return order != 0 ? order : osc_filename_compare_numbers(x->name->number, y->name->number);
}

/* Number the windows of each worker; files with the same number are one window. */
static osc_status number_windows(struct osc_identity *const *ids,
                                 const struct osc_filename *names, uint32_t n)
{
    struct by_worker *const sorted = osc_calloc((size_t)n + 1, sizeof *sorted);
    uint32_t n_sorted = 0;

    if (!sorted)
        return OSC_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (names[i].is_logdir)
            sorted[n_sorted++] = (struct by_worker){&names[i], ids[i]};
    }
    osc_sort(sorted, n_sorted, sizeof *sorted, compare_windows);
    for (uint32_t k = 0; k < n_sorted; k++) {
        const struct by_worker *const at = &sorted[k], *const last = at - 1;
        int32_t *const span = &at->id->among.span;

        if (k == 0 || compare_workers(last, at) != 0)
            *span = 1;
        else
            *span = last->id->among.span +
                    (osc_filename_compare_numbers(last->name->number, at->name->number) != 0);
    }
    osc_free(sorted);
    return OSC_OK;
}

/* --- other files -------------------------------------------------------------- */

/* A file, and the window that it begins or belongs to. */
struct file {
    struct osc_identity *id;
    struct cover covers;      /* of a first file: its window; a piece lasts until the next */
    struct file *window;      /* its first file; itself at first */
    struct file *next;        /* of the same window */
    struct file *open;        /* of first files: the next window that has not ended */
    const struct file *later; /* the next piece of its process; NULL: none, or not after it */
    bool has_cover;
};

/* Compare by rank, then by start. */
static int compare_starts(const void *a, const void *b)
{
    const struct file *const x = *(const struct file *const *)a;
    const struct file *const y = *(const struct file *const *)b;

    if (x->id->among.rank != y->id->among.rank)
        return x->id->among.rank < y->id->among.rank ? -1 : 1;
    if (x->covers.from_ns != y->covers.from_ns)
        return x->covers.from_ns < y->covers.from_ns ? -1 : 1;
    return (x > y) - (x < y);
}

/* Whether F and K are pieces of one process. */
static bool are_pieces(const struct osc_identity *f, const struct osc_identity *k)
{
    return f->is_piece && k->is_piece && f->pid == k->pid && is_same_host(f, k) &&
           is_same(f->run_id, k->run_id);
}

/* Let each piece at SORTED last until the next one of its process: what runs between them
 * belongs to them. */
static osc_status close_gaps(struct file *const *sorted, uint32_t n)
{
    struct osc_idmap next = {0}; /* pid -> index + 1 of the piece that begins first */
    osc_status st = OSC_OK;

    for (uint32_t i = n; i-- > 0 && st == OSC_OK;) {
        if (!sorted[i]->id->is_piece)
            continue;
        uint32_t *const at = osc_idmap_put(&next, (uint64_t)sorted[i]->id->pid);
        const struct file *const later = at && *at > 0 ? sorted[*at - 1] : NULL;

        if (!at) {
            st = OSC_ENOMEM;
            continue;
        }
        if (later && are_pieces(sorted[i]->id, later->id) &&
            sorted[i]->id->among.rank == later->id->among.rank &&
            sorted[i]->covers.to_ns < later->covers.from_ns) {
            sorted[i]->covers.to_ns = later->covers.from_ns;
            sorted[i]->later = later;
        }
        *at = i + 1;
    }
    osc_idmap_fini(&next);
    return st;
}

/* Whether F, which begins before WINDOW ends, belongs to it: it is of the same run, and follows
 * a piece of its process, or is of another process than all of its files. */
static bool belongs_to(const struct file *f, const struct file *window)
{
    bool is_other = true;

    if (!is_same_host(f->id, window->id) || !is_same(f->id->run_id, window->id->run_id))
        return false;
    for (const struct file *k = window; k; k = k->next) {
        if (k->later == f)
            return true;
        is_other = is_other && k->id->pid != f->id->pid;
    }
    return is_other;
}

/* The number of F, which joins WINDOW, among the pieces of its process; earlier ones have
 * theirs. */
static uint32_t piece_number(const struct file *f, const struct file *window)
{
    uint32_t number = f->id->is_piece;

    for (const struct file *k = window; k; k = k->next)
        number += are_pieces(f->id, k->id);
    return number;
}

/* Join the N files at SORTED, which are sorted by rank and start, to windows. */
static void join(struct file *const *sorted, uint32_t n)
{
    struct file *first = NULL; /* windows of the rank that have not ended */

    for (uint32_t i = 0; i < n; i++) {
        struct file *const f = sorted[i];
        struct file **at = &first, *window = NULL;

        if (i > 0 && sorted[i - 1]->id->among.rank != f->id->among.rank)
            first = NULL;
        while (*at && !window) {
            if ((*at)->covers.to_ns < f->covers.from_ns)
                *at = (*at)->open;
            else if (belongs_to(f, *at))
                window = *at;
            else
                at = &(*at)->open;
        }
        f->id->among.piece = piece_number(f, window);
        if (!window) {
            *at = f;
            continue;
        }
        f->window = window;
        f->next = window->next;
        window->next = f;
        if (f->covers.to_ns > window->covers.to_ns)
            window->covers.to_ns = f->covers.to_ns;
    }
}

/* Let the pieces among the N FILES that are empty belong to the others of their process. */
static void join_empty(struct file *files, uint32_t n, struct file *const *sorted,
                       uint32_t n_sorted)
{
    for (uint32_t i = 0; i < n; i++) {
        struct file *const f = &files[i];

        for (uint32_t k = 0; k < n_sorted && f->id->is_piece && !f->has_cover; k++) {
            if (!are_pieces(f->id, sorted[k]->id) ||
                f->id->among.rank != sorted[k]->id->among.rank)
                continue;
            f->window = sorted[k]->window;
            f->id->among.piece = UINT32_MAX; /* when it was, is not known */
            break;
        }
    }
}

/* What files of one run on one host and rank have in common; 0: the run is not known. */
static uint64_t run_key(const struct osc_identity *id)
{
    const uint64_t rank = (uint64_t)(uint32_t)id->among.rank;

    if (!id->run_id.s)
        return 0;
    return osc_hash(id->run_id.s, id->run_id.len,
                    osc_hash(id->boot_id.s, id->boot_id.len, osc_hash_u64(rank))) |
           1;
}

/* Find those of the N FILES in which something was recorded: the first of each run in EARLIEST,
 * by run_key(), as index + 1. */
static osc_status find_earliest(const struct file *files, uint32_t n,
                                struct osc_idmap *earliest)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = run_key(files[i].id);

        if (key == 0 || files[i].id->n_events == 0 || !files[i].has_cover)
            continue;
        uint32_t *const at = osc_idmap_put(earliest, key);
        if (!at)
            return OSC_ENOMEM;
        if (*at == 0 || files[i].covers.from_ns < files[*at - 1].covers.from_ns)
            *at = i + 1;
    }
    return OSC_OK;
}

/* The first file of the run of F, if nothing was recorded in F itself; or NULL. Such a file is
 * no window: a process without steps under a schedule. */
static struct file *first_of_run(struct file *files, const struct file *f,
                                 const struct osc_idmap *earliest)
{
    if (f->id->n_events > 0 || f->id->is_piece)
        return NULL;
    const uint32_t at = osc_idmap_get(earliest, run_key(f->id));
    return at > 0 && is_same_host(f->id, files[at - 1].id) &&
                   is_same(f->id->run_id, files[at - 1].id->run_id) &&
                   f->id->among.rank == files[at - 1].id->among.rank
               ? &files[at - 1]
               : NULL;
}

/* Number the windows of the N FILES, in their order, after all that their rank already has. */
static osc_status number_files(struct file *files, uint32_t n, struct osc_idmap *latest)
{
    for (uint32_t i = 0; i < n; i++) {
        struct osc_identity *const id = files[i].window->id;

        if (id->among.span == 0) {
            uint32_t *const span = osc_idmap_put(latest, (uint64_t)id->among.rank);
            if (!span)
                return OSC_ENOMEM;
            *span += 1;
            id->among.span = (int32_t)*span;
        }
        files[i].id->among.span = id->among.span;
    }
    return OSC_OK;
}

/* Give spans to the files that are of no log directory: recordings of one run that overlap in
 * time are one window, other files are each by itself. Their numbers go on behind those of log
 * directories of the same rank. */
static osc_status number_others(struct osc_identity *const *ids,
                                const struct osc_filename *names, uint32_t n)
{
    struct file *const files = osc_calloc((size_t)n + 1, sizeof *files);
    struct file **const sorted = osc_calloc((size_t)n + 1, sizeof(struct file *));
    struct osc_idmap latest = {0};   /* rank -> its last window */
    struct osc_idmap earliest = {0}; /* as of find_earliest() */
    uint32_t n_files = 0, n_sorted = 0;
    osc_status st = files && sorted ? OSC_OK : OSC_ENOMEM;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        if (names[i].is_logdir) {
            uint32_t *const span = osc_idmap_put(&latest, (uint64_t)ids[i]->among.rank);

            if (!span)
                st = OSC_ENOMEM;
            else if ((uint32_t)ids[i]->among.span > *span)
                *span = (uint32_t)ids[i]->among.span;
            continue;
        }
        struct file *const f = &files[n_files++];
        f->id = ids[i];
        f->id->among.span = 0;
        f->id->among.piece = 0;
        f->window = f;
        f->has_cover = cover_of(f->id, &f->covers);
    }
    if (st == OSC_OK)
        st = find_earliest(files, n_files, &earliest);
    for (uint32_t i = 0; i < n_files && st == OSC_OK; i++)
        if (files[i].has_cover && !first_of_run(files, &files[i], &earliest))
            sorted[n_sorted++] = &files[i];
    if (st == OSC_OK) {
        osc_sort(sorted, n_sorted, sizeof(void *), compare_starts);
        st = close_gaps(sorted, n_sorted);
    }
    if (st == OSC_OK) {
        join(sorted, n_sorted);
        join_empty(files, n_files, sorted, n_sorted);
    }
    for (uint32_t i = 0; i < n_files && st == OSC_OK; i++) {
        const struct file *const first = first_of_run(files, &files[i], &earliest);

        if (first)
            files[i].window = first->window;
    }
    if (st == OSC_OK)
        st = number_files(files, n_files, &latest);
    osc_idmap_fini(&latest);
    osc_idmap_fini(&earliest);
    osc_free(sorted);
    osc_free(files);
    return st;
}

/* Tell each file of the N at IDS whether other files of its span have steps. */
static osc_status tell_steps(struct osc_identity *const *ids, uint32_t n)
{
    struct osc_idmap n_with_steps = {0}; /* by rank and span */
    osc_status st = OSC_OK;

    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        const struct osc_placing *const p = &ids[i]->among;
        uint32_t *const count =
            osc_idmap_put(&n_with_steps, (uint64_t)(uint32_t)p->rank << 32 | (uint32_t)p->span);

        if (count)
            *count += ids[i]->has_steps;
        else
            st = OSC_ENOMEM;
    }
    for (uint32_t i = 0; i < n && st == OSC_OK; i++) {
        struct osc_placing *const p = &ids[i]->among;
        const uint32_t count =
            osc_idmap_get(&n_with_steps, (uint64_t)(uint32_t)p->rank << 32 | (uint32_t)p->span);

        p->is_beside_steps = !ids[i]->has_steps && count > 0;
        p->shares_steps = ids[i]->has_steps && count > 1;
    }
    osc_idmap_fini(&n_with_steps);
    return st;
}

osc_status osc_spans_number(struct osc_identity *const *ids, const struct osc_filename *names,
                            uint32_t n)
{
    osc_status st = number_windows(ids, names, n);

    if (st == OSC_OK)
        st = number_others(ids, names, n);
    return st == OSC_OK ? tell_steps(ids, n) : st;
}
