/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 2048

/* Lower *LIMIT to the limit in TEXT, the content of a control file. */
typedef void narrow_fn(const char *text, uint64_t *limit);

/* TEXT is "QUOTA PERIOD" or "max PERIOD"; "max" reads as 0. */
static void narrow_cpus(const char *text, uint64_t *limit)
{
    char *end;
    const unsigned long long quota = strtoull(text, &end, 10);
    const unsigned long long period = strtoull(end, NULL, 10);

    if (quota == 0 || period == 0)
        return;
    const uint64_t cpus = quota / period + (quota % period != 0);
    if (cpus < *limit)
        *limit = cpus;
}

/* TEXT is "BYTES" or "max". */
static void narrow_bytes(const char *text, uint64_t *limit)
{
    const unsigned long long bytes = strtoull(text, NULL, 10); /* "max" reads as 0 */

    if (bytes > 0 && bytes < *limit)
        *limit = bytes;
}

static void read_limit(const char *path, narrow_fn *narrow, uint64_t *limit)
{
    FILE *const f = fopen(path, "re");
    char line[64];

    if (!f)
        return;
    if (fgets(line, sizeof line, f))
        narrow(line, limit);
    (void)fclose(f);
}

/* Whether LINE, "NUMBER:CONTROLLERS:GROUP", names CONTROLLER; "" matches version 2. */
static bool is_of(const char *line, const char *controller)
{
    const char *at = strchr(line, ':');
    const size_t len = strlen(controller);

    if (!at)
        return false;
    at++;
    if (len == 0)
        return *at == ':';
    for (;;) {
        const size_t n = strcspn(at, ",:");

        if (n == len && memcmp(at, controller, n) == 0)
            return true;
        if (at[n] != ',')
            return false;
        at += n + 1;
    }
}

/* Write the group of this process for CONTROLLER to GROUP; the root is "". */
static bool find_group(const char *root, const char *controller, char *group, size_t size)
{
    char path[PATH_MAX], line[LINE_BYTES];
    bool is_found = false;

    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *const f = fopen(path, "re");
    if (!f)
        return false;
    while (!is_found && fgets(line, sizeof line, f))
        is_found = is_of(line, controller);
    (void)fclose(f);
    if (!is_found)
        return false;

    line[strcspn(line, "\n")] = '\0';
    const char *const start = strchr(strchr(line, ':') + 1, ':');
    (void)snprintf(group, size, "%s", start ? start + 1 : "");
    return true;
}

/* Lower *LIMIT by FILE of this process's group for CONTROLLER, below FOLDER, and by that of
 * each group above. */
static void narrow_by(const char *root, const char *controller, const char *folder,
                      const char *file, narrow_fn *narrow, uint64_t *limit)
{
    char group[LINE_BYTES], path[PATH_MAX];

    if (!find_group(root, controller, group, sizeof group))
        return;
    for (;;) {
        const int n = snprintf(path, sizeof path, "%s%s%s/%s", root, folder, group, file);
        char *const slash = strrchr(group, '/');

        if (n > 0 && (size_t)n < sizeof path)
            read_limit(path, narrow, limit);
        if (!slash)
            return;
        *slash = '\0';
    }
}

unsigned osc_cgroup_cpus(const char *root, unsigned most)
{
    uint64_t cpus = most;

    narrow_by(root, "", "/sys/fs/cgroup", "cpu.max", narrow_cpus, &cpus);
    return (unsigned)cpus;
}

uint64_t osc_cgroup_memory(const char *root, uint64_t most)
{
    narrow_by(root, "", "/sys/fs/cgroup", "memory.max", narrow_bytes, &most);
    narrow_by(root, "", "/sys/fs/cgroup", "memory.high", narrow_bytes, &most);
    narrow_by(root, "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", narrow_bytes,
              &most);
    return most;
}

uint64_t osc_cgroup_default_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const uint64_t all =
        pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX / 2;

    return osc_cgroup_memory("", all) / 5 * 4;
}
