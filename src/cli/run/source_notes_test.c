/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source_notes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/said.h"
#include "support/unit.h"

static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/opscope-notes-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

/* Fails if a file is left in the directory. */
static int leave(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void leave_note(const char *name, const char *text)
{
    const int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static unsigned report(void)
{
    return osc_source_notes_report(folder);
}

TEST_WITH(a_note_is_told_in_one_line_and_removed, enter, leave)
{
    leave_note(".torch-failed.41", "no C++ compiler");
    said_begin();
    assert_true(report());
    assert_string_equal(said_end(), "opscope: [torch] PID 41: no C++ compiler\n");
    assert_false(report());
}

TEST_WITH(of_several_notes_one_is_told_and_all_are_removed, enter, leave)
{
    leave_note(".torch-failed.7", "same");
    leave_note(".torch-failed.8", "same");
    said_begin();
    assert_true(report());
    const char *const said = said_end();

    assert_non_null(strstr(said, ": same\n"));
    assert_ptr_equal(strstr(said, ": same\n"), strrchr(said, '\n') - strlen(": same"));
}

TEST_WITH(other_files_are_no_notes, enter, leave)
{
    leave_note("torch-failed.1", "not ours");
    said_begin();
    assert_false(report());
    assert_false(osc_source_notes_report("nowhere"));
    assert_string_equal(said_end(), "");
    assert_int_equal(unlink("torch-failed.1"), 0);
}

TEST_WITH(of_idle_profiles_one_is_taken_and_nothing_is_printed, enter, leave)
{
    char text[OSC_SOURCE_NOTE_BYTES];

    leave_note(".torch-idle.7", "PID 7 ran");
    leave_note(".torch-failed.7", "no");
    osc_source_notes_take_idle(folder, text);
    assert_string_equal(text, "PID 7 ran");
    osc_source_notes_take_idle(folder, text);
    assert_string_equal(text, "");
    said_begin();
    assert_true(report());
    assert_string_equal(said_end(), "opscope: [torch] PID 7: no\n");
}

TEST_WITH(a_note_that_is_a_link_is_removed_unread, enter, leave)
{
    leave_note("secret", "text");
    assert_int_equal(symlink("secret", ".torch-failed.2"), 0);
    said_begin();
    assert_true(report());
    assert_string_equal(said_end(), "opscope: [torch] PID 2: \n");
    assert_int_equal(unlink("secret"), 0);
}

UNIT_MAIN("source_notes")
