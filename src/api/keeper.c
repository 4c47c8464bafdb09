/* SPDX-License-Identifier: Apache-2.0 */
#include "api/keeper.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"

#define SECOND_NS INT64_C(1000000000)

/* Waiting is interrupted so often, to ask whether it is over. */
#define PATIENCE_NS (SECOND_NS / 20)

/* Looking at files takes at most one in so many parts of the time. */
#define LOOK_SHARE 10

/* So long the end of the thread is waited for. */
#define STOP_S 3

/* A run that could not be read may be tried again after so long. */
#define FAILED_NS (5 * SECOND_NS)

/* A progress line changes at most so often. */
#define PROGRESS_NS (SECOND_NS / 10)

struct run {
    struct osc_keeper_run is;
    struct osc_keeping now;
    struct osc_set *set; /* held; NULL unless it is ready */
    uint64_t used;       /* the largest is the one that was wanted last */
    int64_t look_at_ns;  /* when to look at its files next */
};

struct osc_keeper {
    pthread_mutex_t lock; /* of all below that changes; a leaf */
    pthread_cond_t changed;
    struct osc_arena arena; /* owns the names and paths */
    struct run *runs;       /* owned */
    uint32_t n_runs;
    struct osc_how how;
    int64_t least_look_ns, told_ns;
    uint64_t n_uses;
    uint32_t loading; /* the run whose files are read */
    pthread_t thread;
    bool has_thread, is_stopping;
    bool is_held; /* the set of the first run was given: nothing is loaded */
};

/* --- life ------------------------------------------------------------------------ */

static osc_status copy_run(struct osc_keeper *k, struct run *r,
                           const struct osc_keeper_run *from)
{
    const char **const paths = osc_arena_calloc(&k->arena, from->n_paths + 1, sizeof *paths);

    r->is.name = osc_arena_dup(&k->arena, from->name, strlen(from->name));
    for (size_t i = 0; i < from->n_paths && paths; i++) {
        paths[i] = osc_arena_dup(&k->arena, from->paths[i], strlen(from->paths[i]));
        if (!paths[i])
            return OSC_ENOMEM;
    }
    r->is.paths = paths;
    r->is.n_paths = from->n_paths;
    r->is.options.len = from->options.len;
    r->is.options.s = osc_arena_dup(&k->arena, from->options.s, from->options.len);
    if (!r->is.options.s)
        return OSC_ENOMEM;
    return paths && r->is.name ? OSC_OK : OSC_ENOMEM;
}

/* Write the fingerprint of SET to TEXT. A small table is asked for, whose frame has it. */
static osc_status find_fingerprint(struct osc_set *set, char *text, struct osc_err *err)
{
    const struct osc_question q = {.table = "tracks", .columns = "track"};
    struct osc_frame *f = NULL;
    const osc_status st = osc_ask(set, NULL, &q, &f, err);

    if (st == OSC_OK)
        memcpy(text, osc_frame_fingerprint(f), OSC_KEEPER_PRINT_BYTES);
    osc_frame_release(f);
    return st;
}

/* R is loaded: as SET. */
static osc_status hold(struct run *r, struct osc_set *set)
{
    const osc_status st = find_fingerprint(set, r->now.fingerprint, NULL);

    if (st != OSC_OK)
        return st;
    r->set = osc_set_hold(set);
    r->now.state = OSC_KEEPER_READY;
    return OSC_OK;
}

osc_status osc_keeper_new(struct osc_keeper **to, const struct osc_keeper_config *config)
{
    struct osc_keeper *const k = osc_calloc(1, sizeof *k);
    pthread_condattr_t attr;

    *to = NULL;
    if (!k)
        return OSC_ENOMEM;
    pthread_mutex_init(&k->lock, NULL); /* none of these can fail on Linux */
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&k->changed, &attr);
    pthread_condattr_destroy(&attr);
    k->how = config->how;
    k->is_held = config->held != NULL;
    k->least_look_ns = config->least_look_ns > 0 ? config->least_look_ns : SECOND_NS;
    k->runs = osc_calloc((size_t)config->n_runs + 1, sizeof *k->runs);
    osc_status st = k->runs ? OSC_OK : OSC_ENOMEM;
    for (uint32_t i = 0; i < config->n_runs && st == OSC_OK; i++, k->n_runs++)
        st = copy_run(k, &k->runs[i], &config->runs[i]);
    if (st == OSC_OK && config->held)
        st = hold(&k->runs[0], config->held);
    if (st == OSC_OK)
        *to = k;
    else
        osc_keeper_free(k);
    return st;
}

bool osc_keeper_stop(struct osc_keeper *k)
{
    struct timespec until = {0};

    pthread_mutex_lock(&k->lock);
    k->is_stopping = true;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
    (void)clock_gettime(CLOCK_REALTIME, &until); /* which pthread_timedjoin_np() needs */
    until.tv_sec += STOP_S;
    if (k->has_thread && pthread_timedjoin_np(k->thread, NULL, &until) != 0)
        return false;
    k->has_thread = false;
    return true;
}

