/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include "support/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
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
