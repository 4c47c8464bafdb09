/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "opscope/source.h"
#include "recorder/thread/losses.h"
#include "support/children.h"
#include "support/recorded.h"

static struct recorded rec;

/* Count the records of the only recording in the directory of REC that is not called t.osc. */
static struct recorded *read_child(void)
{
    static struct recorded child;
    DIR *d = opendir(rec.dir);

    memset(&child, 0, sizeof child);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) {
        const char *dot = strstr(e->d_name, ".osc");

        if (!dot || strncmp(e->d_name, "t.osc", 5) == 0)
            continue;
        (void)snprintf(child.out, sizeof child.out, "%s/%.*s.osc", rec.dir,
                       (int)(dot - e->d_name), e->d_name);
    }
    (void)closedir(d);
    if (child.out[0] == '\0')
        return NULL;
    recorded_read(&child);
    return &child;
}

/* The number of threads of this process, found without malloc(). */
static long n_threads(void)
{
    char text[1024];
    const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *p;

    (void)close(fd);
    if (n <= 0)
        return -1;
    text[n] = '\0';
    p = strrchr(text, ')');
    for (int i = 0; p && i < 18; i++) /* from the name, field 2, to field 20 */
        p = strchr(p + 1, ' ');
    return p ? strtol(p, NULL, 10) : -1;
}

/* Whether N threads are left, soon: one that was joined may still be counted for a moment. */
static bool has_threads(long n)
{
    for (int i = 0; i < 1000 && n_threads() > n; i++)
        (void)usleep(1000);
    return n_threads() == n;
}

static void act_as_child(void)
{
    struct osc_losses lost;

    osc_end();
    osc_instant(osc_name_c("of the child"));
    osc_instant(osc_name_c("of the child"));
    osc_losses_get(&lost);
    if (lost.full + lost.nested + lost.late + lost.too_big > 0)
        _exit(1);
    (void)osc_stop();
    _exit(0);
}

static void check_parent_and_child(void)
{
    osc_end();
    assert_int_equal(osc_stop(), OSC_OK);
    recorded_read(&rec);
    assert_int_equal(rec.all.begins, 1);
    assert_int_equal(rec.all.n[OSC_RECORD_END], 1);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 0);

    const struct recorded *child = read_child();

    assert_non_null(child);
    assert_int_equal(child->all.begins, 0);
    assert_int_equal(child->all.n[OSC_RECORD_INSTANT], 2);
    recorded_remove(rec.dir);
}

static void records_a_child_of_fork_into_files_of_its_own(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("open at the fork"));
    const pid_t pid = fork();
    if (pid == 0)
        act_as_child();
    wait_for(pid);
    check_parent_and_child();
}

static void records_a_child_of_clone_as_well(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("open at the fork"));
    const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        act_as_child();
    wait_for((pid_t)pid);
    check_parent_and_child();
}

/* Locks of libc that threads of the parent hold are never released in such a child. */
static void starts_no_thread_where_libc_may_be_locked(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("open at the fork"));
    const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        osc_instant(1);
        osc_instant(1);
        if (n_threads() != 1 || osc_dump() != OSC_EIO || n_threads() != 1)
            _exit(1);
        _exit(osc_stop() == OSC_OK ? 0 : 2);
    }
    wait_for((pid_t)pid);
    check_parent_and_child();
}

static void makes_no_files_for_a_child_that_records_nothing(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)osc_stop();
        _exit(0);
    }
    wait_for(pid);
    osc_instant(1);
    assert_int_equal(osc_stop(), OSC_OK);
    recorded_read(&rec);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
    assert_null(read_child());
    recorded_remove(rec.dir);
}

