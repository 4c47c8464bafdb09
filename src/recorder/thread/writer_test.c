/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/thread/writer.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "opscope/record.h"
#include "recorder/live/blocks.h"
#include "support/recorded.h"
#include "support/single_step.h"
#include "support/unit.h"

static struct recorded rec;

static uint64_t sum_of(const struct osc_losses *l)
{
    return l->full + l->too_big + l->nested + l->late;
}

/* --- in order ----------------------------------------------------------------------- */

enum { N_SCOPES = 20000, N_THREADS = 4 };

static void *record_scopes(void *arg)
{
    const osc_name mine = (osc_name)(uintptr_t)arg;

    for (int i = 0; i < N_SCOPES; i++) {
        osc_begin(OSC_SCOPE_OPERATOR, mine);
        const uint64_t start = osc_now();
        osc_complete(OSC_SCOPE_PLAIN, mine, start);
        osc_arg_i64(mine, i);
        osc_end();
    }
    return NULL;
}

/* Counts the records of each thread: 4 per scope. */
struct order {
    uint32_t at[N_THREADS + 2];
    osc_name name[N_THREADS + 2];
    uint64_t last_ticks[N_THREADS + 2];
    uint64_t n_wrong;
};

static void see_order(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    static const uint8_t kinds[] = {OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR,
                                    OSC_RECORD_COMPLETE + OSC_SCOPE_PLAIN, OSC_RECORD_ARG_I64,
                                    OSC_RECORD_END};
    struct order *o = ctx;

    assert_in_range(thread, 1, N_THREADS);
    const uint32_t at = o->at[thread]++;

    o->n_wrong += r->kind != kinds[at % 4];
    if (r->kind == OSC_RECORD_ARG_I64) {
        o->n_wrong += r->value != at / 4;
        return;
    }
    o->n_wrong += r->ticks < o->last_ticks[thread];
    o->last_ticks[thread] = r->ticks;
    if (at == 0)
        o->name[thread] = r->id;
    if (r->kind != OSC_RECORD_END)
        o->n_wrong += r->id != o->name[thread];
}

TEST(records_what_each_thread_calls_in_its_order)
{
    pthread_t threads[N_THREADS];
    struct order order = {0};

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = see_order;
    rec.ctx = &order;
    for (uintptr_t i = 0; i < N_THREADS; i++)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the thread */
        assert_int_equal(pthread_create(&threads[i], NULL, record_scopes, (void *)(i + 100)),
                         0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(order.n_wrong, 0);
    assert_int_equal(rec.n_unfinished, 0);
    assert_int_equal(rec.n_threads, N_THREADS);
    assert_int_equal(rec.all.begins, N_THREADS * N_SCOPES);
    assert_int_equal(rec.all.completes, N_THREADS * N_SCOPES);
    assert_int_equal(rec.all.n[OSC_RECORD_END], N_THREADS * N_SCOPES);
}

/* --- signals ------------------------------------------------------------------------- */

static volatile uint64_t handled;

static void record_in_handler(int signal)
{
    (void)signal;
    osc_begin(OSC_SCOPE_ANNOTATION, 5);
    osc_counter_i64(6, 7);
    osc_end();
    handled = handled + 1;
}

static void storm(bool is_on)
{
    struct sigaction sa = {.sa_handler = record_in_handler};
    const struct itimerval t = {.it_interval = {.tv_usec = is_on ? 20 : 0},
                                .it_value = {.tv_usec = is_on ? 20 : 0}};

    if (is_on)
        assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
}

TEST(loses_nothing_uncounted_in_a_storm_of_signals)
{
    struct osc_losses lost;
    uint64_t n = 0;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    handled = 0;
    storm(true);
    for (; handled < 3000 && n < 20000000; n++) {
        osc_begin(OSC_SCOPE_PLAIN, 1);
        osc_instant(2);
        osc_end();
    }
    storm(false);
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.n_unfinished, 0);
    assert_int_equal(rec.all.begins + rec.all.n[OSC_RECORD_INSTANT] +
                         rec.all.n[OSC_RECORD_COUNTER_I64] + rec.all.n[OSC_RECORD_END] +
                         sum_of(&lost),
                     3 * n + 3 * handled);
    assert_true(rec.least_depth >= 0);
    assert_int_equal(rec.depth[1], 0);
}

