/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that a host may do, or may not be allowed to do, and disks that are full or read-only:
 * the host is unharmed, and every lost record is counted.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "recorder/session.h"
#include "recording/open_failure.h"
#include "support/children.h"
#include "support/recorded.h"
#include "support/unit.h"

enum { NOBODY = 65534 };

static struct recorded rec;
static char self_path[512];

static void record(int n)
{
    for (int i = 0; i < n; i++)
        osc_instant(osc_name_c("some"));
}

/* Start to record into the directory that REC already has. */
static osc_status start_there(void)
{
    (void)snprintf(rec.out, sizeof rec.out, "%s/t.osc", rec.dir);
    return osc_start(
        &(struct osc_start_options){.size = sizeof(struct osc_start_options), .out = rec.out});
}

static void make_directory(mode_t mode)
{
    memset(&rec, 0, sizeof rec);
    (void)strcpy(rec.dir, "/tmp/osc-recorded-XXXXXX");
    expect(mkdtemp(rec.dir) != NULL && chmod(rec.dir, mode) == 0, 60);
}

static void become_nobody(void)
{
    expect(geteuid() != 0 ||
               (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
                setresuid(NOBODY, NOBODY, NOBODY) == 0),
           61);
}

/* --- limits and the host ----------------------------------------------------------------- */

static void run_out_of_descriptors(void)
{
    enum { MOST = 24 };

    make_directory(0700);
    for (rlim_t n = 3; n <= MOST; n++) {
        const struct rlimit few = {n, MOST};

        expect(setrlimit(RLIMIT_NOFILE, &few) == 0, 2);
        const osc_status st = start_there();
        expect(st == OSC_OK || (st == OSC_EIO && osc_open_failure_get() == EMFILE), (int)n);
        expect(st != OSC_OK || n > 3, 60);
        record(5000);
        (void)osc_stop();
    }
    recorded_remove(rec.dir);
}

static void run_out_of_threads(void)
{
    const struct rlimit none = {0, 0};

    become_nobody();
    make_directory(0700);
    expect(setrlimit(RLIMIT_NPROC, &none) == 0, 2);
    expect(start_there() == OSC_ENOMEM, 3);
    expect(osc_open_failure_get() == EAGAIN, 4);
    record(5000);
    recorded_remove(rec.dir);
}

/* Sanitizers reserve more address space than the limit allows. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined __has_feature
#define IS_SANITIZED                                                        \
    (__has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || \
     __has_feature(memory_sanitizer))
#else
#define IS_SANITIZED 0
#endif

static void run_out_of_addresses(void)
{
    const struct rlimit few = {16 << 20, 16 << 20};

    expect(setrlimit(RLIMIT_AS, &few) == 0, 2);
    const osc_status st = recorded_begin(&rec, 0);
    expect(st == OSC_OK || st == OSC_ENOMEM || st == OSC_EIO, 3);
    record(5000);
    (void)osc_stop();
    recorded_remove(rec.dir);
}

static rlim_t addresses_mib;

static void have_few_addresses(void)
{
    const struct rlimit few = {addresses_mib << 20, addresses_mib << 20};

    expect(setrlimit(RLIMIT_AS, &few) == 0, 2);
    expect(recorded_begin(&rec, 0) == OSC_OK, 3);
    record(5000);
    expect(osc_stop() == OSC_OK, 4);
    recorded_remove(rec.dir);
}

/* What is reserved for one purpose leaves enough for the others. */
static void have_any_number_of_addresses(void)
{
    for (addresses_mib = 150; addresses_mib <= 500; addresses_mib += 10)
        in_child(have_few_addresses);
}

static void reach_the_limit_on_files(void)
{
    const struct rlimit few = {4 << 20, 4 << 20};

    expect(setrlimit(RLIMIT_FSIZE, &few) == 0, 2);
    const osc_status st = recorded_begin(&rec, 0);
    expect(st == OSC_OK || st == OSC_EIO, 3);
    record(5000);
    (void)osc_stop();
    recorded_remove(rec.dir);
}

