/* SPDX-License-Identifier: Apache-2.0 */
#include "import/osc/open_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/build/filename.h"
#include "import/osc/live_dir.h"

/* Open the file `blocks` of the directory PATH instead. If it is missing, IN and INFO are not
 * changed. */
static void enter_live(struct osc_input *in, const char *path, struct stat *info)
{
    const int dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    const int fd =
        dir < 0 ? -1 : openat(dir, "blocks", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat blocks;

    if (dir >= 0)
        close(dir);
    if (fd < 0)
        return;
    if (fstat(fd, &blocks) != 0 || !S_ISREG(blocks.st_mode)) {
        close(fd);
        return;
    }
    *info = blocks;
    close(in->fd);
    in->fd = fd;
    in->is_live = true;
}

/* Whether PATH has the name of a live directory. */
static bool has_live_name(const char *path)
{
    struct osc_str s = osc_str_c(path);

    while (s.len > 1 && s.s[s.len - 1] == '/')
        s.len--;
    return osc_str_ends(s, OSC_STR(".osc.live"));
}

/* The recording was killed before it had written a byte of a part: open the live directory
 * beside the empty file instead, if there is one. */
static osc_status enter_beside(struct osc_input *in, struct stat *info, struct osc_err *err)
{
    const struct osc_filename f = osc_filename_parse(in->path);
    const uint32_t parts[] = {1, f.number.len ? (uint32_t)strtoul(f.number.s, NULL, 10) : 1};
    const uint32_t n = f.is_recording ? sizeof parts / sizeof *parts : 0;

    for (uint32_t i = 0; i < n && !in->is_live; i++) {
        osc_free(in->beside);
        in->beside = osc_live_dir_path(in->path, parts[i]);
        if (!in->beside)
            return osc_fail(err, OSC_ENOMEM, "%s: out of memory", in->path);
        enter_live(in, in->beside, info);
    }
    if (in->is_live)
        in->path = in->beside;
    return OSC_OK;
}

bool osc_live_is_blank(const char *path)
{
    const int dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    uint64_t magic = 0;

    if (dir < 0)
        return false;
    const int fd = openat(dir, "blocks", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_blank = fd >= 0 || errno == ENOENT;

    if (fd >= 0) {
        is_blank = pread(fd, &magic, sizeof magic, 0) >= 0 &&
                   (magic == 0 || lseek(fd, 0, SEEK_END) < (off_t)sizeof magic);
        close(fd);
    }
    is_blank = is_blank && faccessat(dir, "strings", F_OK, 0) != 0 && errno == ENOENT;
    close(dir);
    return is_blank;
}

osc_status osc_input_open(struct osc_input *in, const char *path, struct osc_err *err)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    struct stat info = {0};
    osc_status st = OSC_OK;

    *in = (struct osc_input){
        .path = is_stdin ? "standard input" : path, .fd = -1, .is_stdin = is_stdin};
    in->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0 || fstat(in->fd, &info) != 0)
        return osc_fail(err, OSC_EIO, "%s: cannot be opened: %s", in->path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        enter_live(in, path, &info);
    else if (S_ISREG(info.st_mode) && info.st_size == 0 && !is_stdin)
        st = enter_beside(in, &info, err);
    if (st != OSC_OK)
        return st;
    if ((in->is_live || has_live_name(path)) && osc_live_is_blank(path))
        return osc_fail(err, OSC_EFORMAT,
                        "%s: nothing was recorded into it: its process ended before that, or "
                        "is just starting",
                        path);
    return osc_input_measure(in, &info, err);
}
