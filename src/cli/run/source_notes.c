/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source_notes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"
#include "sources/source_kinds.h"

static const struct osc_str failed = {"-failed.", sizeof "-failed." - 1};
static const struct osc_str idle = {"-idle.", sizeof "-idle." - 1};

/* The source whose note the file NAME is, with MIDDLE after its word; NULL: it is none. */
static const struct osc_source_entry *source_of(struct osc_str name, struct osc_str middle)
{
    for (size_t i = 0; i < OSC_SOURCE_COUNT; i++) {
        const struct osc_source_entry *const source = &osc_source_entries[i];
        const struct osc_str word = osc_str_c(source->word);

        if (name.len > word.len && name.s[0] == '.' &&
            osc_str_starts((struct osc_str){name.s + 1, name.len - 1}, word) &&
            osc_str_starts((struct osc_str){name.s + 1 + word.len, name.len - 1 - word.len},
                           middle))
            return source;
    }
    return NULL;
}

/* Read the note NAME into TEXT of SIZE bytes. */
static void read_note(int dir, const char *name, char *text, size_t size)
{
    const int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t len = fd >= 0 ? read(fd, text, size - 1) : 0;

    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
}

unsigned osc_source_notes_report(const char *directory)
{
    DIR *const dir = opendir(directory);
    unsigned told = 0;
    char text[OSC_SOURCE_NOTE_BYTES];

    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const struct osc_source_entry *const source = source_of(osc_str_c(e->d_name), failed);

        if (!source)
            continue;
        read_note(dirfd(dir), e->d_name, text, sizeof text);
        if (!(told & source->bit))
            osc_cli_error("[%s] PID %s: %s", source->word,
                          e->d_name + 1 + osc_str_c(source->word).len + failed.len, text);
        told |= source->bit;
        unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
    return told;
}

void osc_source_notes_take_idle(const char *directory, char text[OSC_SOURCE_NOTE_BYTES])
{
    DIR *const dir = opendir(directory);

    text[0] = '\0';
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        if (!source_of(osc_str_c(e->d_name), idle))
            continue;
        if (text[0] == '\0')
            read_note(dirfd(dir), e->d_name, text, OSC_SOURCE_NOTE_BYTES);
        unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}