/* The host's files keep their numbers, and our files still get ended. */
static void close_all_descriptors(void)
{
    char live[sizeof rec.out + sizeof ".live"];

    expect(recorded_begin(&rec, 0) == OSC_OK, 2);
    record(5000);
    for (int fd = 3; fd < 1024; fd++)
        (void)syscall(SYS_close, fd); /* close() beside fstat() is a race for ThreadSanitizer */
    const int mine = open("/dev/null", O_RDONLY);
    expect(mine == 3, 3);
    record(5000);
    expect(osc_stop() == OSC_OK, 4);
    expect(fcntl(mine, F_GETFD) >= 0, 5);
    (void)snprintf(live, sizeof live, "%s.live", rec.out);
    expect(access(live, F_OK) != 0, 6);
    recorded_read(&rec);
    expect(rec.all.n[OSC_RECORD_INSTANT] == 10000, 7);
    recorded_remove(rec.dir);
}

static void exit_in_the_middle(void)
{
    expect(recorded_begin(&rec, 0) == OSC_OK, 2);
    osc_begin(OSC_SCOPE_PLAIN, 1);
    recorded_remove(rec.dir); /* fails, but the directory is removed */
    exit(0);
}

TEST(survives_what_a_host_may_do_or_have_forbidden)
{
    in_child(run_out_of_descriptors);
    in_child(run_out_of_threads);
    if (!IS_SANITIZED) {
        in_child(run_out_of_addresses);
        have_any_number_of_addresses();
    }
    in_child(reach_the_limit_on_files);
    in_child(close_all_descriptors);
    in_child(exit_in_the_middle);
}

/* Run ACT in a child, as a user with few rights. */
static void as_nobody(void (*act)(void))
{
    const pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        become_nobody();
        act();
        _exit(0);
    }
    expect(waitpid(pid, &status, 0) == pid && status == 0, 62);
}

/* --- disks ------------------------------------------------------------------------------- */

/* Mount a disk with OPTIONS at the directory of REC. */
static void mount_disk(const char *options)
{
    make_directory(0777);
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", rec.dir, "tmpfs", 0, options) != 0) {
        (void)rmdir(rec.dir);
        _exit(CHILD_CANNOT);
    }
}

/* Only this child sees the disk, which disappears with it. */
static void leave_disk(void)
{
    expect(umount2(rec.dir, MNT_DETACH) == 0 && rmdir(rec.dir) == 0, 69);
}

static void have_little_room(void)
{
    mount_disk("size=4m");
    expect(start_there() == OSC_OK, 3);
    osc_instant(osc_name_c("on a small disk"));
    expect(osc_stop() == OSC_OK, 4);
    recorded_read(&rec);
    expect(rec.all.n[OSC_RECORD_INSTANT] == 1, 5);
    leave_disk();
}

/* Fill the rest of the disk. */
static void fill_disk(void)
{
    static const char zeros[4096];
    char path[160];

    (void)snprintf(path, sizeof path, "%s/hog", rec.dir);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    expect(fd >= 0, 63);
    for (size_t step = sizeof zeros; step > 0; step /= 2)
        while (write(fd, zeros, step) > 0)
            continue;
    (void)close(fd);
}

/* The header of the live directory; *LOST are the losses of its threads. */
static struct osc_live_header live_header(uint64_t *lost)
{
    struct osc_live_header h = {0};
    struct osc_live_thread t;
    char path[160];

    (void)snprintf(path, sizeof path, "%s.live/blocks", rec.out);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    expect(fd >= 0 && read(fd, &h, sizeof h) == (ssize_t)sizeof h, 62);
    *lost = h.lost_gone[OSC_LOSS_FULL];
    for (uint32_t i = 0; i < h.n_threads; i++) {
        expect(pread(fd, &t, sizeof t, (off_t)(OSC_LIVE_THREADS_AT + i * sizeof t)) ==
                   (ssize_t)sizeof t,
               64);
        *lost += t.lost[OSC_LOSS_FULL];
    }
    (void)close(fd);
    return h;
}

/* The write error that the live directory states. */
static uint32_t write_error(void)
{
    uint64_t lost;

    return live_header(&lost).write_error;
}

static void *record_in_thread(void *n)
{
    record(*(const int *)n);
    return NULL;
}

