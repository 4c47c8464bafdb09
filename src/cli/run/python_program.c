/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/python_program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "sources/source_files.h"

/* Whether WORD of a command is the interpreter or a source file. */
static bool is_python_word(const char *word)
{
    const char *const slash = strrchr(word, '/');
    const struct osc_str name = osc_str_c(slash ? slash + 1 : word);

    return osc_str_starts(name, OSC_STR("python")) || osc_str_ends(name, OSC_STR(".py"));
}

/* Whether the file at PATH begins with a line that names the interpreter. */
static bool is_python_script(const char *path)
{
    char line[256] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    const ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    if (n < 2 || memcmp(line, "#!", 2) != 0)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return strstr(line, "python") != NULL;
}

bool osc_python_program_is(const char *const *argv)
{
    for (uint32_t i = 0; argv[i]; i++) {
        if (is_python_word(argv[i]))
            return true;
    }
    char path[PATH_MAX];
    return argv[0] && osc_find_program(argv[0], path, sizeof path) && is_python_script(path);
}