void osc_keeper_free(struct osc_keeper *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; k->runs && i < k->n_runs; i++)
        osc_set_release(k->runs[i].set);
    osc_free(k->runs);
    osc_arena_fini(&k->arena);
    pthread_cond_destroy(&k->changed);
    pthread_mutex_destroy(&k->lock);
    osc_free(k);
}

/* --- the thread ------------------------------------------------------------------ */

/* Say that R has changed. Under the lock. */
static void tell(struct osc_keeper *k, struct run *r)
{
    r->now.serial++;
    pthread_cond_broadcast(&k->changed);
}

static int note_progress(void *ctx, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    struct osc_keeper *const k = ctx;
    const int64_t now_ns = osc_clock_now_ns();

    pthread_mutex_lock(&k->lock);
    struct run *const r = &k->runs[k->loading];
    if (r->now.state == OSC_KEEPER_LOADING && path) {
        r->now.done_bytes = done_bytes;
        r->now.total_bytes = total_bytes;
        if (now_ns - k->told_ns >= PROGRESS_NS) {
            k->told_ns = now_ns;
            tell(k, r);
        }
    }
    const bool is_stopping = k->is_stopping;
    pthread_mutex_unlock(&k->lock);
    return is_stopping ? -1 : 0;
}

/* Give up the set of the loaded run that was used least, if there are too many. Returns it, to
 * be released without the lock. Under the lock. */
static struct osc_set *give_up_one(struct osc_keeper *k)
{
    struct run *least = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_runs; i++) {
        struct run *const r = &k->runs[i];

        if (r->now.state != OSC_KEEPER_READY)
            continue;
        n++;
        if (!least || r->used < least->used)
            least = r;
    }
    if (n < OSC_KEEPER_LOADED_MAX)
        return NULL;
    struct osc_set *const set = least->set;
    least->set = NULL;
    least->now.state = OSC_KEEPER_IDLE;
    least->now.fingerprint[0] = '\0';
    tell(k, least);
    return set;
}

static void load(struct osc_keeper *k, uint32_t i)
{
    struct run *const r = &k->runs[i];
    struct osc_how how = k->how;
    struct osc_set *set = NULL;
    struct osc_err err = {0};
    char print[OSC_KEEPER_PRINT_BYTES] = "";

    pthread_mutex_lock(&k->lock);
    struct osc_set *const given_up = give_up_one(k);
    k->loading = i;
    r->now.state = OSC_KEEPER_LOADING;
    r->now.done_bytes = r->now.total_bytes = 0;
    r->now.message[0] = '\0';
    tell(k, r);
    pthread_mutex_unlock(&k->lock);
    osc_set_release(given_up);
    how.progress = note_progress;
    how.ctx = k;
    osc_status st = osc_set_open(&set, r->is.paths, r->is.n_paths, &how, &err);
    if (st == OSC_OK)
        st = find_fingerprint(set, print, &err);
    pthread_mutex_lock(&k->lock);
    if (st == OSC_OK) {
        r->set = set;
        r->now.state = OSC_KEEPER_READY;
        r->now.done_bytes = r->now.total_bytes;
        memcpy(r->now.fingerprint, print, sizeof print);
        set = NULL;
    } else {
        r->now.state = OSC_KEEPER_FAILED;
        memcpy(r->now.message, err.message, sizeof err.message);
    }
    r->now.status = st;
    r->look_at_ns = osc_clock_now_ns() + (st == OSC_OK ? k->least_look_ns : FAILED_NS);
    tell(k, r);
    pthread_mutex_unlock(&k->lock);
    osc_set_release(set);
}

static int64_t processor_ns(void)
{
    struct timespec ts = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

/* Look whether the files of run I have changed, and read what has. */
static void follow(struct osc_keeper *k, uint32_t i)
{
    struct run *const r = &k->runs[i];
    const int64_t wall_ns = osc_clock_now_ns(), used_ns = processor_ns();
    struct osc_changes changes = {0};
    struct osc_err err = {0};
    char print[OSC_KEEPER_PRINT_BYTES] = "";

    osc_status st = osc_set_refresh(r->set, &changes, &err);
    const bool has_changed = st == OSC_OK && changes.n_read + changes.n_gone > 0;
    if (has_changed)
        st = find_fingerprint(r->set, print, &err);
    /* What questions used meanwhile counts, too: then it is rather too seldom. */
    const int64_t wall = osc_clock_now_ns() - wall_ns, used = processor_ns() - used_ns;
    const int64_t pause = LOOK_SHARE * used > wall ? LOOK_SHARE * used : wall;
    pthread_mutex_lock(&k->lock);
    const bool was_failing = r->now.message[0] != '\0';
    if (st != OSC_OK)
        memcpy(r->now.message, err.message, sizeof err.message);
    else
        r->now.message[0] = '\0';
    if (has_changed && st == OSC_OK)
        memcpy(r->now.fingerprint, print, sizeof print);
    if (has_changed || was_failing != (st != OSC_OK))
        tell(k, r);
    r->look_at_ns = osc_clock_now_ns() + (pause > k->least_look_ns ? pause : k->least_look_ns);
    pthread_mutex_unlock(&k->lock);
}

/* What is to be done next: for run *I, or nothing before *UNTIL_NS. Under the lock. */
enum task { TASK_WAIT, TASK_LOAD, TASK_FOLLOW };

static enum task find_task(const struct osc_keeper *k, uint32_t *run, int64_t *until_ns)
{
    const int64_t now_ns = osc_clock_now_ns();
    enum task found = TASK_WAIT;

    *until_ns = now_ns + 60 * SECOND_NS;
    for (uint32_t i = 0; i < k->n_runs; i++) {
        const struct run *const r = &k->runs[i];

        if (r->now.state == OSC_KEEPER_WANTED) {
            *run = i;
            return TASK_LOAD;
        }
        if (r->now.state != OSC_KEEPER_READY)
            continue;
        if (r->look_at_ns <= now_ns && found == TASK_WAIT) {
            *run = i;
            found = TASK_FOLLOW;
        }
        if (r->look_at_ns < *until_ns)
            *until_ns = r->look_at_ns;
    }
    return found;
}

static void wait_until(struct osc_keeper *k, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = until_ns / SECOND_NS,
                                   .tv_nsec = until_ns % SECOND_NS};

    (void)pthread_cond_timedwait(&k->changed, &k->lock, &until);
}