static void record_on_a_disk_that_gets_full(void)
{
    enum { BEFORE = 1000, HALF = 500000, AFTER = 2 * HALF };
    int n_half = HALF;
    struct osc_losses lost;
    pthread_t thread;
    uint64_t n_told;

    expect(start_there() == OSC_OK, 3);
    record(BEFORE);
    expect(osc_dump() == OSC_OK && write_error() == 0, 4);
    fill_disk();
    record(HALF);
    expect(pthread_create(&thread, NULL, record_in_thread, &n_half) == 0 &&
               pthread_join(thread, NULL) == 0,
           10);
    expect(osc_stop() == OSC_EIO, 5);
    expect(write_error() == ENOSPC, 9);
    osc_losses_get(&lost);
    /* What is left tells of the thread that has ended, too, unless the file does. */
    expect(live_header(&n_told).state == OSC_LIVE_STOPPED && n_told > 0, 11);
    expect(lost.full > 0 && lost.late + lost.nested + lost.too_big == 0, 6);
    recorded_read(&rec);
    expect(rec.all.n[OSC_RECORD_INSTANT] >= BEFORE + 8 * 1022, 7); /* had space */
    expect(rec.all.n[OSC_RECORD_INSTANT] + lost.full == BEFORE + AFTER, 8);
}

static void get_full(void)
{
    mount_disk("size=24m");
    record_on_a_disk_that_gets_full();
    leave_disk();
}

static void get_full_as_nobody(void)
{
    mount_disk("size=24m,mode=777");
    as_nobody(record_on_a_disk_that_gets_full);
    leave_disk();
}

/* Record where nothing can be written: by osc_start(), and by an armed program. */
static void record_nowhere(void)
{
    struct osc_losses lost;

    errno = 77;
    expect(start_there() == OSC_EIO && errno == 77 && osc_is_on() == 0, 3);
    record(10);
    expect(osc_stop() == OSC_OK, 4);
    expect(setenv("OPSCOPE_OUT", rec.dir, 1) == 0, 5);
    osc_session_arm();
    record(10);
    expect(osc_is_on() == 0 && errno == 77, 6);
    osc_losses_get(&lost);
    expect(lost.late == 1 && lost.full + lost.nested + lost.too_big == 0, 7);
}

static void be_read_only(void)
{
    mount_disk("size=4m");
    expect(mount("none", rec.dir, NULL, MS_REMOUNT | MS_RDONLY, "size=4m") == 0, 2);
    record_nowhere();
    leave_disk();
}

static void be_read_only_for_nobody(void)
{
    mount_disk("size=4m,mode=777");
    expect(mount("none", rec.dir, NULL, MS_REMOUNT | MS_RDONLY, "size=4m") == 0, 2);
    as_nobody(record_nowhere);
    leave_disk();
}

static void be_somebody_elses(void)
{
    if (geteuid() != 0)
        _exit(CHILD_CANNOT);
    make_directory(0755);
    as_nobody(record_nowhere);
    expect(rmdir(rec.dir) == 0, 9);
}

TEST(counts_what_a_full_disk_does_not_take)
{
    in_child_if_allowed(have_little_room, "a disk of 4 MiB");
    in_child_if_allowed(get_full, "a disk that gets full");
    in_child_if_allowed(get_full_as_nobody, "a disk that gets full, as another user");
}

TEST(records_nothing_where_it_may_not_write)
{
    in_child_if_allowed(be_read_only, "a read-only disk");
    in_child_if_allowed(be_read_only_for_nobody, "a read-only disk, as another user");
    in_child_if_allowed(be_somebody_elses, "a directory of another user");
}

/* --- identities -------------------------------------------------------------------------- */

/* All threads change, also the flusher; open files stay open. */
static void drop_privileges(void)
{
    if (geteuid() != 0)
        _exit(CHILD_CANNOT);
    make_directory(0700);
    expect(start_there() == OSC_OK, 3);
    record(5000);
    const pid_t pid = fork();
    if (pid == 0) { /* it is not allowed to record into the same directory */
        become_nobody();
        record(10);
        _exit(osc_is_on() == 0 ? 0 : 1);
    }
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && status == 0, 4);
    expect(setresuid(NOBODY, NOBODY, 0) == 0, 5);
    record(5000);
    expect(osc_stop() == OSC_OK, 6);
    expect(setresuid(0, 0, 0) == 0, 7);
    recorded_read(&rec);
    expect(rec.all.n[OSC_RECORD_INSTANT] == 10000, 8);
    recorded_remove(rec.dir);
}

