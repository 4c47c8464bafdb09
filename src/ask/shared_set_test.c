/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads ask one set about all of it and about views and stop each other's questions,
 * also while it is refreshed.
 */
#include "ask/set.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"

#define N_THREADS   4
#define N_ROUNDS    8
#define N_VIEWS     3
#define N_REFRESHES 40
#define TABLES      64

static char path[] = "/tmp/opscope-shared-set-XXXXXX";
static struct osc_set *set;

static const struct osc_view views[N_VIEWS] = {
    {0}, {.has_from = 1, .from_ns = 20000}, {.steps = "2"}};

/* Fingerprints of the answers for each table and view, asked by a single thread. */
static uint64_t alone[TABLES][N_VIEWS];
static uint32_t n_tables;

static int write_trace(void)
{
    const int fd = mkstemp(path);
    FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!f)
        return -1;
    fputs("[", f);
    for (int i = 0; i < 40; i++) {
        fprintf(f,
                "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,"
                "\"ts\":%d,\"dur\":5},",
                i % 7, 1 + i * 10);
        if (i % 10 == 0)
            fprintf(f,
                    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%d\","
                    "\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":100},",
                    i / 10, i * 10);
    }
    fputs("{}]", f);
    return fclose(f);
}

static int add_text(void *ctx, const char *s, size_t len)
{
    uint64_t *const hash = ctx;

    *hash = osc_hash(s, (uint32_t)len, *hash);
    return 0;
}

/* A fingerprint of the answer of TABLE about view V; 0: it failed. */
static uint64_t ask(uint32_t table, uint32_t v, struct osc_cancel *cancel)
{
    uint64_t hash = 1;
    const struct osc_question q = {.table = osc_catalog_name(table), .cancel = cancel};
    const struct osc_layout layout = {.format = "json", .write = add_text, .ctx = &hash};

    return osc_ask_text(set, &views[v], &q, &layout, NULL) == OSC_OK ? hash : 0;
}

static osc_status open_set(void)
{
    const char *const file = path;

    osc_set_release(set);
    return osc_set_open(&set, &file, 1, NULL, NULL);
}

static int set_up(void **state)
{
    (void)state;
    if (write_trace() != 0 || open_set() != OSC_OK)
        return -1;
    for (; osc_catalog_name(n_tables) && n_tables < TABLES; n_tables++) {
        for (uint32_t v = 0; v < N_VIEWS; v++)
            alone[n_tables][v] = ask(n_tables, v, NULL);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    osc_set_release(set);
    return unlink(path);
}

struct asker {
    pthread_t thread;
    uint32_t first;
    uint32_t n_wrong;
    struct osc_cancel *cancel; /* NULL, or this thread's questions may be canceled */
};

static void *ask_all(void *arg)
{
    struct asker *const a = arg;

    for (uint32_t i = 0; i < n_tables * N_VIEWS; i++) {
        const uint32_t at = (a->first + i) % (n_tables * N_VIEWS);
        const uint32_t table = at / N_VIEWS, v = at % N_VIEWS;
        const uint64_t hash = ask(table, v, a->cancel);

        if (a->cancel && i == n_tables)
            osc_cancel_pull(a->cancel);
        a->n_wrong += hash != alone[table][v] && !(a->cancel && hash == 0);
    }
    return NULL;
}

static void threads_get_the_answers_of_one_alone(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        struct asker askers[N_THREADS] = {{0}};

        assert_int_equal(open_set(), OSC_OK); /* without facts */
        for (uint32_t i = 0; i < N_THREADS; i++) {
            askers[i].first = round + i * n_tables;
            askers[i].cancel = i == 0 ? osc_cancel_new() : NULL;
            assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]), 0);
        }
        for (uint32_t i = 0; i < N_THREADS; i++) {
            assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
            osc_cancel_free(askers[i].cancel);
            assert_int_equal(askers[i].n_wrong, 0);
        }
    }
}

/* --- while the files change ---------------------------------------------------------- */

static char folder[] = "/tmp/opscope-shared-folder-XXXXXX";
static char files[2][64];
static atomic_bool is_over;

/* Write the file FILE in one atomic step: N operators from AT microseconds on. */
static int write_file(uint32_t file, int at, int n)
{
    char other[80];
    FILE *f = NULL;

    snprintf(other, sizeof other, "%s.new", files[file]);
    f = fopen(other, "w");
    if (!f)
        return -1;
    fputs("[", f);
    for (int i = 0; i < n; i++)
        fprintf(
            f,
            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,"
            "\"dur\":5},",
            at + i * 10);
    fputs("{}]", f);
    return fclose(f) == 0 ? rename(other, files[file]) : -1;
}

/* Ask for all events repeatedly. Each answer must have the events of the first file and those
 * of one version of the second, all with times from the same origin. */
static void *ask_events(void *arg)
{
    static const struct osc_question question = {.table = "events", .columns = "start_ns"};
    static const struct osc_view view = {.has_from = 1};
    uint32_t *const n_wrong = arg;

    for (uint32_t k = 0; !atomic_load_explicit(&is_over, memory_order_relaxed); k++) {
        struct osc_frame *f = NULL;

        if (osc_ask(set, k % 2 ? NULL : &view, &question, &f, NULL) != OSC_OK) {
            ++*n_wrong;
            continue;
        }
        const int64_t *const start = osc_frame_column_at(f, 0).values;
        const uint64_t n = osc_frame_rows(f);
        int64_t least = n > 0 ? start[0] : -1;

        for (uint64_t i = 0; i < n; i++)
            least = start[i] < least ? start[i] : least;
        *n_wrong += least != 0 || n < 101 || n > 100 + N_REFRESHES;
        *n_wrong += strlen(osc_frame_fingerprint(f)) != 32 || strlen(osc_set_notes(set)) != 0;
        osc_frame_release(f);
    }
    return NULL;
}

static void questions_go_on_while_the_set_is_refreshed(void **state)
{
    const char *const place = folder;
    pthread_t threads[N_THREADS];
    uint32_t n_wrong[N_THREADS] = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++)
        snprintf(files[i], sizeof files[i], "%s/rank%d.json", folder, i);
    assert_int_equal(write_file(0, 1000, 100) | write_file(1, 1000, 1), 0);
    osc_set_release(set);
    assert_int_equal(osc_set_open(&set, &place, 1, NULL, NULL), OSC_OK);
    for (uint32_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_events, &n_wrong[i]), 0);
    for (int i = 0; i < N_REFRESHES; i++) {
        struct osc_changes changes;

        /* Alternately before and after the start of the first file. */
        assert_int_equal(write_file(1, i % 2 ? 1001 : 900 + i, i + 1), 0);
        assert_int_equal(osc_set_refresh(set, &changes, NULL), OSC_OK);
        assert_int_equal(changes.n_kept, 1);
        assert_int_equal(changes.n_read, 1);
    }
    atomic_store_explicit(&is_over, true, memory_order_relaxed); /* a hint: they are joined */
    for (uint32_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(n_wrong[i], 0);
    }
    assert_int_equal(unlink(files[0]) | unlink(files[1]) | rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_get_the_answers_of_one_alone),
        cmocka_unit_test(questions_go_on_while_the_set_is_refreshed)};

    return cmocka_run_group_tests_name("shared set", tests, set_up, tear_down);
}
