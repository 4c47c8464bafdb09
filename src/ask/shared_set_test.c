/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads ask one set about all of it and about views and stop each other's questions,
 * also while it is refreshed. Its files are of every kind: what one kind does late, at the
 * first question, another has done while it was opened.
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
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "export/export.h"
#include "import/import.h"
#include "support/small_recording.h"
#include "support/unit.h"

#define N_THREADS   4
#define N_ROUNDS    8
#define N_VIEWS     3
#define N_REFRESHES 40
#define N_LASTING   600 /* operators of the file that no refresh changes */
#define N_STARTS    (48 / UNIT_SLOWNESS)
#define TABLES      64

static char path[] = "/tmp/opscope-shared-set-XXXXXX";
static struct osc_set *set;

static osc_status put(void *ctx, const char *s, size_t len)
{
    return fwrite(s, 1, len, ctx) == len ? OSC_OK : OSC_EIO;
}

/* Export the trace FROM as columns to the file TO. */
static int export_columns(const char *from, const char *to)
{
    const struct osc_import_options o = {.n_threads = 1};
    struct osc_trace t = {0};
    struct osc_trace *const traces[] = {&t};
    FILE *const f = fopen(to, "w");
    const struct osc_export x = {
        .traces = traces, .n_traces = 1, .n_threads = 1, .sink = {.write = put, .ctx = f}};
    osc_status st = f ? osc_import_path(&t, from, &o, NULL) : OSC_EIO;

    if (st == OSC_OK)
        st = osc_exporter_find("osc")->write(&x, NULL);
    osc_trace_fini(&t);
    return !f || fclose(f) != 0 || st != OSC_OK ? -1 : 0;
}

static const struct osc_view views[N_VIEWS] = {
    {0}, {.has_from = 1, .from_ns = 20000}, {.steps = "2"}};

/* Fingerprints of the answers for each table and view, asked by a single thread. */
static uint64_t alone[TABLES][N_VIEWS];
static uint32_t n_tables;

/* Write a trace of N operators to a new file, whose place is made of the template PLACE. */
static int write_trace(char *place, int n)
{
    const int fd = mkstemp(place);
    FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!f)
        return -1;
    fputs("[", f);
    for (int i = 0; i < n; i++) {
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
    if (write_trace(path, 40) != 0 || open_set() != OSC_OK)
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

/* --- first questions ------------------------------------------------------------------ */

static char kinds_folder[] = "/tmp/opscope-shared-kinds-XXXXXX";

enum { JSON, GZIP, COLUMNS, RECORDS, RANKS, N_KINDS };

static const char *const kinds[N_KINDS] = {"a.json", "b.json.gz", "c.osc", "d.osc", "ranks"};
static const char *const ranks[] = {"rank0.json", "rank1.json.gz", "rank2.osc", "rank3.osc"};

static char *place_of(const char *folder, const char *name)
{
    static char places[4][160];
    static unsigned turn;
    char *const place = places[turn++ % 4];

    snprintf(place, sizeof places[0], "%s/%s/%s", kinds_folder, folder, name);
    return place;
}

static int write_recording(const char *to)
{
    static struct small_recording r;
    FILE *const f = fopen(to, "w");

    recording_begin(&r);
    const uint32_t name = recording_name(&r, "instant");
    for (uint64_t i = 0; i < 100; i++)
        recording_add(&r, OSC_RECORD_INSTANT, name, 10 + i * 500, NULL, 0);
    recording_flush(&r);
    recording_end(&r);
    const bool is_written = f && fwrite(r.bytes, 1, r.n_bytes, f) == r.n_bytes;
    return f && fclose(f) == 0 && is_written ? 0 : -1;
}

/* Write the file of KIND to TO. */
static int write_kind(int kind, const char *to)
{
    char command[400];

    switch (kind) {
    case GZIP:
        return osc_gzip_file(path, to, NULL) == OSC_OK ? 0 : -1;
    case COLUMNS:
        return export_columns(path, to);
    case RECORDS:
        return write_recording(to);
    default:
        snprintf(command, sizeof command, "cp %s %s", path, to);
        return system(command);
    }
}

static int remove_kinds(void **state)
{
    char command[80];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", kinds_folder);
    return system(command);
}

static int write_kinds(void **state)
{
    int failed = mkdtemp(kinds_folder) ? 0 : -1;

    (void)state;
    failed |= mkdir(place_of(".", "ranks"), 0700);
    for (int kind = 0; kind < RANKS; kind++)
        failed |= write_kind(kind, place_of(".", kinds[kind])) |
                  write_kind(kind, place_of("ranks", ranks[kind]));
    return failed;
}

static pthread_barrier_t first_question;

struct first_asker {
    pthread_t thread;
    uint32_t seed;
    uint64_t hashes[2]; /* of the answers */
};

/* Which of all tables and views asker SEED asks as number K. */
static uint32_t choice(uint32_t seed, uint32_t k)
{
    return (uint32_t)(osc_hash_u64(seed * 2u + k) % ((uint64_t)n_tables * N_VIEWS));
}

static void *ask_first(void *arg)
{
    struct first_asker *const a = arg;

    pthread_barrier_wait(&first_question);
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t at = choice(a->seed, k);

        a->hashes[k] = ask(at / N_VIEWS, at % N_VIEWS, NULL);
    }
    return NULL;
}

