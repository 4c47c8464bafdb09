/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/process_facts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "wire/chunk.h"

enum { VALUE_MAX = 4096 };

/* Variables that give the number of a process in a distributed program. */
static const char *const launcher_variables[] = {
    "RANK",     "LOCAL_RANK", "WORLD_SIZE",   "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK", "PMI_SIZE",   "SLURM_PROCID", "SLURM_NTASKS",
};

static void add(struct osc_process_facts_out *to, const char *key, const char *value,
                size_t len)
{
    const struct osc_wire_fact head = {(uint32_t)strlen(key), (uint32_t)len};

    if (len == 0 || len > OSC_PROCESS_FACTS_BYTES - to->len ||
        sizeof head + head.key_bytes > OSC_PROCESS_FACTS_BYTES - to->len - len)
        return;
    memcpy(to->out + to->len, &head, sizeof head);
    memcpy(to->out + to->len + sizeof head, key, head.key_bytes);
    memcpy(to->out + to->len + sizeof head + head.key_bytes, value, len);
    to->len += sizeof head + head.key_bytes + len;
    to->n++;
}

void osc_process_facts_add(struct osc_process_facts_out *to, const char *key, const char *value)
{
    add(to, key, value, value ? strnlen(value, VALUE_MAX) : 0);
}

void osc_process_facts_add_number(struct osc_process_facts_out *to, const char *key, uint64_t v)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    add(to, key, digits + at, sizeof digits - at);
}

/* Read the first bytes of the file at PATH; returns 0 if it cannot be read. */
static size_t read_start(const char *path, char value[VALUE_MAX])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;

    if (fd < 0)
        return 0;
    for (ssize_t n; len < VALUE_MAX; len += (size_t)n) {
        n = read(fd, value + len, VALUE_MAX - len);
        if (n <= 0)
            break;
    }
    close(fd);
    return len;
}

static void add_files(struct osc_process_facts_out *to)
{
    char value[VALUE_MAX];
    size_t len;
    const ssize_t n = readlink("/proc/self/exe", value, sizeof value);

    if (n > 0)
        add(to, "exe", value, (size_t)n);

    len = read_start("/proc/self/cmdline", value);
    while (len && value[len - 1] == '\0')
        len--;
    for (size_t i = 0; i < len; i++)
        if (value[i] == '\0')
            value[i] = ' ';
    add(to, "command", value, len);

    len = read_start("/proc/sys/kernel/random/boot_id", value);
    while (len && value[len - 1] == '\n')
        len--;
    add(to, "boot_id", value, len);
}

/* Add the sources that were requested, with '-' before those that cannot be used. */
static void add_sources(struct osc_process_facts_out *to)
{
    const char *const sources = secure_getenv("OPSCOPE_SOURCES");
    char failed[VALUE_MAX];
    size_t n = 0;

    osc_process_facts_add(to, "sources", sources);
    for (const char *p = sources; p && *p;) {
        const size_t len = strcspn(p, ",");

        if (*p == '-' && len < sizeof failed - n) {
            if (n > 0)
                failed[n++] = ',';
            memcpy(failed + n, p + 1, len - 1);
            n += len - 1;
        }
        p += len + (p[len] == ',');
    }
    add(to, "failed_sources", failed, n);
}

size_t osc_process_facts_collect(const struct osc_process_facts *facts,
                                 unsigned char out[OSC_PROCESS_FACTS_BYTES], uint64_t *n_facts)
{
    struct osc_process_facts_out to = {.out = out};
    struct utsname host;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    osc_process_facts_add_number(&to, "pid", (uint64_t)getpid());
    osc_process_facts_add_number(&to, "parent_pid", (uint64_t)getppid());
    osc_process_facts_add_number(&to, "start_unix_ns", facts->start_unix_ns);
    if (uname(&host) == 0)
        osc_process_facts_add(&to, "host", host.nodename);
    add_files(&to);
    if (cpus > 0)
        osc_process_facts_add_number(&to, "cpus", (uint64_t)cpus);
    osc_process_facts_add(&to, "run_id", secure_getenv("OPSCOPE_RUN_ID"));
    add_sources(&to);
    osc_process_facts_add(&to, "opscope_version", OSC_VERSION);
    if (facts->ticks_hz)
        osc_process_facts_add_number(&to, "ticks_hz", facts->ticks_hz);
    osc_process_facts_add(&to, "clock", facts->clock_name);
    osc_process_facts_add(&to, "mode", facts->mode);
    osc_process_facts_add(&to, "start", facts->is_late ? "late" : NULL);
    for (size_t i = 0; i < sizeof launcher_variables / sizeof *launcher_variables; i++)
        osc_process_facts_add(&to, launcher_variables[i], getenv(launcher_variables[i]));
    *n_facts = to.n;
    return to.len;
}
