/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_counter.h"

#include <stdlib.h>

#include "support/record_double.h"
#include "support/unit.h"

#define N_THREADS 4
#define N_EACH    1000

TEST(each_recording_counts_for_itself)
{
    static struct osc_source_counter c = {.text = "cuda: lost"};

    (void)state;
    osc_source_counter_add(&c, 5); /* while nothing is recorded */
    osc_on_ = 1;
    double_clear();
    osc_source_counter_add(&c, 2);
    osc_source_counter_add(&c, 3);
    double_recording = 2;
    osc_source_counter_add(&c, 1);
    osc_source_counter_add(&c, 1);
    osc_on_ = 0;
    assert_string_equal(double_log, "counter cuda: lost=2\ncounter cuda: lost=5\n"
                                    "counter cuda: lost=1\ncounter cuda: lost=2\n");
}

TEST(what_is_counted_before_the_first_record_is_in_the_recording)
{
    static struct osc_source_counter c = {.text = "cuda: lost"};

    (void)state;
    osc_on_ = 1;
    double_clear();
    double_recording = 0;
    osc_source_counter_add(&c, 2);
    double_recording = 7;
    osc_source_counter_add(&c, 3);
    osc_on_ = 0;
    assert_string_equal(double_log, "counter cuda: lost=2\ncounter cuda: lost=5\n");
}

static void *add_many(void *counter)
{
    for (int i = 0; i < N_EACH; i++)
        osc_source_counter_add(counter, 1);
    return NULL;
}

TEST(threads_count_together)
{
    static struct osc_source_counter c = {.text = "cuda: lost"};
    pthread_t threads[N_THREADS];

    (void)state;
    osc_on_ = 1;
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &c), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    double_clear();
    osc_source_counter_add(&c, 1);
    osc_on_ = 0;
    assert_string_equal(double_log, "counter cuda: lost=4001\n");
}

UNIT_MAIN("source_counter")