#if CAN_STEP
static void record_at_trap(int signal)
{
    static uint64_t n_traps;
    /* Not at every trap, so that some calls run undisturbed; occasionally enough to change
     * blocks. The period is prime, so that over time it hits every place in a call. */
    const uint64_t n = ++n_traps % 7 != 0 ? 0 : n_traps % 91 != 0 ? 1 : 40;

    (void)signal;
    for (uint64_t i = 0; i < n; i++) {
        osc_begin(OSC_SCOPE_ANNOTATION, 5);
        osc_counter_i64(6, 7);
        osc_end();
    }
    handled = handled + n;
}

/* Whether all losses are recorded before the next record on the fast path. */
static bool tells_losses_in_time(void)
{
    const struct osc_writer *w = osc_writer_self;

    return w->untold == 0 || w->epoch == 0;
}

TEST(bears_a_signal_between_any_two_instructions)
{
    struct sigaction sa = {.sa_handler = record_at_trap}, before;
    const struct osc_scope_arg arg = {OSC_SCOPE_ARG_I64, 2, 3};
    struct osc_losses lost;
    const uint64_t n = 60;

    assert_int_equal(recorded_begin(&rec, (uint64_t)256 << 20), OSC_OK);
    handled = 0;
    assert_int_equal(sigaction(SIGTRAP, &sa, &before), 0);
    for (uint64_t i = 0; i < n; i++) {
        if (i % 10 == 0)
            (void)osc_dump(); /* to free blocks */
        step(true);
        osc_begin_with(OSC_SCOPE_PLAIN, 1, &arg, 1);
        osc_memory_alloc(OSC_DEVICE_CPU, 0x1000, 64);
        osc_instant(2);
        osc_end();
        step(false);
        assert_true(tells_losses_in_time());
    }
    assert_int_equal(sigaction(SIGTRAP, &before, NULL), 0);
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_true(handled > 10 * n);
    assert_int_equal(rec.n_unfinished, 0);
    assert_int_equal(rec.all.begins + rec.all.n[OSC_RECORD_INSTANT] + rec.all.args +
                         rec.all.n[OSC_RECORD_COUNTER_I64] + rec.all.n[OSC_RECORD_END] +
                         rec.all.n[OSC_RECORD_ALLOC] + sum_of(&lost),
                     5 * n + 3 * handled);
    assert_true(rec.least_depth >= 0);
    assert_int_equal(rec.depth[1], 0);
    print_message("%llu times a handler, %llu of its calls dropped and counted\n",
                  (unsigned long long)handled, (unsigned long long)lost.nested);
}
#endif

/* --- gaps ---------------------------------------------------------------------------- */

/* All blocks except this thread's, which then cannot get another. They are taken for this
 * thread, because the flusher takes over those of threads that have ended. */
static struct osc_block *hoard[64];

static void take_all_blocks(void)
{
    for (int i = 0; (hoard[i] = osc_blocks_take(osc_writer_self->ordinal, 0)); i++)
        /* release: the flusher takes it for free, and does not read it any more. */
        __atomic_store_n(&hoard[i]->state, OSC_BLOCK_FREE, __ATOMIC_RELEASE);
}

static void give_blocks_back(void)
{
    for (int i = 0; hoard[i]; i++)
        osc_blocks_give_back(hoard[i]);
}

/* Fill the block of this thread to its end. */
static uint64_t fill_block(void)
{
    uint64_t n = 0;
    struct osc_losses lost = {0};

    for (; lost.full == 0; n++) {
        osc_instant(3);
        osc_losses_get(&lost);
    }
    return n - 1;
}

/* The records after the last INSTANT of fill_block(). */
struct tail {
    uint8_t kind[32];
    uint64_t ticks[32], word[32];
    uint32_t n;
};

static void see_tail(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    struct tail *t = ctx;

    (void)thread;
    if (r->kind == OSC_RECORD_INSTANT && r->id == 3)
        t->n = 0;
    else if (t->n < 32) {
        t->kind[t->n] = r->kind;
        t->word[t->n] = r->words[0];
        t->ticks[t->n++] = r->ticks;
    }
}

static void begin_gap(struct tail *tail)
{
    memset(tail, 0, sizeof *tail);
    assert_int_equal(recorded_begin(&rec, UINT64_C(16) * OSC_BLOCK_BYTES), OSC_OK);
    rec.look = see_tail;
    rec.ctx = tail;
}

