/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Find the first existing of the N_PLACES paths, which are relative to the command. */
static bool find_beside(const char *const *places, size_t n_places, char *path, size_t room)
{
    char exe[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *const slash = n > 0 ? (exe[n] = '\0', strrchr(exe, '/')) : NULL;

    if (!slash)
        return false;
    slash[1] = '\0';
    for (size_t i = 0; i < n_places; i++) {
        char real[PATH_MAX];
        const int len = snprintf(path, room, "%s%s", exe, places[i]);

        if (len > 0 && (size_t)len < room && realpath(path, real) && strlen(real) < room) {
            memcpy(path, real, strlen(real) + 1);
            return true;
        }
    }
    return false;
}

bool osc_find_collector(char *path, size_t room)
{
    /* Packages have it in a directory of its own, because no program is linked with it. */
    static const char *const places[] = {OSC_COLLECTOR, "../" OSC_LIBDIR "/" OSC_COLLECTOR,
                                         "../" OSC_LIBDIR "/opscope/" OSC_COLLECTOR};

    return find_beside(places, sizeof places / sizeof *places, path, room);
}

bool osc_find_library(char *path, size_t room)
{
    static const char *const places[] = {OSC_LIBRARY, "../" OSC_LIBDIR "/" OSC_LIBRARY};

    return find_beside(places, sizeof places / sizeof *places, path, room);
}

bool osc_find_torch_hook(char *path, size_t room)
{
    static const char *const places[] = {"python/opscope/torch/hook", "../torch/hook"};

    return find_beside(places, sizeof places / sizeof *places, path, room);
}

/* Whether CHILD, or -1, ends with status 0. */
static bool says_yes(pid_t child)
{
    int status = 0;

    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool osc_is_loadable(const char *library, char *why, size_t room)
{
    int fds[2];
    size_t len = 0;
    ssize_t n;

    snprintf(why, room, "it could not be tried");
    if (pipe(fds) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        const bool is_there = dlopen(library, RTLD_LAZY) != NULL;
        const char *const text = is_there ? "" : dlerror();

        (void)!write(fds[1], text, strlen(text));
        _exit(!is_there);
    }
    close(fds[1]);
    while (child > 0 && len < room - 1 && (n = read(fds[0], why + len, room - 1 - len)) > 0)
        why[len += (size_t)n] = '\0';
    close(fds[0]);
    return says_yes(child);
}

bool osc_is_one_loadable(const char *const *libraries, size_t n)
{
    const pid_t child = fork();

    for (size_t i = 0; child == 0 && i < n; i++) {
        if (dlopen(libraries[i], RTLD_LAZY))
            _exit(0);
    }
    if (child == 0)
        _exit(1);
    return says_yes(child);
}

/* In a process of its own: 0 if the file of LIBRARY lacks WORD. */
static int look_for(const char *library, const char *word)
{
    void *const handle = dlopen(library, RTLD_LAZY);
    const struct link_map *map = NULL;
    struct stat st;

    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return 1;
    const int fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0)
        return 1;
    const void *const bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return bytes == MAP_FAILED || memmem(bytes, (size_t)st.st_size, word, strlen(word)) != NULL;
}

bool osc_library_lacks(const char *library, const char *word)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(look_for(library, word));
    return says_yes(child);
}

bool osc_find_program(const char *name, char *path, size_t room)
{
    const char *const places = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(path, room, "%s", name) < (int)room && access(path, X_OK) == 0;
    for (const char *p = places; p && *p; p += *p == ':') {
        const int len = (int)strcspn(p, ":");

        if (snprintf(path, room, "%.*s/%s", len, p, name) < (int)room &&
            access(path, X_OK) == 0)
            return true;
        p += len;
    }
    return false;
}

bool osc_read_output(const char *const *argv, char *text, size_t room)
{
    char rest[4096];
    int fds[2];
    size_t len = 0;

    if (pipe(fds) != 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        char *words[8] = {NULL};

        for (size_t i = 0; i < sizeof words / sizeof *words - 1 && argv[i]; i++)
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): execv() changes none of them */
            words[i] = (char *)(uintptr_t)argv[i];
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)close(fds[0]);
        (void)close(fds[1]);
        if (words[0])
            (void)execv(words[0], words);
        _exit(127);
    }
    (void)close(fds[1]);
    while (child > 0) {
        const bool has_room = len < room - 1;
        const ssize_t n =
            read(fds[0], has_room ? text + len : rest, has_room ? room - 1 - len : sizeof rest);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += has_room ? (size_t)n : 0;
    }
    text[len] = '\0';
    (void)close(fds[0]);
    return says_yes(child);
}
