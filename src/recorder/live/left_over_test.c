/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/left_over.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/recorded.h"
#include "support/unit.h"

enum { KILLED = 24 };

static struct recorded rec;

static osc_status start_at(const char *out)
{
    return osc_start(
        &(struct osc_start_options){.size = sizeof(struct osc_start_options), .out = out});
}

/* Start a child that records KILLED instants at REC->out, reports that, and waits to be
 * killed. */
static pid_t record_in_child(void)
{
    int fds[2];
    char byte;

    memset(&rec, 0, sizeof rec);
    (void)strcpy(rec.dir, "/tmp/osc-recorded-XXXXXX");
    assert_non_null(mkdtemp(rec.dir));
    (void)snprintf(rec.out, sizeof rec.out, "%s/t.osc", rec.dir);
    assert_int_equal(pipe(fds), 0);

    const pid_t pid = fork();

    if (pid == 0) {
        if (start_at(rec.out) != OSC_OK)
            _exit(1);
        for (int i = 0; i < KILLED; i++)
            osc_instant(1);
        if (write(fds[1], "x", 1) != 1)
            _exit(2);
        for (;;)
            (void)pause();
    }
    assert_true(pid > 0);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return pid;
}

static void kill_child(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The number of instants in the recording at PATH. */
static uint64_t instants_at(const char *path)
{
    static struct recorded c;

    memset(&c, 0, sizeof c);
    assert_true(snprintf(c.out, sizeof c.out, "%s", path) < (int)sizeof c.out);
    recorded_read(&c);
    return c.all.n[OSC_RECORD_INSTANT];
}

static void record_one_here(void)
{
    assert_int_equal(start_at(rec.out), OSC_OK);
    osc_instant(1);
    assert_int_equal(osc_stop(), OSC_OK);
}

TEST(is_moved_aside_by_the_next_run_and_whole)
{
    char aside[200], live[256], second[200];

    const pid_t pid = record_in_child();

    kill_child(pid);
    /* A part that is not of this recording stays where it is. */
    (void)snprintf(second, sizeof second, "%s/t.2.osc", rec.dir);
    FILE *other = fopen(second, "w");
    assert_non_null(other);
    (void)fclose(other);

    record_one_here();
    assert_int_equal(instants_at(rec.out), 1);
    (void)snprintf(aside, sizeof aside, "%s/t.%d.0.osc", rec.dir, (int)pid);
    assert_int_equal(instants_at(aside), KILLED);
    (void)snprintf(live, sizeof live, "%s.live/ctl", aside);
    assert_int_equal(access(live, F_OK), 0);
    assert_int_equal(access(second, F_OK), 0);
    recorded_remove(rec.dir);
}

TEST(is_not_there_while_its_process_is)
{
    char beside[200], live[200];

    const pid_t pid = record_in_child();

    (void)snprintf(live, sizeof live, "%s.live", rec.out);
    assert_false(osc_left_over_move(rec.out, live));
    record_one_here();
    (void)snprintf(beside, sizeof beside, "%s/t.%d.0.osc", rec.dir, (int)getpid());
    assert_int_equal(instants_at(beside), 1);
    kill_child(pid);
    assert_int_equal(instants_at(rec.out), KILLED);
    recorded_remove(rec.dir);
}

/* So it is for a moment if the flusher adds blocks while a test maps the file. */
TEST(blocks_that_are_counted_but_not_mapped_are_not_read)
{
    static const uint32_t n_blocks = 1 << 20;
    char blocks[256];

    kill_child(record_in_child());
    (void)snprintf(blocks, sizeof blocks, "%s.live/blocks", rec.out);
    const int fd = open(blocks, O_WRONLY | O_CLOEXEC);

    assert_int_equal(
        pwrite(fd, &n_blocks, sizeof n_blocks, offsetof(struct osc_live_header, n_blocks)),
        sizeof n_blocks);
    (void)close(fd);
    assert_int_equal(instants_at(rec.out), KILLED);
    recorded_remove(rec.dir);
}

TEST(is_not_what_somebody_else_calls_so)
{
    char live[200], inside[256];

    memset(&rec, 0, sizeof rec);
    (void)strcpy(rec.dir, "/tmp/osc-recorded-XXXXXX");
    assert_non_null(mkdtemp(rec.dir));
    (void)snprintf(rec.out, sizeof rec.out, "%s/t.osc", rec.dir);
    (void)snprintf(live, sizeof live, "%s.live", rec.out);
    (void)snprintf(inside, sizeof inside, "%s/blocks", live);
    assert_false(osc_left_over_move(rec.out, live));
    assert_int_equal(mkdir(live, 0700), 0);
    assert_false(osc_left_over_move(rec.out, live));
    FILE *f = fopen(inside, "w");
    assert_non_null(f);
    assert_true(fputs("not a recording", f) >= 0);
    (void)fclose(f);
    assert_false(osc_left_over_move(rec.out, live));
    assert_int_equal(access(inside, F_OK), 0);
    recorded_remove(rec.dir);
}

UNIT_MAIN("left_over")