TEST(drops_counts_and_tells_where_records_are_missing)
{
    struct tail t;
    struct osc_losses lost;

    begin_gap(&t);
    osc_instant(1);
    take_all_blocks();
    (void)fill_block();
    for (int i = 0; i < 9; i++)
        osc_counter_i64(1, i);
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 10);
    give_blocks_back();
    osc_counter_i64(1, 100);
    osc_counter_i64(1, 101);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 10);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.kind[0], OSC_RECORD_LOST);
    assert_int_equal(t.kind[1], OSC_RECORD_COUNTER_I64);
    assert_int_equal(t.word[1], 100);
    assert_int_equal(t.word[2], 101);
}

TEST(swallows_the_ends_of_begins_that_were_dropped)
{
    struct tail t;

    begin_gap(&t);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    take_all_blocks();
    (void)fill_block();
    osc_begin(OSC_SCOPE_PLAIN, 2); /* dropped */
    osc_arg_i64(9, 9);             /* its argument */
    give_blocks_back();
    osc_arg_i64(9, 9); /* still its argument */
    osc_begin(OSC_SCOPE_MODULE, 3);
    osc_arg_i64(9, 10);
    osc_end();          /* of MODULE */
    osc_end();          /* dropped with its begin */
    osc_arg_i64(9, 11); /* of the first one */
    osc_end();
    osc_begin(OSC_SCOPE_PYTHON, 4); /* recorded as usual */
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);

    static const uint8_t expected[] = {OSC_RECORD_LOST,    OSC_RECORD_BEGIN + OSC_SCOPE_MODULE,
                                       OSC_RECORD_ARG_I64, OSC_RECORD_END,
                                       OSC_RECORD_LOST,    OSC_RECORD_ARG_I64,
                                       OSC_RECORD_END,     OSC_RECORD_BEGIN + OSC_SCOPE_PYTHON,
                                       OSC_RECORD_END};

    assert_int_equal(t.n, sizeof expected);
    assert_memory_equal(t.kind, expected, sizeof expected);
    /* The instant at the end of the block, the begin, two arguments, and the end. */
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 5);
    assert_int_equal(rec.depth[1], 0);
    assert_int_equal(rec.least_depth, 0);
}

TEST(writes_ends_that_found_no_room_later_with_their_times)
{
    struct tail t;
    uint64_t before, after;

    begin_gap(&t);
    for (int i = 0; i < 100; i++)
        osc_begin(OSC_SCOPE_PLAIN, 1);
    take_all_blocks();
    (void)fill_block();
    before = osc_now();
    osc_end();
    osc_end();
    after = osc_now();
    for (int i = 2; i < 100; i++)
        osc_end();
    give_blocks_back();
    osc_counter_i64(1, 1);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.depth[1], 0);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 100);
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 1);
    assert_in_range(t.ticks[0], before, after);
    assert_in_range(t.ticks[1], t.ticks[0], after);
}

static void *owe_ends(void *arg)
{
    for (int i = 0; i < 100; i++)
        osc_begin(OSC_SCOPE_PLAIN, 1);
    take_all_blocks();
    (void)fill_block();
    for (int i = 0; i < 100; i++)
        osc_end();
    return arg;
}

TEST(counts_ends_that_never_found_room)
{
    struct osc_losses lost;
    struct tail t;
    pthread_t thread;

    begin_gap(&t);
    (void)owe_ends(NULL);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 101);
    begin_gap(&t);
    assert_int_equal(pthread_create(&thread, NULL, owe_ends, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 101);
    assert_int_equal(recorded_end(&rec), OSC_OK);
}

TEST(keeps_the_nesting_beyond_64_missing_levels)
{
    struct tail t;

    begin_gap(&t);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    take_all_blocks();
    (void)fill_block();
    for (int i = 0; i < 150; i++)
        osc_begin(OSC_SCOPE_PLAIN, 2);
    give_blocks_back();
    for (int i = 0; i < 150; i++)
        osc_end();
    osc_begin(OSC_SCOPE_MODULE, 1);
    osc_end();
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 301);
    assert_int_equal(rec.all.begins, 2);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 2);
    assert_int_equal(rec.least_depth, 0);
}

