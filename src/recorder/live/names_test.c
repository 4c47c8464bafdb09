/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/live/names.h"

#include <stdbool.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"
#include "wire/chunk.h"
#include "wire/live.h"

static char dir[] = "/tmp/osc-names-XXXXXX";
static uint64_t n_full, n_too_big;

static uint32_t add(const char *s)
{
    return osc_names_add(s, strlen(s), &n_full, &n_too_big);
}

/* Create a new directory. */
static int make_sub(void)
{
    static int n;
    char sub[64];

    (void)snprintf(sub, sizeof sub, "%s/%d", dir, n++);
    assert_int_equal(mkdir(sub, 0700), 0);
    const int fd = open(sub, O_RDONLY | O_DIRECTORY);

    assert_true(fd >= 0);
    return fd;
}

/* Open the file `strings` that osc_names_open() creates in a new directory. */
static int open_log(void)
{
    const int fd = make_sub();

    assert_int_equal(osc_names_open(fd, (const uint64_t[2]){1, 2}), OSC_OK);
    const int log = openat(fd, "strings", O_RDONLY);

    assert_true(log >= 0);
    (void)close(fd);
    return log;
}

/* Read the entry NAME of the file FD into S, and check its hash. */
static size_t read_entry(int fd, uint32_t name, char *s, size_t room)
{
    uint32_t head[2];

    assert_int_equal(pread(fd, head, sizeof head, (off_t)name * 8), sizeof head);
    assert_true(head[0] > 1 && head[0] - 1 <= room);
    assert_int_equal(pread(fd, s, head[0] - 1, (off_t)name * 8 + 8), head[0] - 1);
    assert_int_equal(head[1], (uint32_t)osc_wire_hash(s, head[0] - 1));
    return head[0] - 1;
}

/* In a child, so that the log of the other tests stays small. */
static void add_names_without_end(void)
{
    enum { LEN = 1 << 20 };
    static char s[LEN];
    int n = 0;

    osc_names_want(false);
    memset(s, 'z', sizeof s);
    do
        s[0] = (char)('A' + n);
    while (osc_names_add(s, LEN, &n_full, &n_too_big) != 0 && ++n < 32);
    if (n != 15 || n_full != 1)
        _exit(1);
    s[0] = 'A';
    if (osc_names_add(s, LEN, &n_full, &n_too_big) == 0 || add("no longer small enough") == 0)
        _exit(2);
    osc_names_want(true);
    s[0] = 'Z';
    if (osc_names_add(s, LEN, &n_full, &n_too_big) == 0 || n_full != 1)
        _exit(3);
    _exit(0);
}

TEST(keeps_16_mib_of_names_while_nothing_records)
{
    const pid_t pid = fork();
    int status = -1;

    if (pid == 0)
        add_names_without_end();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(gives_the_same_bytes_the_same_name)
{
    const uint32_t a = add("conv2d");

    assert_int_not_equal(a, 0);
    assert_int_equal(add("conv2d"), a);
    assert_int_not_equal(add("conv2D"), a);
    assert_int_equal(osc_names_add(NULL, 4, &n_full, &n_too_big), 0);
    assert_int_equal(add(""), 0);
    assert_int_equal(n_full + n_too_big, 0);
    assert_int_not_equal(osc_names_add("x\0a", 3, &n_full, &n_too_big),
                         osc_names_add("x\0b", 3, &n_full, &n_too_big));
}

TEST(writes_names_from_before_into_each_file)
{
    char s[16];

    const uint32_t a = add("before the file");

    for (int i = 0; i < 2; i++) {
        const int log = open_log();
        const uint32_t b = add(i == 0 ? "in the first" : "in the second");

        assert_int_equal(read_entry(log, a, s, sizeof s), 15);
        assert_memory_equal(s, "before the file", 15);
        assert_true(read_entry(log, b, s, sizeof s) >= 12);
        osc_names_detach();
        (void)close(log);
    }
    assert_int_equal(add("before the file"), a);
}

TEST(takes_strings_of_16_mib_and_cuts_longer_ones)
{
    const size_t len = OSC_NAME_BYTES_MAX;
    static char s[OSC_NAME_BYTES_MAX + 2];

    memset(s, 'x', sizeof s);
    const uint32_t a = osc_names_add(s, len, &n_full, &n_too_big);

    assert_int_not_equal(a, 0);
    assert_int_equal(n_too_big, 0);
    assert_int_equal(osc_names_add(s, len + 2, &n_full, &n_too_big), a);
    assert_int_equal(n_too_big, 1);
}

enum { N_NAMES = 20000, N_ADDERS = 4 };

static void *add_many(void *arg)
{
    uint32_t *names = arg;

    for (int i = 0; i < N_NAMES; i++) {
        char s[32];
        uint64_t lost[2] = {0};
        const int len = snprintf(s, sizeof s, "op%d", i);

        names[i] = osc_names_add(s, (size_t)len, &lost[0], &lost[1]);
    }
    return NULL;
}

TEST(agrees_on_names_that_threads_bring_at_once)
{
    static uint32_t names[N_ADDERS][N_NAMES];
    pthread_t threads[N_ADDERS];
    const int log = open_log();

    for (int i = 0; i < N_ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, names[i]), 0);
    for (int i = 0; i < N_ADDERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < N_NAMES; i++) {
        char s[32], expected[32];

        for (int t = 1; t < N_ADDERS; t++)
            assert_int_equal(names[t][i], names[0][i]);
        assert_int_equal(read_entry(log, names[0][i], s, sizeof s),
                         snprintf(expected, sizeof expected, "op%d", i));
        assert_memory_equal(s, expected, strlen(expected));
    }
    osc_names_detach();
    (void)close(log);
}

