/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sources/source_files.h"
#include "sources/source_kind.h"

/* Store the path of the Python that records: that of the environment in which the package whose
 * hook is at HOOK is installed, or else the first of the search path. */
static bool find_python(const char *hook, char *path, size_t room)
{
    const int len = snprintf(path, room, "%s/../../../../../../bin/python3", hook);

    return (len > 0 && (size_t)len < room && access(path, X_OK) == 0) ||
           osc_find_program("python3", path, room) || osc_find_program("python", path, room);
}

/* What python/opscope/torch/target.py says of the recorder for the torch of that Python: a line
 * `ready` or `missing`, and a line with a clause. Asked once, since it takes a while. */
static const char *ask(const char *hook)
{
    static char said[1024];
    char python[PATH_MAX], script[PATH_MAX];

    if (said[0])
        return said;
    const int len = snprintf(script, sizeof script, "%s/../target.py", hook);
    if (!find_python(hook, python, sizeof python))
        snprintf(said, sizeof said,
                 "missing\nthere is no python3 whose torch could be recorded");
    else if (len < 0 || (size_t)len >= sizeof script ||
             !osc_read_output((const char *const[]){python, script, NULL}, said, sizeof said) ||
             !strchr(said, '\n'))
        snprintf(said, sizeof said, "missing\n%.400s cannot run the package's files", python);
    char *const clause = strchr(said, '\n') + 1;
    clause[strcspn(clause, "\n")] = '\0';
    return said;
}

static void check(char *text, size_t size)
{
    static const char missing[] = "missing\n";
    char hook[PATH_MAX];

    if (!osc_find_torch_hook(hook, sizeof hook))
        snprintf(text, size,
                 "this opscope does not belong to the Python package: 'pip "
                 "install .' in the sources builds one that does");
    else if (strncmp(ask(hook), missing, sizeof missing - 1) == 0)
        snprintf(text, size, "%s", ask(hook) + sizeof missing - 1);
}

static const char *remark(void)
{
    static const char ready[] = "ready\n";
    static char text[1024];
    char hook[PATH_MAX];

    if (!osc_find_torch_hook(hook, sizeof hook) ||
        strncmp(ask(hook), ready, sizeof ready - 1) != 0)
        return "";
    snprintf(text, sizeof text, "; %.1000s", ask(hook) + sizeof ready - 1);
    return text;
}

const struct osc_source_kind osc_source_kind_torch = {
    .title = "PyTorch",
    .what = "operators of PyTorch in Python programs, with --torch",
    .check = check,
    .remark = remark,
};

const struct osc_source_kind osc_source_kind_torch_variant = {.title = "PyTorch"};