TEST(records_in_a_pause_that_is_deep)
{
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_pause();
    for (int i = 0; i < 1000; i++)
        osc_begin(OSC_SCOPE_PLAIN, 2);
    osc_resume();
    for (int i = 0; i < 100; i++)
        osc_begin(OSC_SCOPE_PLAIN, 3);
    for (int i = 0; i < 1101; i++)
        osc_end();
    osc_begin(OSC_SCOPE_PLAIN, 4);
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, 102);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 102);
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 0);
    assert_int_equal(rec.least_depth, 0);
}

TEST(keeps_the_nesting_of_pauses_in_pauses)
{
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    for (int i = 0; i < 100; i++) { /* more than fit in `runs` */
        osc_pause();
        osc_begin(OSC_SCOPE_PLAIN, 1);
        osc_resume();
        osc_begin(OSC_SCOPE_PLAIN, 2);
    }
    for (int i = 0; i < 200; i++)
        osc_end();
    osc_begin(OSC_SCOPE_PLAIN, 3);
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins + rec.all.lost[OSC_LOSS_FULL] / 2, 101);
    assert_int_equal(rec.all.n[OSC_RECORD_END], rec.all.begins);
    assert_int_equal(rec.least_depth, 0);
    assert_int_equal(rec.depth[1], 0);
}

/* Scopes with an argument each of which only those of osc_begin() were not paused. */
static uint64_t opened_in_a_pause(osc_name name)
{
    osc_pause();
    const uint64_t token = osc_scope_open(OSC_SCOPE_PLAIN, name);

    osc_resume();
    return token;
}

/* Nothing is left of what was missing: all of this is recorded, in the fast way. */
static void assert_all_is_recorded(osc_name name)
{
    osc_begin(OSC_SCOPE_PLAIN, name);
    osc_arg_i64(name, 1);
    osc_end();
    assert_true(osc_writer_is_everyday(osc_writer_self));
    assert_true(osc_writer_self->epoch != 0);
}

TEST(forgets_missing_scopes_that_end_out_of_order)
{
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const osc_name name = osc_name_of("a", 1);

    osc_begin(OSC_SCOPE_PLAIN, name);
    const uint64_t a = opened_in_a_pause(name);
    const uint64_t b = osc_scope_open(OSC_SCOPE_PLAIN, name);
    const uint64_t c = opened_in_a_pause(name), d = opened_in_a_pause(name);
    const uint64_t e = osc_scope_open(OSC_SCOPE_PLAIN, name);

    osc_scope_close(c);
    osc_arg_i64(name, 1); /* of e */
    osc_scope_close(b);
    osc_scope_close(e);
    osc_arg_i64(name, 2); /* of d, which is missing */
    osc_scope_close(a);
    osc_scope_close(d);
    assert_all_is_recorded(name);
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, 4);
    assert_int_equal(rec.all.n[OSC_RECORD_END] + rec.all.n[OSC_RECORD_END_OF], 4);
    assert_int_equal(rec.all.n[OSC_RECORD_END_OF], 1); /* b */
    assert_int_equal(rec.all.args, 2);
    assert_int_equal(rec.all.lost[OSC_LOSS_FULL], 0);
}

TEST(forgets_missing_scopes_beyond_64_levels_that_end_out_of_order)
{
    enum { N = 2 * OSC_WRITER_RUNS + 9 };
    uint64_t tokens[N];

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const osc_name name = osc_name_of("a", 1);

    for (int i = 0; i < N; i++)
        tokens[i] = i % 2 ? osc_scope_open(OSC_SCOPE_PLAIN, name) : opened_in_a_pause(name);
    for (int i = 0; i < N; i++)
        osc_scope_close(tokens[i * 7 % N]);
    assert_all_is_recorded(name);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.least_depth, 0);
    assert_int_equal(rec.all.args, 1);
    assert_int_equal(rec.all.begins, rec.all.n[OSC_RECORD_END] + rec.all.n[OSC_RECORD_END_OF]);
}

enum { MOVED = 2 * OSC_WRITER_GONE };

static uint64_t moved[MOVED];
static uint32_t n_moved;

static void *close_moved(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < n_moved; i++)
        osc_scope_close(moved[i]);
    return NULL;
}