static void goes_on_after_vfork_and_exec(void **state)
{
    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    const pid_t pid = vfork(); /* NOLINT: vfork() is under test */
    if (pid == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    wait_for(pid);
    osc_instant(1);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
}

static void records_a_grandchild(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const pid_t pid = fork();
    if (pid == 0) {
        const pid_t inner = fork();
        if (inner == 0)
            act_as_child();
        int status = 1;
        (void)waitpid(inner, &status, 0);
        _exit(status != 0);
    }
    wait_for(pid);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    check_parent_and_child();
}

/* --- start and stop --------------------------------------------------------------------- */

static void refuses_to_start_twice_and_stops_as_often_as_one_likes(void **state)
{
    (void)state;
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(osc_is_on(), 0);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(osc_is_on(), 1);
    assert_int_equal(osc_start(NULL), OSC_EINVAL);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
    osc_instant(1);
    osc_end();
}

static osc_status start_at(const char *out)
{
    return osc_start(
        &(struct osc_start_options){.size = sizeof(struct osc_start_options), .out = out});
}

static void options_without_their_size_are_refused(void **state)
{
    struct osc_start_options o = {.size = 0};

    (void)state;
    assert_int_equal(osc_start(&o), OSC_EINVAL);
    o.size = offsetof(struct osc_start_options, out);
    assert_int_equal(osc_start(&o), OSC_EINVAL);
    assert_int_equal(osc_is_on(), 0);
}

/* Programs of other versions have a shorter or a longer structure. */
static void takes_options_of_older_and_newer_programs(void **state)
{
    struct {
        struct osc_start_options options;
        unsigned char more[64];
    } newer;
    struct osc_start_options older;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
    memset(&newer, 0, sizeof newer);
    memset(newer.more, 0xff, sizeof newer.more);
    newer.options.size = sizeof newer;
    newer.options.out = rec.out;
    assert_int_equal(osc_start(&newer.options), OSC_OK);
    osc_instant(1);
    assert_int_equal(osc_stop(), OSC_OK);
    recorded_read(&rec);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 1);

    memset(&older, 0xff, sizeof older);
    older.size = offsetof(struct osc_start_options, out) + sizeof older.out;
    older.out = rec.out;
    assert_int_equal(osc_start(&older), OSC_OK);
    osc_instant(1);
    osc_instant(1);
    assert_int_equal(osc_stop(), OSC_OK);
    memset(&rec.all, 0, sizeof rec.all);
    recorded_read(&rec);
    assert_int_equal(rec.all.n[OSC_RECORD_INSTANT], 2);
    recorded_remove(rec.dir);
}

static void says_where_nothing_can_be_written_and_changes_nothing(void **state)
{
    (void)state;
    errno = 77;
    assert_int_equal(start_at("/proc/no/such/place.osc"), OSC_EIO);
    assert_int_equal(errno, 77);
    assert_int_equal(osc_is_on(), 0);
    osc_instant(1);
    assert_int_equal(osc_stop(), OSC_OK);
}

/* Start with OPTIONS and the path OUT; it must fail by the reason that contains WHY. */
static void refuse(struct osc_start_options o, osc_status st, const char *why)
{
    o.size = sizeof o;
    assert_int_equal(osc_start(&o), st);
    if (!strstr(osc_start_reason(), why))
        fail_msg("'%s' is not in '%s'", why, osc_start_reason());
    assert_string_equal(osc_recording_path(), "");
    assert_int_equal(osc_is_on(), 0);
}

static void refuses_options_that_cannot_work_and_says_why(void **state)
{
    static const int wrong[] = {99, -1, SIGKILL, SIGSTOP, 32, 33};
    static char longer[5000];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refuse((struct osc_start_options){.dump_signal = wrong[i]}, OSC_EINVAL, "dump_signal");
        refuse((struct osc_start_options){.toggle_signal = wrong[i]}, OSC_EINVAL,
               "toggle_signal");
    }
    refuse((struct osc_start_options){.dump_signal = SIGUSR1, .toggle_signal = SIGUSR1},
           OSC_EINVAL, "the same signal");
    refuse((struct osc_start_options){.buffer_bytes = 1}, OSC_EINVAL, "256 KiB");
    refuse((struct osc_start_options){.buffer_bytes = UINT64_MAX}, OSC_EINVAL, "1 TiB");
    refuse((struct osc_start_options){.slow_step = -1}, OSC_EINVAL, "slow_step");
    refuse((struct osc_start_options){.out = "/tmp/"}, OSC_EINVAL, "not a directory");
    memset(longer, 'x', sizeof longer - 1);
    refuse((struct osc_start_options){.out = longer}, OSC_EINVAL, "longer");
    refuse((struct osc_start_options){.out = "/proc/no/such/place.osc"}, OSC_EIO,
           "/proc/no/such/place.osc: No such file");
    assert_string_equal(osc_status_text(OSC_EINVAL), "wrong argument");
}

static void says_where_it_records(void **state)
{
    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    const uint64_t before = osc_recording_number();
    assert_true(before > 0);
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_int_equal(osc_recording_number(), 0);
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_string_equal(osc_recording_path(), rec.out);
    assert_true(osc_recording_number() > before);
    assert_string_equal(osc_start_reason(), "");
    assert_int_equal(start_at(rec.out), OSC_EINVAL);
    assert_string_equal(osc_start_reason(), "a recording is already running");
    assert_int_equal(recorded_end(&rec), OSC_OK);
    assert_string_equal(osc_recording_path(), "");
}

