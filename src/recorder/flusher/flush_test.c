/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/flush.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "recorder/live/blocks.h"
#include "recorder/thread/losses.h"
#include "support/flushed.h"
#include "wire/control.h"

TEST_WITH(what_threads_recorded_is_in_the_file, make_folder, remove_folder)
{
    const struct osc_start_options o = options();
    struct osc_losses lost;
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    assert_int_equal(access(live, F_OK), 0);
    run_threads(2, 100000);
    osc_instant(osc_name_c("last"));
    osc_losses_get(&lost);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(access(live, F_OK), -1);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_BEGIN + OSC_SCOPE_OPERATOR] +
                         r.n_kinds[OSC_RECORD_END] + lost.full,
                     400000);
    assert_int_equal(r.n_unfinished, 0);
    assert_int_equal(r.end.reason, OSC_END_STOPPED);
    assert_int_equal(r.n_chunks[OSC_CHUNK_PROCESS], 1);
    assert_int_equal(r.n_chunks[OSC_CHUNK_INDEX], 1);
    assert_in_range(r.n_chunks[OSC_CHUNK_CLOCK], 1, 10);
    assert_in_range(r.n_threads, 3, 10);
    assert_int_equal(r.n_names, 1);
    assert_true(recording_has_name(&r, r.names[0], "last"));
    assert_int_equal(n_ready, 1); /* everything is one window */
    assert_string_equal(ready[0], out);
    recording_free(&r);
}

TEST_WITH(a_kind_that_is_none_is_that_of_a_scope, make_folder, remove_folder)
{
    static const int kinds[] = {99, -1, 255, OSC_SCOPE_KIND_COUNT};
    const struct osc_start_options o = options();
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    for (unsigned i = 0; i < 4; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): as programs do. */
        const enum osc_scope_kind kind = (enum osc_scope_kind)kinds[i];

        osc_begin(kind, 1);
        osc_begin_at(kind, 1, osc_now());
        osc_complete(kind, 1, osc_now());
        osc_complete_at(kind, 1, osc_now(), osc_now());
        osc_end();
        osc_end();
    }
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_BEGIN + OSC_SCOPE_PLAIN], 8);
    assert_int_equal(r.n_kinds[OSC_RECORD_COMPLETE + OSC_SCOPE_PLAIN], 8);
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 8);
    recording_free(&r);
}

TEST_WITH(what_was_cut_or_lost_by_no_thread_is_in_the_file, make_folder, remove_folder)
{
    static char text[4096];
    const struct osc_start_options o = options();
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    memset(text, 'x', sizeof text);
    osc_instant(osc_name_c("long"));
    osc_arg_text(osc_name_c("key"), text, sizeof text);
    osc_arg_json(osc_name_c("key"), text, sizeof text);
    osc_losses_add(OSC_LOSS_FULL, 3);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.end.lost[OSC_LOSS_TOO_BIG], 2);
    assert_int_equal(r.end.lost[OSC_LOSS_FULL], 3);
    recording_free(&r);
}

/* A quarter of a second is enough for the flusher to write full blocks. */
TEST_WITH(a_small_buffer_is_written_before_it_is_full, make_folder, remove_folder)
{
    enum { ROUNDS = 6, INSTANTS = 6000 }; /* six blocks of sixteen */
    struct osc_start_options o = options();
    struct osc_losses lost;

    o.buffer_bytes = (uint64_t)16 * OSC_BLOCK_BYTES;
    assert_int_equal(osc_start(&o), OSC_OK);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < INSTANTS; i++)
            osc_instant(osc_name_c("often"));
        nap_ms(250);
    }
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 0);
    assert_int_equal(osc_stop(), OSC_OK);
}

TEST_WITH(threads_that_come_and_go_are_told_once_each, make_folder, remove_folder)
{
    const struct osc_start_options o = options();
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    for (int i = 0; i < 300; i++) {
        run_threads(4, 1);
        /* Each thread took a block: without a pause they would outrun the flusher on a busy
         * machine. */
        if (i % 30 == 0)
            assert_int_equal(osc_dump(), OSC_OK);
    }
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 1200);
    recording_free(&r);
}