/* N scopes of this thread, of which every third is missing, end on another. */
static void move_scopes(uint32_t n, osc_name name)
{
    pthread_t thread;

    for (uint32_t i = 0; i < n; i++)
        moved[i] = i % 3 ? osc_scope_open(OSC_SCOPE_PLAIN, name) : opened_in_a_pause(name);
    n_moved = n;
    assert_int_equal(pthread_create(&thread, NULL, close_moved, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(forgets_missing_scopes_that_end_on_another_thread)
{
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const osc_name name = osc_name_of("a", 1);

    osc_begin(OSC_SCOPE_PLAIN, name);
    for (uint32_t n = 1; n <= MOVED; n = n < 9 ? n + 1 : 2 * n) {
        move_scopes(n, name);
        osc_instant(name); /* finds that they ended */
        assert_all_is_recorded(name);
    }
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, rec.all.n[OSC_RECORD_END] + rec.all.n[OSC_RECORD_END_OF]);
}

/* Other threads must not have the level of this one, however many of its scopes have moved. */
TEST(keeps_levels_of_threads_apart)
{
    assert_int_equal(recorded_begin(&rec, (uint64_t)64 << 20), OSC_OK);
    const osc_name name = osc_name_of("a", 1);
    const uint32_t index = osc_writer_self->level >> OSC_LEVEL_BITS;

    osc_writer_self->level |= OSC_LEVEL_MASK - 2;
    for (int i = 0; i < 5; i++) {
        const uint64_t outer = osc_scope_open(OSC_SCOPE_PLAIN, name);

        assert_int_equal(outer >> 32 >> OSC_LEVEL_BITS, index);
        move_scopes(1, name);
        osc_scope_close(outer);
    }
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.begins, rec.all.n[OSC_RECORD_END] + rec.all.n[OSC_RECORD_END_OF]);
}

TEST(forgets_what_handlers_left_in_an_earlier_recording)
{
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    osc_writer_self->n_nested_ends = 1;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_end();
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 1);
}

TEST(counts_all_of_a_storm_while_there_is_no_room)
{
    struct tail t;
    struct osc_losses lost;
    uint64_t n, filled;

    begin_gap(&t);
    osc_instant(1);
    take_all_blocks();
    filled = fill_block();
    handled = 0;
    storm(true);
    for (n = 0; handled < 500 && n < 20000000; n++) {
        osc_begin(OSC_SCOPE_PLAIN, 1);
        osc_instant(2);
        osc_complete_at(OSC_SCOPE_PLAIN, 2, 1, 2);
        osc_end();
        if (n % 64 == 63 && n < 640) { /* from time to time there is a little room */
            give_blocks_back();
            osc_instant(3);
            take_all_blocks();
            filled++;
        }
    }
    storm(false);
    give_blocks_back();
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    /* Two more: the first instant, and the one at the end of the block. */
    assert_int_equal(rec.all.begins + rec.all.completes + rec.all.n[OSC_RECORD_INSTANT] +
                         rec.all.n[OSC_RECORD_COUNTER_I64] + rec.all.n[OSC_RECORD_END] +
                         sum_of(&lost),
                     4 * n + 3 * handled + filled + 2);
    assert_true(lost.full > 0);
    assert_true(rec.least_depth >= 0);
    assert_int_equal(rec.depth[1], 0);
}

/* --- pauses -------------------------------------------------------------------------- */

TEST(records_only_ends_of_open_scopes_in_a_pause)
{
    struct osc_losses lost;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    osc_begin(OSC_SCOPE_PLAIN, 2);
    osc_pause();
    osc_pause();
    osc_begin(OSC_SCOPE_PLAIN, 3);
    osc_arg_i64(1, 1);
    osc_instant(4);
    osc_end();
    osc_end(); /* of 2 */
    osc_begin(OSC_SCOPE_PLAIN, 5);
    osc_resume();
    osc_instant(4);
    osc_resume();
    osc_begin(OSC_SCOPE_PLAIN, 6);
    osc_end(); /* of 6 */
    osc_end(); /* of 5 */
    osc_end(); /* of 1 */
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(sum_of(&lost), 0);
    assert_int_equal(rec.all.begins, 3);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 3);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 0);
    assert_int_equal(rec.all.n[OSC_RECORD_PAUSE], 1);
    assert_int_equal(rec.all.n[OSC_RECORD_RESUME], 1);
    assert_int_equal(rec.all.args, 0);
    assert_int_equal(rec.least_depth, 0);
}