static void makes_directories_and_files_that_only_the_user_may_read(void **state)
{
    char path[256];
    struct stat st;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(osc_stop(), OSC_OK);
    recorded_remove(rec.dir);
    (void)snprintf(path, sizeof path, "%s/a/b/t.osc", rec.dir);
    assert_int_equal(start_at(path), OSC_OK);
    osc_instant(1);
    (void)snprintf(path, sizeof path, "%s/a/b", rec.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    (void)snprintf(path, sizeof path, "%s/a/b/t.osc.live", rec.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    (void)snprintf(path, sizeof path, "%s/a/b/t.osc.live/blocks", rec.dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(osc_stop(), OSC_OK);
    recorded_remove(rec.dir);
}

static void holds_a_lock_on_its_live_directory_as_long_as_it_records(void **state)
{
    char live[256];

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    osc_instant(1);
    (void)snprintf(live, sizeof live, "%s.live", rec.out);
    const int fd = open(live, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_int_equal(osc_stop(), OSC_OK);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    (void)close(fd);
    recorded_remove(rec.dir);
}

static void drops_and_counts_a_device_or_work_that_is_not_there(void **state)
{
    struct osc_losses lost;

    (void)state;
    assert_int_equal(recorded_begin(&rec, 0), OSC_OK);
    assert_int_equal(osc_device_add(NULL), 0);
    osc_work(0, NULL);
    osc_losses_get(&lost);
    assert_int_equal(lost.full, 2);
    assert_int_equal(recorded_end(&rec), OSC_OK);
}

static void be_forbidden(void)
{
    expect(setenv("OPSCOPE", "0", 1) == 0, 2);
    expect(osc_start(NULL) == OSC_OK && osc_is_on() == 0, 3);
    osc_instant(1);
    expect(osc_stop() == OSC_OK, 4);
    expect(setenv("OPSCOPE_OUT", "/tmp/osc-forbidden", 1) == 0, 5);
    osc_session_arm();
    expect(osc_is_on() == 0, 6);
}

/* --- names ------------------------------------------------------------------------------ */

static void count_named(void *ctx, uint32_t thread, const struct osc_packed *r)
{
    static const char text[] = "made before";
    char path[256], s[sizeof text - 1];
    const uint32_t name = *(const uint32_t *)ctx;

    (void)thread;
    if (r->kind != OSC_RECORD_INSTANT || r->id != name)
        return;
    (void)snprintf(path, sizeof path, "%s.live/strings", rec.out);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    expect(pread(fd, s, sizeof s, (off_t)name * 8 + 8) == (ssize_t)sizeof s, 40);
    expect(memcmp(s, text, sizeof s) == 0, 41);
    (void)close(fd);
    rec.n_threads = 1000;
}

/* Record NAME, and find its bytes in the recording. */
static void record_name(uint32_t name)
{
    expect(recorded_begin(&rec, 0) == OSC_OK, 42);
    rec.look = count_named;
    rec.ctx = &name;
    osc_instant(name);
    recorded_read(&rec);
    expect(rec.n_threads == 1000, 43);
    expect(osc_stop() == OSC_OK, 44);
    recorded_remove(rec.dir);
}

static void name_before_starting(void)
{
    const uint32_t name = osc_name_c("made before");

    expect(name != 0 && osc_name_c("made before") == name && osc_is_on() == 0, 2);
    for (int i = 0; i < 2; i++)
        record_name(name);

    const pid_t pid = fork();

    if (pid == 0) {
        record_name(name);
        _exit(0);
    }
    expect(children_status(pid) == 0, 3);
}

static void name_and_fork_before_starting(void)
{
    const uint32_t name = osc_name_c("made before");
    const pid_t pid = fork();

    if (pid == 0) {
        expect(osc_name_c("made before") == name && osc_name_c("by the child") > name, 2);
        record_name(name);
        _exit(0);
    }
    expect(children_status(pid) == 0, 3);
    record_name(name);
}

static void keeps_names_that_were_made_before_the_start(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    in_child(name_before_starting);
    in_child(name_and_fork_before_starting);
}

/* Arm recording with a relative directory, then change to another one. */
static void arm(void)
{
    struct osc_losses lost;

    memset(&rec, 0, sizeof rec);
    (void)strcpy(rec.dir, "/tmp/osc-recorded-XXXXXX");
    expect(mkdtemp(rec.dir) != NULL, 2);
    expect(rmdir(rec.dir) == 0, 3);
    expect(chdir("/tmp") == 0 && setenv("OPSCOPE_OUT", rec.dir + strlen("/tmp/"), 1) == 0, 4);
    osc_session_arm();
    expect(chdir("/proc") == 0, 9);
    expect(osc_is_on() == 1, 5);
    expect(access(rec.dir, F_OK) != 0, 6);
    osc_losses_add(OSC_LOSS_NESTED, 2); /* like a handler that interrupts the opening */
    osc_begin(OSC_SCOPE_PLAIN, osc_name_c("first"));
    osc_end();
    osc_losses_get(&lost);
    expect(lost.nested == 2, 10);
    expect(access(rec.dir, F_OK) == 0, 7);
    (void)osc_stop();
    const struct recorded *only = read_child();
    expect(only && only->all.begins == 1 && only->all.n[OSC_RECORD_END] == 1, 8);
    recorded_remove(rec.dir);
}

static void does_what_the_environment_says(void **state)
{
    (void)state;
    in_child(be_forbidden);
    in_child(arm);
}

/* --- the first record of an armed program ------------------------------------------------ */

static void arm_in_new_directory(void)
{
    memset(&rec, 0, sizeof rec);
    (void)strcpy(rec.dir, "/tmp/osc-recorded-XXXXXX");
    expect(mkdtemp(rec.dir) != NULL && setenv("OPSCOPE_OUT", rec.dir, 1) == 0, 20);
    osc_session_arm();
}

static void expect_recorded(uint64_t n_instants)
{
    expect(osc_stop() == OSC_OK, 30);
    const struct recorded *only = read_child();

    expect(only && only->all.n[OSC_RECORD_INSTANT] == n_instants, 31);
    recorded_remove(rec.dir);
}

static void record_in_handler(int number)
{
    (void)number;
    osc_instant(osc_name_c("in a handler"));
    expect(osc_session_awaits_flusher(), 2);
    expect(n_threads() == 1, 3);
}

/* The handler may have interrupted malloc(), which starting a thread calls. */
static void begin_in_handler(void)
{
    const struct sigaction action = {.sa_handler = record_in_handler};

    arm_in_new_directory();
    expect(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0, 4);
    expect(raise(SIGUSR1) == 0, 5);
    osc_instant(osc_name_c("after it"));
    expect(!osc_session_awaits_flusher() && n_threads() == 2, 6);
    expect(osc_dump() == OSC_OK, 7);
    expect_recorded(3);
}

static void record_and_exit_in_handler(int number)
{
    record_in_handler(number);
    expect_recorded(1);
    _exit(0);
}

static void begin_and_end_in_handler(void)
{
    const struct sigaction action = {.sa_handler = record_and_exit_in_handler};

    arm_in_new_directory();
    expect(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0, 4);
    _exit(5);
}

/* Signals that are blocked but not caught: another thread gets them by sigwait(). */
static void begin_with_blocked_signals(void)
{
    sigset_t some;

    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGTERM);
    expect(pthread_sigmask(SIG_BLOCK, &some, NULL) == 0, 2);
    arm_in_new_directory();
    osc_instant(1);
    expect(!osc_session_awaits_flusher() && n_threads() == 2, 3);
    expect_recorded(1);
}

static void starts_no_thread_in_a_signal_handler(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    in_child(begin_in_handler);
    in_child(begin_and_end_in_handler);
    in_child(begin_with_blocked_signals);
}

enum { BLOCKED_RECORDS = 2000 };

static void *record_with_blocked_signals(void *arg)
{
    for (int i = 0; i < BLOCKED_RECORDS; i++)
        osc_instant(1);
    expect(osc_session_awaits_flusher() && n_threads() == 2, 6);
    return arg;
}

static void do_nothing(int number)
{
    (void)number;
}

/* As in servers: one thread handles the signals, and its workers block them. */
static void begin_in_a_worker(void)
{
    const struct sigaction action = {.sa_handler = do_nothing};
    struct osc_losses lost;
    pthread_t worker;
    sigset_t some, before;

    (void)sigemptyset(&some);
    (void)sigaddset(&some, SIGTERM);
    expect(sigaction(SIGTERM, &action, NULL) == 0, 2);
    expect(pthread_sigmask(SIG_BLOCK, &some, &before) == 0, 3);
    arm_in_new_directory();
    expect(pthread_create(&worker, NULL, record_with_blocked_signals, NULL) == 0, 4);
    expect(pthread_join(worker, NULL) == 0, 5);
    expect(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0, 8);
    osc_instant(1);
    expect(!osc_session_awaits_flusher() && has_threads(2), 9);
    osc_losses_get(&lost);
    expect(lost.full + lost.nested + lost.late + lost.too_big == 0, 7);
    expect_recorded(BLOCKED_RECORDS + 1);
}

static void leaves_the_flusher_to_a_thread_that_blocks_no_signal(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    in_child(begin_in_a_worker);
}

/* Called the next time that the log of names grows, while its lock is held. */
static void (*while_growing)(void);

int mprotect(void *p, size_t len, int protection)
{
    void (*const act)(void) = while_growing;

    while_growing = NULL;
    if (act)
        act();
    return (int)syscall(SYS_mprotect, p, len, protection);
}

static void send_signal(void)
{
    expect(raise(SIGUSR1) == 0, 4);
}

static void interrupt_the_first_name(void)
{
    const struct sigaction action = {.sa_handler = record_in_handler};
    struct osc_losses lost;

    arm_in_new_directory();
    expect(sigaction(SIGUSR1, &action, NULL) == 0, 5);
    while_growing = send_signal;
    osc_instant(osc_name_c("interrupted"));
    expect(!while_growing, 6);
    osc_losses_get(&lost);
    expect(lost.full + lost.nested + lost.late == 0, 7);
    expect_recorded(2);
}

static void record_at_once(void)
{
    osc_instant(1);
}

/* Records like the handler of a fault, which cannot be deferred. */
static void fault_in_the_first_name(void)
{
    struct osc_losses lost;

    arm_in_new_directory();
    while_growing = record_at_once;
    const osc_name name = osc_name_c("interrupted");
    expect(name != 0 && !while_growing, 6);
    osc_losses_get(&lost);
    expect(lost.nested == 1 && lost.full + lost.late == 0, 7);
    osc_instant(name);
    expect_recorded(1);
}

static void records_on_after_a_handler_interrupted_the_first_name(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    in_child(interrupt_the_first_name);
    in_child(fault_in_the_first_name);
}

/* --- children that share the memory ------------------------------------------------------ */

static int record_as_borrower(void *arg)
{
    (void)arg;
    osc_instant(osc_name_c("of whom the memory is not"));
    (void)osc_stop();
    return osc_start(NULL) == OSC_EINVAL ? 0 : 1;
}

/* Record in a child that shares our memory, as after vfork(), which must not return twice to
 * the recording function. */
static void borrow(void)
{
    static _Alignas(16) char stack[256 << 10];

    wait_for(clone(record_as_borrower, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                   NULL));
}

static void borrow_while_recording(void)
{
    arm_in_new_directory();
    osc_instant(1);
    borrow();
    osc_instant(1);
    expect(n_threads() == 2, 2);
    expect_recorded(3);
}

static void borrow_before_the_first_record(void)
{
    struct osc_losses lost;

    arm_in_new_directory();
    borrow();
    expect(n_threads() == 1, 2);
    osc_losses_get(&lost);
    expect(lost.late == 1 && lost.full + lost.nested == 0, 3);
    osc_instant(1);
    expect_recorded(1);
}

static void opens_and_stops_nothing_for_a_child_that_shares_the_memory(void **state)
{
    (void)state;
    if (CHILDREN_FAIL)
        return;
    in_child(borrow_while_recording);
    in_child(borrow_before_the_first_record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First the tests whose children need a process that has not recorded. */
        cmocka_unit_test(keeps_names_that_were_made_before_the_start),
        cmocka_unit_test(does_what_the_environment_says),
        cmocka_unit_test(starts_no_thread_in_a_signal_handler),
        cmocka_unit_test(leaves_the_flusher_to_a_thread_that_blocks_no_signal),
        cmocka_unit_test(records_on_after_a_handler_interrupted_the_first_name),
        cmocka_unit_test(opens_and_stops_nothing_for_a_child_that_shares_the_memory),
        cmocka_unit_test(records_a_child_of_fork_into_files_of_its_own),
        cmocka_unit_test(records_a_child_of_clone_as_well),
        cmocka_unit_test(starts_no_thread_where_libc_may_be_locked),
        cmocka_unit_test(makes_no_files_for_a_child_that_records_nothing),
        cmocka_unit_test(goes_on_after_vfork_and_exec),
        cmocka_unit_test(records_a_grandchild),
        cmocka_unit_test(refuses_to_start_twice_and_stops_as_often_as_one_likes),
        cmocka_unit_test(options_without_their_size_are_refused),
        cmocka_unit_test(takes_options_of_older_and_newer_programs),
        cmocka_unit_test(says_where_nothing_can_be_written_and_changes_nothing),
        cmocka_unit_test(drops_and_counts_a_device_or_work_that_is_not_there),
        cmocka_unit_test(holds_a_lock_on_its_live_directory_as_long_as_it_records),
        cmocka_unit_test(refuses_options_that_cannot_work_and_says_why),
        cmocka_unit_test(says_where_it_records),
        cmocka_unit_test(makes_directories_and_files_that_only_the_user_may_read),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
