/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include "support/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/opscope-output-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    static const char *const names[] = {"a", "b", "link"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(names[i]);
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void put(const char *name, const char *text)
{
    FILE *const f = fopen(name, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void assert_holds(const char *name, const char *text)
{
    char got[64] = "";
    FILE *const f = fopen(name, "r");

    assert_non_null(f);
    assert_true(fread(got, 1, sizeof got - 1, f) == strlen(text));
    assert_string_equal(got, text);
    assert_int_equal(fclose(f), 0);
}

/* The number of files in the working directory. */
static int count_files(void)
{
    DIR *const dir = opendir(".");
    int n = -2; /* for "." and ".." */

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

TEST_WITH(is_there_once_committed_and_not_before, enter, leave)
{
    struct osc_output o;

    assert_int_equal(osc_output_open(&o, "a"), 0);
    assert_int_equal(write(o.fd, "new", 3), 3);
    assert_int_not_equal(access("a", F_OK), 0);
    assert_int_equal(osc_output_commit(&o), 0);
    assert_holds("a", "new");
    assert_int_equal(count_files(), 1);
    osc_output_abandon(&o);
    assert_holds("a", "new");
}

TEST_WITH(takes_the_place_of_what_was_there, enter, leave)
{
    struct osc_output o;

    put("a", "old");
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(osc_output_open(&o, "link"), 0);
    assert_int_equal(write(o.fd, "newer", 5), 5);
    assert_holds("a", "old");
    assert_int_equal(osc_output_commit(&o), 0);
    assert_holds("a", "newer");
    assert_int_equal(count_files(), 2);
}

TEST_WITH(follows_links_to_what_is_not_there, enter, leave)
{
    struct osc_output o;

    assert_int_equal(symlink("./b", "a"), 0);
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(osc_output_open(&o, "link"), 0);
    assert_int_equal(write(o.fd, "new", 3), 3);
    assert_int_equal(osc_output_commit(&o), 0);
    assert_holds("b", "new");
    assert_holds("link", "new");
    assert_int_equal(count_files(), 3);
}

static mode_t mode_of(const char *name)
{
    struct stat info;

    assert_int_equal(stat(name, &info), 0);
    return info.st_mode & 0777;
}

TEST_WITH(is_as_private_as_what_was_there_or_what_it_is_made_of, enter, leave)
{
    const mode_t mask = umask(022);
    struct osc_output o;

    put("b", "in");
    for (int i = 0; i < 3;
         i++) { /* new, from a private file; again; in place of a public one */
        assert_int_equal(chmod("b", i == 1 ? 0644 : 0600), 0);
        if (i == 2)
            assert_int_equal(chmod("a", 0640), 0);
        assert_int_equal(osc_output_open(&o, "a"), 0);
        osc_output_keep_private(&o, "b");
        osc_output_keep_private(&o, "-");
        assert_int_equal(osc_output_commit(&o), 0);
        assert_int_equal(mode_of("a"), i == 2 ? 0640 : 0600);
    }
    (void)umask(mask);
}

TEST_WITH(a_pipe_does_not_say_who_may_read, enter, leave)
{
    const mode_t mask = umask(022);
    const char *const inputs[] = {"pipe", "b"};
    struct osc_output o;

    assert_int_equal(mkfifo("pipe", 0600), 0);
    for (int n = 1; n <= 2; n++) {
        put("b", "in");
        assert_int_equal(chmod("b", 0600), 0);
        (void)unlink("a");
        assert_int_equal(osc_output_open(&o, "a"), 0);
        osc_output_keep_all_private(&o, inputs, n);
        assert_int_equal(osc_output_commit(&o), 0);
        assert_int_equal(mode_of("a"), n == 1 ? 0644 : 0600);
    }
    assert_int_equal(unlink("pipe"), 0);
    (void)umask(mask);
}

TEST_WITH(a_signal_removes_a_tree, enter, leave)
{
    assert_int_equal(mkdir("a", 0700), 0);
    const pid_t child = fork();

    if (child == 0) {
        char name[64];

        osc_output_guard_tree("a");
        for (int i = 0; i < 400; i++) {
            snprintf(name, sizeof name, i % 4 ? "a/%d/x%d" : "a/%d", i / 4, i % 4);
            if (i % 4 == 0 ? mkdir(name, 0700) != 0 : mkfifo(name, 0600) != 0)
                _exit(1);
        }
        if (symlink("/", "a/7/link") != 0 || mkdir("a/8/inner", 0700) != 0)
            _exit(1);
        (void)raise(SIGTERM);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(count_files(), 0);
}

TEST_WITH(leaves_nothing_when_abandoned, enter, leave)
{
    struct osc_output o;

    put("a", "old");
    assert_int_equal(osc_output_open(&o, "a"), 0);
    assert_int_equal(write(o.fd, "new", 3), 3);
    osc_output_abandon(&o);
    assert_holds("a", "old");
    assert_int_equal(count_files(), 1);
}

TEST_WITH(knows_its_own_file_by_any_name, enter, leave)
{
    struct osc_output o;

    put("a", "old");
    put("b", "other");
    assert_int_equal(symlink("a", "link"), 0);
    assert_int_equal(osc_output_open(&o, "a"), 0);
    assert_true(osc_output_is(&o, "link"));
    assert_true(osc_output_is(&o, "./a"));
    assert_false(osc_output_is(&o, "b"));
    assert_false(osc_output_is(&o, "nothing"));
    osc_output_abandon(&o);
}

TEST_WITH(refuses_directories_and_missing_ones, enter, leave)
{
    struct osc_output o;

    assert_int_equal(osc_output_open(&o, "."), 1);
    osc_output_abandon(&o);
    assert_int_equal(osc_output_open(&o, "nowhere/a"), 1);
    osc_output_abandon(&o);
    assert_int_equal(count_files(), 0);
}

UNIT_MAIN("output")