/* --- kinds --------------------------------------------------------------------------- */

static struct osc_packed seen[32];
static char seen_text[64];
static uint32_t n_seen;

static void see_kinds(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    (void)ctx;
    (void)thread;
    if (r->kind == OSC_RECORD_ARG_TEXT)
        memcpy(seen_text, r->bytes, r->n_bytes < 64 ? r->n_bytes : 63);
    seen[n_seen++ % 32] = *r;
}

TEST(records_values_words_and_bytes_as_they_were_given)
{
    static const int64_t ints[3] = {1, -2, INT64_MAX};
    const double half = 0.5;
    uint64_t bits;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = see_kinds;
    n_seen = 0;
    osc_counter_f64(1, half);
    osc_arg_text(2, "seventeen letters", 17);
    osc_arg_text(2, NULL, 5);
    osc_arg_i64s(2, ints, 3);
    osc_arg_bool(2, 77);
    osc_memory_alloc_total(1, 0x1000, 64, UINT64_MAX, 5);
    osc_async_end(OSC_SCOPE_MODULE, 4, 99);
    osc_complete_at(OSC_SCOPE_PLAIN, 5, 1000, 1500);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    memcpy(&bits, &half, sizeof bits);
    assert_int_equal(n_seen, 8);
    assert_true(seen[0].words[0] == bits);
    assert_string_equal(seen_text, "seventeen letters");
    assert_int_equal(seen[1].n_bytes, 17);
    assert_int_equal(seen[2].n_bytes, 0);
    assert_int_equal(seen[3].value, 3);
    assert_int_equal(seen[4].value, 1);
    assert_int_equal(seen[5].id, 1);
    assert_int_equal(seen[5].words[1], 64);
    assert_true(seen[5].words[2] == UINT64_MAX);
    assert_int_equal(seen[6].words[0], 99);
    assert_int_equal(seen[6].words[1], OSC_SCOPE_MODULE);
    assert_int_equal(seen[7].ticks, 1000);
    assert_int_equal(seen[7].words[0], 500);
}

static uint64_t n_in_order;

/* Scope N begins with N % 17 arguments: their kinds in turn, their values counting up. */
static void see_begin_with(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    static const uint8_t kinds[] = {OSC_RECORD_ARG_I64, OSC_RECORD_ARG_NAME, OSC_RECORD_ARGS};
    static uint32_t scope, arg;

    (void)ctx;
    (void)thread;
    if (r->kind == OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR) {
        scope = r->id;
        arg = 0;
    } else if (r->kind == OSC_RECORD_END) {
        n_in_order += arg == scope % 17;
    } else if (arg < 17 && r->kind == kinds[arg % 3] && r->value == arg) {
        arg++;
    } else {
        arg = 17;
    }
}

TEST(begins_with_arguments_as_if_each_was_called)
{
    static const enum osc_scope_arg_kind kinds[] = {OSC_SCOPE_ARG_I64, OSC_SCOPE_ARG_NAME,
                                                    OSC_SCOPE_ARG_PAIRS};
    struct osc_scope_arg args[16];
    struct osc_losses lost;

    for (uint32_t i = 0; i < 16; i++)
        args[i] = (struct osc_scope_arg){kinds[i % 3], i % 3 == 2 ? 0 : 7, i};
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = see_begin_with;
    n_in_order = 0;
    for (uint32_t n = 1; n <= 3000; n++) {
        osc_begin_with(OSC_SCOPE_OPERATOR, n, args, n % 17);
        osc_end();
    }
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(sum_of(&lost), 0);
    assert_int_equal(rec.all.begins, 3000);
    assert_int_equal(n_in_order, 3000);
}

TEST(cuts_and_counts_what_is_too_big)
{
    static char text[5000];
    static int64_t ints[500];
    struct osc_losses lost;

    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    rec.look = see_kinds;
    n_seen = 0;
    memset(text, 'x', sizeof text);
    osc_arg_json(1, text, 3072);
    osc_arg_json(1, text, 3073);
    osc_arg_i64s(1, ints, 384);
    osc_arg_i64s(1, ints, 500);
    osc_losses_get(&lost);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(lost.too_big, 2);
    assert_int_equal(seen[1].n_bytes, 3072);
    assert_int_equal(seen[3].value, 384);
}

UNIT_MAIN("writer")