/* Open PLACE; the first questions to it come at the same time. Open it again and ask them one
 * after the other: the answers are the same. */
static void ask_at_once(const char *place, uint32_t round)
{
    struct first_asker askers[N_THREADS];

    osc_set_release(set);
    assert_int_equal(osc_set_open(&set, &place, 1, NULL, NULL), OSC_OK);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        askers[i] = (struct first_asker){.seed = round * N_THREADS + i};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_first, &askers[i]), 0);
    }
    for (uint32_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
    osc_set_release(set);
    assert_int_equal(osc_set_open(&set, &place, 1, NULL, NULL), OSC_OK);
    for (uint32_t i = 0; i < N_THREADS; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t at = choice(askers[i].seed, k);

            assert_int_equal(askers[i].hashes[k], ask(at / N_VIEWS, at % N_VIEWS, NULL));
        }
    }
}

static void first_questions_may_come_at_the_same_time(void **state)
{
    (void)state;
    assert_int_equal(pthread_barrier_init(&first_question, NULL, N_THREADS), 0);
    for (uint32_t round = 0; round < N_STARTS; round++)
        ask_at_once(place_of(".", kinds[round % N_KINDS]), round);
    pthread_barrier_destroy(&first_question);
}

/* --- while the files change ---------------------------------------------------------- */

static char folder[] = "/tmp/opscope-shared-folder-XXXXXX";
static char files[2][64];
static bool is_columns; /* whether the files are exported columns */
static atomic_bool is_over;

/* Write the file FILE in one atomic step: N operators from AT microseconds on. */
static int write_file(uint32_t file, int at, int n)
{
    char other[80], columns[80];
    FILE *f = NULL;

    snprintf(other, sizeof other, "%s.new", files[file]);
    snprintf(columns, sizeof columns, "%s.columns", files[file]);
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
    if (fclose(f) != 0)
        return -1;
    if (!is_columns)
        return rename(other, files[file]);
    return export_columns(other, columns) | unlink(other) | rename(columns, files[file]);
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
        *n_wrong += least != 0 || n < N_LASTING + 1 || n > N_LASTING + N_REFRESHES;
        *n_wrong += strlen(osc_frame_fingerprint(f)) != 32 || strlen(osc_set_notes(set)) != 0;
        osc_frame_release(f);
    }
    return NULL;
}

