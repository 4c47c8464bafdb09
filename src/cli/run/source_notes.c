/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source_notes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/source_kinds.h"

static const struct osc_str middle = {"-failed.", sizeof "-failed." - 1};

/* The source whose note the file NAME is; NULL: it is none. */
static const struct osc_source_kind *source_of(struct osc_str name)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_kind *const kind = &osc_source_kinds[i];
        const struct osc_str word = osc_str_c(kind->word);

        if (name.len > word.len && name.s[0] == '.' &&
            osc_str_starts((struct osc_str){name.s + 1, name.len - 1}, word) &&
            osc_str_starts((struct osc_str){name.s + 1 + word.len, name.len - 1 - word.len},
                           middle))
            return kind;
    }
    return NULL;
}

static void report(const struct osc_source_kind *kind, int dir, const char *name)
{
    char text[512];
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
    osc_cli_error("[%s] PID %s: %s", kind->word,
                  name + 1 + osc_str_c(kind->word).len + middle.len, text);
}

unsigned osc_source_notes_report(const char *directory)
{
    DIR *const dir = opendir(directory);
    unsigned told = 0;

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const struct osc_source_kind *const kind = source_of(osc_str_c(e->d_name));

        if (!kind)
            continue;
        if (!(told & kind->bit))
            report(kind, dirfd(dir), e->d_name);
        told |= kind->bit;
        unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
    return told;
}