/* Copy this program into the directory of REC; its path goes to PATH. */
static void copy_myself(char *path, size_t room)
{
    const int from = open(self_path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    (void)snprintf(path, room, "%s/program", rec.dir);
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

    expect(from >= 0 && to >= 0 && fstat(from, &st) == 0, 64);
    while (sendfile(to, from, NULL, (size_t)st.st_size) > 0)
        continue;
    expect(close(from) == 0 && close(to) == 0 && chmod(path, 0755) == 0, 65);
}

/* Run PATH as `nobody`, see be_started(); it records into the directory `out`. Returns whether
 * it had more rights than `nobody`. */
static bool run_with_more_rights(const char *path)
{
    char out[128];
    const pid_t pid = fork();

    if (pid == 0) {
        (void)snprintf(out, sizeof out, "%s/out", rec.dir);
        expect(setenv("OPSCOPE_OUT", out, 1) == 0, 66);
        become_nobody();
        (void)execl(path, path, "started", (char *)NULL);
        _exit(CHILD_CANNOT);
    }
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status), 67);
    expect(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CHILD_CANNOT, 68);
    return WEXITSTATUS(status) == 0;
}

/* The program as run_with_more_rights() starts it. */
static int be_started(void)
{
    const bool has_more = getauxval(AT_SECURE) != 0;

    if (osc_is_on() == has_more)
        return 1;
    record(10);
    (void)osc_stop();
    return has_more ? 0 : CHILD_CANNOT;
}

static bool is_empty(const char *dir)
{
    return rmdir(dir) == 0 && mkdir(dir, 0777) == 0 && chmod(dir, 0777) == 0;
}

/* Give the program at PATH more rights than its caller has. */
static bool set_uid(const char *path)
{
    return chmod(path, 04755) == 0;
}

static bool set_gid(const char *path)
{
    return chmod(path, 02755) == 0;
}

static bool set_capabilities(const char *path)
{
    /* A struct vfs_cap_data, version 2: effective, with CAP_NET_BIND_SERVICE permitted. */
    static const uint32_t caps[] = {0x02000001, 1u << 10, 0, 0, 0};

    return setxattr(path, "security.capability", caps, sizeof caps, 0) == 0;
}

/* A user cannot make a program with more rights than their own write somewhere. */
static void record_with_more_rights(bool (*give)(const char *path))
{
    char path[128], out[128];

    if (geteuid() != 0)
        _exit(CHILD_CANNOT);
    make_directory(0755);
    (void)snprintf(out, sizeof out, "%s/out", rec.dir);
    expect(mkdir(out, 0777) == 0 && is_empty(out), 2);
    copy_myself(path, sizeof path);
    const bool is_given = give(path) && run_with_more_rights(path);
    const bool is_clean = is_empty(out);
    /* The same without extra rights, to show that they make the difference. */
    expect(unlink(path) == 0, 3);
    copy_myself(path, sizeof path);
    expect(!run_with_more_rights(path) && rmdir(out) != 0, 4);
    recorded_remove(rec.dir);
    expect(is_clean || !is_given, 5);
    if (!is_given)
        _exit(CHILD_CANNOT);
}

static void be_set_uid(void)
{
    record_with_more_rights(set_uid);
}

static void be_set_gid(void)
{
    record_with_more_rights(set_gid);
}

static void have_capabilities(void)
{
    record_with_more_rights(set_capabilities);
}

TEST(obeys_no_environment_in_programs_with_more_rights)
{
    in_child_if_allowed(be_set_uid, "a set-uid program");
    in_child_if_allowed(be_set_gid, "a set-gid program");
    in_child_if_allowed(have_capabilities, "a program with capabilities");
}

TEST(goes_on_when_the_host_gives_up_its_rights)
{
    if (CHILDREN_FAIL)
        return;
    in_child_if_allowed(drop_privileges, "a program that becomes another user");
}

int main(int argc, char **argv)
{
    const ssize_t len = readlink("/proc/self/exe", self_path, sizeof self_path - 1);

    if (argc == 2 && strcmp(argv[1], "started") == 0)
        _exit(be_started()); /* a program with more rights cannot be checked for leaks */
    return len > 0 ? unit_run("faults", NULL, NULL) : 1;
}