TEST_WITH(parts_stay_below_the_limit, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    uint64_t bytes = 0, n_parts = 0, n_whole = 0, n_last = 0;
    struct recording r;

    o.limit_bytes = 2 << 20;
    assert_int_equal(osc_start(&o), OSC_OK);
    for (int i = 0; i < 40; i++) {
        run_threads(1, 50000);
        nap_ms(5);
    }
    /* On a busy machine the scopes may have filled all blocks: make room for the last record.
     */
    assert_int_equal(osc_dump(), OSC_OK);
    osc_instant(osc_name_c("last"));
    assert_int_equal(osc_stop(), OSC_OK);
    for (unsigned part = 1; part < 200; part++) {
        if (!read_part(&r, part))
            continue;
        n_parts++;
        bytes += r.len;
        n_whole += r.n_chunks[OSC_CHUNK_PROCESS] == 1 && r.n_chunks[OSC_CHUNK_CLOCK] >= 1 &&
                   r.n_chunks[OSC_CHUNK_STRINGS] >= 1 && r.n_chunks[OSC_CHUNK_THREADS] >= 1;
        /* It may end a part that the last one continues. */
        n_last += r.n_names > 0 && recording_has_name(&r, r.names[0], "last");
        if (r.end.reason != OSC_END_STOPPED)
            assert_int_equal(r.end.reason, OSC_END_CONTINUED);
        recording_free(&r);
    }
    assert_int_equal(n_last, 1);
    assert_in_range(n_parts, 3, 20);
    assert_int_equal(n_whole, n_parts);
    assert_in_range(bytes, 1 << 19, 2 << 20);
}

/* Each window is in its own file; steps outside of windows are not written. */
TEST_WITH(each_window_is_a_file, make_folder, remove_folder)
{
    const struct osc_schedule schedule = {.wait = 1, .warmup = 1, .active = 2, .repeat = 2};
    struct osc_start_options o = options();
    struct recording r;
    uint64_t last = 0;

    o.schedule = &schedule;
    assert_int_equal(osc_start(&o), OSC_OK);
    osc_thread_name("main");
    for (int i = 0; i < 12; i++)
        last = step();
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(n_ready, 2);
    for (unsigned part = 1; part <= 2; part++) {
        assert_true(read_part(&r, part));
        assert_int_equal(r.end.reason, OSC_END_WINDOW);
        assert_int_equal(r.n_steps, 2);
        assert_int_equal(r.steps[0], last - 11 + (uint64_t)4 * part - 2);
        assert_int_equal(r.steps[1], last - 11 + (uint64_t)4 * part - 1);
        assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], 2);
        assert_int_equal(r.n_kinds[OSC_RECORD_INSTANT], 2);
        assert_int_equal(r.n_kinds[OSC_RECORD_THREAD_NAME], 1);
        assert_int_equal(r.n_chunks[OSC_CHUNK_PROCESS], 1);
        assert_true(recording_has_name(&r, r.names[0], "in a step"));
        recording_free(&r);
    }
    assert_false(read_part(&r, 3));
}

TEST_WITH(a_window_that_the_end_cuts_is_handed_over, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    struct recording r;

    setenv("OPSCOPE_SCHEDULE", "wait=1,active=3", 1);
    assert_int_equal(osc_start(&o), OSC_OK);
    step();
    const uint64_t first = step();
    (void)osc_step_if_ended(); /* stays open at the end */
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(n_ready, 1);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.end.reason, OSC_END_STOPPED);
    assert_int_equal(r.n_steps, 2);
    assert_int_equal(r.steps[0], first);
    assert_int_equal(r.n_kinds[OSC_RECORD_STEP_END], 1);
    recording_free(&r);
}

