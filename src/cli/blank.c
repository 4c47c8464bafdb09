/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/blank.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "recorder/parts.h"

static void add_fact(struct osc_strbuf *out, uint64_t *n, const char *key, struct osc_str value)
{
    const struct osc_wire_fact head = {(uint32_t)strlen(key), value.len};

    osc_strbuf_add(out, (const char *)&head, sizeof head);
    osc_strbuf_adds(out, key);
    osc_strbuf_add(out, value.s, value.len);
    ++*n;
}

static void add_number(struct osc_strbuf *out, uint64_t *n, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    add_fact(out, n, key, osc_str_c(text));
}

/* The payload of a PROCESS chunk. */
static void put_facts(struct osc_strbuf *out, uint64_t *n, pid_t pid, char *const *argv,
                      const struct osc_sources *s)
{
    struct osc_strbuf command = {0};
    char host[HOST_NAME_MAX + 1] = "";

    for (uint32_t i = 0; argv[i]; i++)
        osc_strbuf_addf(&command, i > 0 ? " %s" : "%s", argv[i]);
    gethostname(host, sizeof host - 1);
    add_number(out, n, "pid", pid);
    add_number(out, n, "parent_pid", getpid());
    add_fact(out, n, "host", osc_str_c(host));
    add_fact(out, n, "command", osc_str_c(command.s ? command.s : ""));
    add_fact(out, n, "run_id", osc_str_c(s->run_id));
    if (s->failed)
        add_fact(out, n, "failed_sources", osc_str_c(s->failed));
    add_fact(out, n, "opscope_version", osc_str_c(OSC_VERSION));
    out->status = out->status == OSC_OK ? command.status : out->status;
    osc_strbuf_fini(&command);
}

osc_status osc_blank_write(const char *directory, pid_t pid, char *const *argv,
                           const struct osc_sources *s)
{
    const struct osc_wire_end end = {.reason = OSC_END_STOPPED};
    struct osc_wire_header header = {.type = OSC_CHUNK_PROCESS};
    struct osc_parts file = {.recording = {osc_hash_seed(), osc_hash_seed()}};
    struct osc_strbuf facts = {0};
    char path[PATH_MAX], host[HOST_NAME_MAX + 1] = "host";
    osc_status st = OSC_EIO;

    gethostname(host, sizeof host - 1);
    if (snprintf(path, sizeof path, "%s/%s.%d.%lld.0.osc", directory, host, (int)pid,
                 (long long)time(NULL)) >= (int)sizeof path)
        return OSC_EIO;
    file.out = path;
    put_facts(&facts, &header.n_items, pid, argv, s);
    header.payload_bytes = facts.len;
    if (facts.status == OSC_OK)
        st = osc_parts_open(&file);
    if (st == OSC_OK) {
        st = osc_parts_append(&file, header, facts.s);
        if (st == OSC_OK)
            st = osc_parts_close(&file, &end);
        if (st != OSC_OK)
            osc_parts_discard(&file);
    }
    osc_parts_forget(&file);
    osc_strbuf_fini(&facts);
    return st;
}