static void refresh_while_asked(const char *suffix)
{
    const char *const place = folder;
    pthread_t threads[N_THREADS];
    uint32_t n_wrong[N_THREADS] = {0};

    (void)snprintf(strrchr(folder, '-') + 1, sizeof "XXXXXX", "XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++)
        snprintf(files[i], sizeof files[i], "%s/rank%d%s", folder, i, suffix);
    atomic_store_explicit(&is_over, false, memory_order_relaxed); /* no thread runs yet */
    assert_int_equal(write_file(0, 1000, N_LASTING) | write_file(1, 1000, 1), 0);
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

static void questions_go_on_while_the_set_is_refreshed(void **state)
{
    (void)state;
    is_columns = false;
    refresh_while_asked(".json");
    is_columns = true;
    refresh_while_asked(".osc");
}

/* --- files that change in place ------------------------------------------------------- */

/* Write the N bytes at TEXT into the file PLACE, as `cp` and `rsync --inplace` do. */
static void overwrite(const char *place, const char *text, size_t n)
{
    FILE *const f = fopen(place, "w");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

struct spoiler {
    pthread_t thread;
    const char *place;
    char *text; /* owned; of the file, as it was */
    size_t n;
};

/* Empty the file, cut it, fill it with something else and write it again, until the end. */
static void *spoil(void *arg)
{
    const struct spoiler *const s = arg;
    char *const other = osc_malloc(s->n);

    assert_non_null(other);
    memset(other, 0x7f, s->n);
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        overwrite(s->place, other, s->n);
        overwrite(s->place, other, 0);
        overwrite(s->place, s->text, s->n / 2);
        overwrite(s->place, s->text, s->n);
    }
    osc_free(other);
    return NULL;
}

static void read_whole(struct spoiler *s)
{
    FILE *const f = fopen(s->place, "r");
    struct stat info;

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &info), 0);
    s->n = (size_t)info.st_size;
    assert_true(s->n > 16384); /* a smaller file is read as a whole while it is opened */
    s->text = osc_malloc(s->n);
    assert_non_null(s->text);
    assert_int_equal(fread(s->text, 1, s->n, f), s->n);
    fclose(f);
}

/*
 * What was opened gives the answers that it gave. Whatever is opened meanwhile is read as far
 * as it is there, or refused.
 */
static void files_may_be_overwritten_in_place(void **state)
{
    static char place[] = "/tmp/opscope-spoiled-XXXXXX";
    static char trace[] = "/tmp/opscope-to-spoil-XXXXXX";
    const char *const places = place;
    const int fd = mkstemp(place);
    struct spoiler s = {.place = place};
    uint64_t expected[TABLES];

    (void)state;
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(write_trace(trace, 1000), 0);
    assert_int_equal(export_columns(trace, place), 0);
    osc_set_release(set);
    assert_int_equal(osc_set_open(&set, &places, 1, NULL, NULL), OSC_OK);
    for (uint32_t i = 0; i < n_tables; i++)
        expected[i] = ask(i, 0, NULL);
    osc_set_release(set);
    assert_int_equal(osc_set_open(&set, &places, 1, NULL, NULL), OSC_OK); /* without facts */
    read_whole(&s);
    atomic_store_explicit(&is_over, false, memory_order_relaxed); /* no thread runs yet */
    assert_int_equal(pthread_create(&s.thread, NULL, spoil, &s), 0);
    for (uint32_t i = 0; i < n_tables; i++) {
        struct osc_set *other = NULL;

        assert_int_equal(ask(i, 0, NULL), expected[i]);
        if (osc_set_open(&other, &places, 1, NULL, NULL) == OSC_OK) {
            const struct osc_question q = {.table = osc_catalog_name(i)};
            struct osc_frame *f = NULL;

            (void)!osc_ask(other, NULL, &q, &f, NULL);
            osc_frame_release(f);
        }
        osc_set_release(other);
    }
    atomic_store_explicit(&is_over, true, memory_order_relaxed); /* a hint: it is joined */
    assert_int_equal(pthread_join(s.thread, NULL), 0);
    osc_free(s.text);
    assert_int_equal(unlink(place) | unlink(trace), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_get_the_answers_of_one_alone),
        cmocka_unit_test_setup_teardown(first_questions_may_come_at_the_same_time, write_kinds,
                                        remove_kinds),
        cmocka_unit_test(questions_go_on_while_the_set_is_refreshed),
        cmocka_unit_test(files_may_be_overwritten_in_place)};

    return cmocka_run_group_tests_name("shared set", tests, set_up, tear_down);
}