TEST_WITH(signals_dump_and_toggle, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    struct recording r;

    setenv("OPSCOPE_SCHEDULE", "flight=20s,signal=USR2,toggle=USR1", 1);
    assert_int_equal(osc_start(&o), OSC_OK);
    osc_instant(osc_name_c("first"));
    raise(SIGUSR2);
    wait_until_ready();
    assert_int_equal(n_ready, 1);
    raise(SIGUSR1);
    nap_ms(300);
    osc_instant(osc_name_c("second"));
    raise(SIGUSR1);
    nap_ms(300);
    osc_instant(osc_name_c("third"));
    assert_int_equal(osc_dump(), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_names, 1);
    recording_free(&r);
    assert_true(read_part(&r, 2));
    assert_int_equal(r.n_names, 2);
    assert_true(recording_has_name(&r, r.names[1], "third"));
    recording_free(&r);

    struct sigaction now;
    sigaction(SIGUSR2, NULL, &now);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
}

static void host_handler(int number)
{
    _exit(number == SIGSEGV ? 42 : 43);
}

/* Let a child crash; returns its exit status. */
static int crash(int number, bool has_handler)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct osc_start_options o = options();
        const struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        if (has_handler)
            signal(number, host_handler);
        else
            signal(number, SIG_DFL);
        o.flight_steps = 2;
        o.dump_on_crash = 1;
        o.trace_ready = NULL;
        if (osc_start(&o) != OSC_OK)
            _exit(1);
        for (int i = 0; i < 10; i++)
            step();
        if (number == SIGABRT)
            abort();
        raise(number);
        _exit(2);
    }
    waitpid(pid, &status, 0);
    return status;
}

TEST_WITH(a_child_that_crashes_waits_for_nobody, make_folder, remove_folder)
{
    struct osc_start_options o = options();
    struct timespec before, after;
    int status = 0;

    o.dump_on_crash = 1;
    signal(SIGBUS, SIG_DFL); /* instead of cmocka's handler */
    assert_int_equal(osc_start(&o), OSC_OK);
    osc_instant(osc_name_c("parent"));
    clock_gettime(CLOCK_MONOTONIC, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        raise(SIGBUS);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0); /* sanitizers exit instead */
    assert_in_range(after.tv_sec - before.tv_sec, 0, 2);
    assert_int_equal(osc_stop(), OSC_OK);
}

TEST_WITH(a_crash_is_written_and_goes_on, make_folder, remove_folder)
{
    struct recording r;

    int status = crash(SIGSEGV, false);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.end.reason, OSC_END_CRASHED);
    assert_int_equal(r.n_steps, 3);
    recording_free(&r);

    remove_folder_files();
    mkdir(folder, 0700);
    status = crash(SIGSEGV, true);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.end.reason, OSC_END_CRASHED);
    recording_free(&r);

    remove_folder_files();
    mkdir(folder, 0700);
    status = crash(SIGABRT, false);
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(read_part(&r, 1));
    recording_free(&r);
}

/* Send COMMAND to the control socket; returns the answer, without its newline. */
static const char *ask_control(const char *command)
{
    static char line[OSC_CONTROL_LINE_MAX];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t len = 0;

    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", live, OSC_CONTROL_SOCKET);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, command, strlen(command), 0), strlen(command));
    for (ssize_t n; len < sizeof line; len += (size_t)n) {
        n = recv(fd, line + len, sizeof line - len, 0);
        if (n <= 0)
            break;
    }
    close(fd);
    assert_in_range(len, 1, sizeof line);
    assert_int_equal(line[len - 1], '\n');
    line[len - 1] = '\0';
    return line;
}

TEST_WITH(the_socket_answers, make_folder, remove_folder)
{
    const struct osc_start_options o = options();
    struct recording r;
    char expected[200];
    struct stat st;
    char path[200];

    assert_int_equal(osc_start(&o), OSC_OK);
    snprintf(path, sizeof path, "%s/%s", live, OSC_CONTROL_SOCKET);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    osc_instant(osc_name_c("first"));
    snprintf(expected, sizeof expected, "ok state=recording pid=%d path=%s ", (int)getpid(),
             out);
    assert_memory_equal(ask_control("status\n"), expected, strlen(expected));
    assert_string_equal(ask_control("stop\n"), "ok state=paused");
    assert_string_equal(ask_control("stop\n"), "ok state=paused");
    osc_instant(osc_name_c("second"));
    assert_string_equal(ask_control("start\n"), "ok state=recording");
    osc_instant(osc_name_c("third"));
    snprintf(expected, sizeof expected, "ok path=%s", out);
    assert_string_equal(ask_control("dump\n"), expected);
    assert_true(recording_read(&r, out));
    assert_int_equal(r.n_names, 2);
    recording_free(&r);
    assert_string_equal(ask_control("fly\n"), "error unknown command");
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(recording_read(&r, out));
    assert_int_equal(r.n_names, 2);
    recording_free(&r);
}

