/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pid.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

static struct osc_pid *shared;

static void *wait_for_a_signal(void *arg)
{
    while (!arg)
        (void)pause();
    return arg;
}

/* A child that has stored in SHARED which process it is, and waits for a signal; its first
 * thread only if IS_FIRST. */
static pid_t start_child(bool is_first)
{
    int fds[2];
    char byte;

    assert_int_equal(pipe(fds), 0);
    const pid_t pid = fork();

    if (pid == 0) {
        pthread_t t;

        osc_pid_get_self(shared);
        if (!is_first && pthread_create(&t, NULL, wait_for_a_signal, NULL) != 0)
            _exit(1);
        if (write(fds[1], "x", 1) != 1)
            _exit(1);
        if (!is_first)
            pthread_exit(NULL);
        (void)wait_for_a_signal(NULL);
    }
    assert_true(pid > 0);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return pid;
}

static int share(void **state)
{
    (void)state;
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : 0;
}

/* Whether this system shows what is needed; a sandbox may not. */
static bool is_shown(const struct osc_pid *p)
{
    static const unsigned char unknown[16];

    return p->space != 0 && p->start_ticks != 0 &&
           memcmp(p->boot_id, unknown, sizeof unknown) != 0;
}

TEST(a_process_runs_until_it_has_ended)
{
    siginfo_t info;
    const pid_t pid = start_child(true);

    if (!is_shown(shared)) {
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        skip();
    }
    assert_int_equal(shared->pid, pid);
    assert_int_equal(osc_pid_find(shared), OSC_PID_RUNS);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(kill(pid, 0), 0); /* its number is still in use */
    assert_int_equal(osc_pid_find(shared), OSC_PID_ENDED);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(osc_pid_find(shared), OSC_PID_ENDED);
}

TEST(a_process_runs_without_its_first_thread)
{
    const pid_t pid = start_child(false);
    const enum osc_pid_life life = osc_pid_find(shared);

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(life, is_shown(shared) ? OSC_PID_RUNS : OSC_PID_UNKNOWN);
}

TEST(a_number_means_nothing_elsewhere_or_later)
{
    struct osc_pid self, p;

    osc_pid_get_self(&self);
    if (!is_shown(&self))
        skip();
    assert_int_equal(osc_pid_find(&self), OSC_PID_RUNS);
    p = self;
    p.start_ticks--;
    assert_int_equal(osc_pid_find(&p), OSC_PID_ENDED);
    p = self;
    p.space++;
    assert_int_equal(osc_pid_find(&p), OSC_PID_UNKNOWN);
    p = self;
    p.boot_id[15] ^= 1;
    assert_int_equal(osc_pid_find(&p), OSC_PID_UNKNOWN);
    p = (struct osc_pid){.pid = self.pid};
    assert_int_equal(osc_pid_find(&p), OSC_PID_UNKNOWN);
    p = self;
    p.pid = UINT32_MAX;
    assert_int_equal(osc_pid_find(&p), OSC_PID_UNKNOWN);
}

int main(void)
{
    return unit_run("pid", share, NULL);
}