static void *keep(void *ctx)
{
    struct osc_keeper *const k = ctx;

    pthread_mutex_lock(&k->lock);
    while (!k->is_stopping) {
        uint32_t i = 0;
        int64_t until_ns = 0;
        const enum task task = find_task(k, &i, &until_ns);

        if (task == TASK_WAIT) {
            wait_until(k, until_ns);
            continue;
        }
        pthread_mutex_unlock(&k->lock);
        if (task == TASK_LOAD)
            load(k, i);
        else
            follow(k, i);
        pthread_mutex_lock(&k->lock);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

/* Ask for run I. Under the lock. */
static void want(struct osc_keeper *k, uint32_t i)
{
    struct run *const r = &k->runs[i];

    const bool is_tried_again =
        r->now.state == OSC_KEEPER_FAILED && osc_clock_now_ns() >= r->look_at_ns;

    r->used = ++k->n_uses;
    if (r->now.state != OSC_KEEPER_IDLE && !is_tried_again)
        return;
    r->now.state = OSC_KEEPER_WANTED;
    tell(k, r);
}

osc_status osc_keeper_start(struct osc_keeper *k, uint32_t first)
{
    if (k->is_held)
        return OSC_OK;
    want(k, first);
    k->has_thread = pthread_create(&k->thread, NULL, keep, k) == 0;
    return k->has_thread ? OSC_OK : OSC_ENOMEM;
}

/* --- what others see ------------------------------------------------------------- */

uint32_t osc_keeper_n(const struct osc_keeper *k)
{
    return k->n_runs;
}

const struct osc_keeper_run *osc_keeper_run_at(const struct osc_keeper *k, uint32_t i)
{
    return &k->runs[i].is;
}

void osc_keeper_look(struct osc_keeper *k, uint32_t i, struct osc_keeping *out)
{
    pthread_mutex_lock(&k->lock);
    *out = k->runs[i].now;
    pthread_mutex_unlock(&k->lock);
}

osc_status osc_keeper_take(struct osc_keeper *k, uint32_t i, const struct osc_keeper_wait *wait,
                           struct osc_set **set, struct osc_keeping *kept, struct osc_err *err)
{
    struct run *const r = &k->runs[i];
    osc_status st = OSC_OK;
    bool is_over = false;

    *set = NULL;
    pthread_mutex_lock(&k->lock);
    want(k, i);
    while (r->now.state != OSC_KEEPER_READY && r->now.state != OSC_KEEPER_FAILED &&
           !k->is_stopping && !is_over) {
        wait_until(k, osc_clock_now_ns() + PATIENCE_NS);
        pthread_mutex_unlock(&k->lock);
        is_over = wait->is_over(wait->ctx);
        pthread_mutex_lock(&k->lock);
        want(k, i); /* it may have been given up meanwhile */
    }
    *kept = r->now;
    if (r->now.state == OSC_KEEPER_READY)
        *set = osc_set_hold(r->set);
    else if (r->now.state == OSC_KEEPER_FAILED)
        st = osc_fail(err, r->now.status, "%s", r->now.message);
    else
        st = osc_fail(err, OSC_ECANCELED, "it is not loaded yet");
    pthread_mutex_unlock(&k->lock);
    return st;
}

bool osc_keeper_wait_for_change(struct osc_keeper *k, uint32_t i, uint64_t seen,
                                int64_t timeout_ns)
{
    const int64_t until_ns = osc_clock_now_ns() + timeout_ns;

    pthread_mutex_lock(&k->lock);
    while (!k->is_stopping && k->runs[i].now.serial == seen && osc_clock_now_ns() < until_ns)
        wait_until(k, until_ns);
    const bool is_running = !k->is_stopping;
    pthread_mutex_unlock(&k->lock);
    return is_running;
}