/* Record, leave a child that does not record, and end as if killed. */
static void leave_a_child(const int gate[2])
{
    const struct osc_start_options o = options();

    if (osc_start(&o) != OSC_OK)
        _exit(1);
    if (fork() == 0) {
        char end;

        close(gate[1]);
        _exit((int)read(gate[0], &end, 1));
    }
    _exit(0);
}

TEST_WITH(a_child_does_not_keep_the_socket, make_folder, remove_folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int gate[2], status = 1;

    snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", live, OSC_CONTROL_SOCKET);
    assert_int_equal(pipe(gate), 0);
    const pid_t pid = fork();
    if (pid == 0)
        leave_a_child(gate);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    /* The child may not have got that far yet. */
    for (int i = 0; i < 500 && status == 0; i++) {
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            status = errno;
        close(fd);
        nap_ms(10);
    }
    assert_int_equal(status, ECONNREFUSED);
    close(gate[0]);
    close(gate[1]);
}

/* Wait until the flusher has added most of the blocks that it adds at the start. */
static void wait_for_blocks(void)
{
    while (osc_blocks_free() < 480)
        nap_ms(1);
}

TEST_WITH(a_full_disk_stops_writing_and_nothing_else, make_folder, remove_folder)
{
    const struct osc_start_options o = options();
    struct rlimit old, low;
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    run_threads(1, 5000);
    wait_for_blocks();
    assert_int_equal(osc_dump(), OSC_OK);
    getrlimit(RLIMIT_FSIZE, &old);
    low = (struct rlimit){30000, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    run_threads(1, 50000);
    assert_int_equal(osc_dump(), OSC_EIO);
    assert_non_null(strstr(ask_control("status\n"), " error=27"));
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 5000);
    recording_free(&r);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(osc_dump(), OSC_OK);
    assert_null(strstr(ask_control("status\n"), "error"));
    assert_int_equal(osc_stop(), OSC_OK);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_END], 55000);
    recording_free(&r);

    assert_int_equal(osc_start(&o), OSC_OK);
    wait_for_blocks();
    run_threads(1, 50000);
    setrlimit(RLIMIT_FSIZE, &low);
    assert_int_equal(osc_stop(), OSC_EIO);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(access(live, F_OK), 0); /* it holds the rest */
}

TEST_WITH(a_file_that_somebody_removes_is_told_and_goes_on, make_folder, remove_folder)
{
    const struct osc_start_options o = options();
    struct recording r;

    assert_int_equal(osc_start(&o), OSC_OK);
    osc_instant(osc_name_c("before"));
    assert_int_equal(osc_dump(), OSC_OK);
    assert_int_equal(unlink(out), 0);
    osc_instant(osc_name_c("after"));
    assert_int_equal(osc_stop(), OSC_EIO);
    assert_int_equal(access(live, F_OK), -1);
    assert_true(read_part(&r, 1));
    assert_int_equal(r.n_kinds[OSC_RECORD_INSTANT], 1);
    assert_int_equal(r.n_names, 1);
    assert_true(recording_has_name(&r, r.names[0], "after"));
    assert_int_equal(r.n_chunks[OSC_CHUNK_PROCESS], 1);
    assert_int_equal(r.end.reason, OSC_END_STOPPED);
    assert_int_equal(r.end.write_error, ENOENT);
    recording_free(&r);
    assert_int_equal(osc_start(&o), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
}

TEST_WITH(where_nothing_can_be_written_nothing_starts, make_folder, remove_folder)
{
    struct osc_start_options o = options();

    o.out = "/proc/self/run.osc";
    assert_int_not_equal(osc_start(&o), OSC_OK);
    assert_int_equal(osc_is_on(), 0);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(osc_dump(), OSC_OK);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    return unit_run("flush", NULL, NULL);
}