TEST(keeps_a_child_out_of_its_parents_file)
{
    const int log = open_log();
    struct stat before, after;
    struct osc_live_strings h;
    int status = 0;

    assert_int_equal(fstat(log, &before), 0);
    const uint32_t a = add("of the parent");
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        osc_names_unlock();
        osc_names_detach();
        _exit(add("of the parent") == a && add("of the child") > a ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(fstat(log, &after), 0);
    assert_int_equal(pread(log, &h, sizeof h, 0), sizeof h);
    assert_int_equal(h.used_bytes, (uint64_t)a * 8 + 8 + 16);
    osc_names_detach();
    (void)close(log);
}

/* The disk is full while the log is copied, and when space for the file is reserved. */
TEST(keeps_its_names_where_the_file_has_no_room)
{
    static const rlim_t limits[] = {0, 40, 60000};
    struct rlimit old;
    char text[16];

    const uint32_t a = add("from before");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct rlimit low = {limits[i], old.rlim_max};
        const int fd = make_sub();

        assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
        assert_int_equal(osc_names_open(fd, (const uint64_t[2]){1, 2}), OSC_EIO);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(add("from before"), a);
        (void)close(fd);
    }
    const uint32_t b = add("from between");
    const int log = open_log();

    assert_true(b > a);
    assert_int_equal(read_entry(log, a, text, sizeof text), strlen("from before"));
    assert_int_equal(read_entry(log, b, text, sizeof text), strlen("from between"));
    osc_names_detach();
    (void)close(log);
}

static bool is_to_signal;
static int opened_in_handler = -1;

/* Replaces libc's function, which the log calls to grow, to raise a signal there. */
int mprotect(void *p, size_t len, int protection)
{
    if (is_to_signal) {
        is_to_signal = false;
        (void)raise(SIGUSR1);
    }
    return (int)syscall(SYS_mprotect, p, len, protection);
}

static void open_in_handler(int number)
{
    (void)number;
    opened_in_handler = open_log();
}

TEST(a_handler_that_opens_finds_all_the_room_in_the_file)
{
    const struct sigaction action = {.sa_handler = open_in_handler};
    static char longer[OSC_NAME_BYTES_MAX], s[OSC_NAME_BYTES_MAX];

    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    memset(longer, 'y', sizeof longer);
    is_to_signal = true;
    const uint32_t a = osc_names_add(longer, sizeof longer, &n_full, &n_too_big);

    assert_false(is_to_signal);
    assert_true(opened_in_handler >= 0);
    assert_int_equal(read_entry(opened_in_handler, a, s, sizeof s), sizeof longer);
    assert_memory_equal(s, longer, sizeof longer);
    osc_names_detach();
    (void)close(opened_in_handler);
    assert_int_equal(n_full, 0);
}

static int make_dir(void **state)
{
    (void)state;
    osc_names_want(true);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char path[64];

    (void)state;
    for (int n = 0; n < 16; n++) {
        (void)snprintf(path, sizeof path, "%s/%d/strings", dir, n);
        (void)unlink(path);
        *strrchr(path, '/') = '\0';
        (void)rmdir(path);
    }
    return rmdir(dir);
}

int main(void)
{
    return unit_run("names", make_dir, remove_dir);
}
