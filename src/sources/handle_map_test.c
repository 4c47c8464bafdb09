/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/handle_map.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/record_double.h"
#include "support/unit.h"

#define N 5000

static char handles[N * 16];

TEST(values_are_found)
{
    static struct osc_handle_map m = {.lock = PTHREAD_MUTEX_INITIALIZER};

    (void)state;
    assert_int_equal(osc_handle_get(&m, handles), 0);
    for (uint64_t i = 0; i < N; i++)
        assert_true(osc_handle_set(&m, &handles[i * 16], i + 1));
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(osc_handle_get(&m, &handles[i * 16]), i + 1);
    assert_int_equal(osc_handle_get(&m, &handles[8]), 0);
    assert_int_equal(m.n, N);
    assert_true(osc_handle_set(&m, handles, 7)); /* the address is used again */
    assert_int_equal(osc_handle_get(&m, handles), 7);
    assert_int_equal(m.n, N);
}

static struct osc_handle_map shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *set_many(void *first)
{
    for (uint64_t i = *(const uint64_t *)first; i < N; i += 2)
        if (!osc_handle_set(&shared, &handles[i * 16], i + 1))
            return &shared;
    return NULL;
}

TEST(threads_set_and_get)
{
    uint64_t firsts[2] = {0, 1};
    pthread_t threads[2];
    uint64_t n_wrong = 0;

    (void)state;
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, set_many, &firsts[k]), 0);
    for (int round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t value = osc_handle_get(&shared, &handles[i * 16]);

            n_wrong += value != 0 && value != i + 1;
        }
    }
    for (size_t k = 0; k < 2; k++) {
        void *failed;

        assert_int_equal(pthread_join(threads[k], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(n_wrong, 0);
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(osc_handle_get(&shared, &handles[i * 16]), i + 1);
}

TEST(the_child_of_a_fork_finds_no_lock_held)
{
    static struct osc_handle_map m = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int status = -1;

    (void)state;
    assert_true(osc_handle_set(&m, &handles[0], 1));
    pthread_mutex_lock(&m.lock); /* as another thread may while this one forks */
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(10);
        _exit(osc_handle_set(&m, &handles[16], 2) && osc_handle_get(&m, &handles[0]) == 1 ? 5
                                                                                          : 6);
    }
    pthread_mutex_unlock(&m.lock);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 5 << 8);
    assert_int_equal(osc_handle_get(&m, &handles[16]), 0);
}

TEST(handles_without_room_are_counted)
{
    static struct osc_handle_map m = {.lock = PTHREAD_MUTEX_INITIALIZER};
    uint32_t n = 0;

    (void)state;
    osc_on_ = 1;
    double_clear();
    while (n < OSC_HANDLES_MAX + 3 && osc_handle_set(&m, osc_handle_of(n + 1), n + 1))
        n++;
    assert_int_equal(n, OSC_HANDLES_MAX);
    assert_false(osc_handle_set(&m, osc_handle_of(n + 1), 1));
    assert_true(osc_handle_set(&m, osc_handle_of(n), 1));
    osc_on_ = 0;
    assert_string_equal(double_log, "counter sources: handles for which there was no room=1\n"
                                    "counter sources: handles for which there was no room=2\n");
}

UNIT_MAIN("handle_map")
