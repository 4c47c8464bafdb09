/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/python_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/unit.h"

#define RUNS_PYTHON(...) osc_python_program_is((const char *const[]){__VA_ARGS__, NULL})

static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/opscope-python-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 && setenv("PATH", folder, 1) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink("tool");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void make_tool(const char *text)
{
    const int fd = open("tool", O_CREAT | O_TRUNC | O_WRONLY, 0700);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

TEST(an_interpreter_and_a_source_file_are_python)
{
    assert_true(RUNS_PYTHON("python"));
    assert_true(RUNS_PYTHON("/usr/bin/python3.11", "-m", "train"));
    assert_true(RUNS_PYTHON("env", "A=1", "python3", "x"));
    assert_true(RUNS_PYTHON("./train.py", "--fast"));
    assert_false(RUNS_PYTHON("./convnet", "--python"));
    assert_false(RUNS_PYTHON("/opt/python/convnet"));
}

TEST_WITH(a_script_is_python_if_its_first_line_says_so, enter, leave)
{
    make_tool("#!/usr/bin/env python3\nimport torch\n");
    assert_true(RUNS_PYTHON("tool"));
    assert_true(RUNS_PYTHON("./tool", "x"));
    make_tool("#!/bin/sh\nexec python3 train\n");
    assert_false(RUNS_PYTHON("tool"));
    make_tool("\x7f"
              "ELF");
    assert_false(RUNS_PYTHON("./tool"));
    assert_false(RUNS_PYTHON("no-such-tool"));
}

UNIT_MAIN("python_program")
