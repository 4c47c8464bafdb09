/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/empty_recording.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "cli/run/source_list.h"
#include "recording/part_writer.h"
#include "recording/process_facts.h"

osc_status osc_empty_recording_facts(struct osc_process_facts_out *to, pid_t pid,
                                     char *const *argv, const char *run_id,
                                     const struct osc_sources *s)
{
    struct osc_strbuf command = {0}, failed = {0};
    char host[HOST_NAME_MAX + 1] = "";

    for (uint32_t i = 0; argv && argv[i]; i++)
        osc_strbuf_addf(&command, i > 0 ? " %s" : "%s", argv[i]);
    gethostname(host, sizeof host - 1);
    osc_process_facts_add_number(to, "pid", (uint64_t)pid);
    if (argv)
        osc_process_facts_add_number(to, "parent_pid", (uint64_t)getpid());
    osc_process_facts_add(to, "host", host);
    osc_process_facts_add(to, "command", command.s);
    osc_process_facts_add(to, "run_id", run_id);
    osc_process_facts_add(to, "sources", s->asked);
    osc_sources_add_names(&failed, s->failed, "");
    osc_process_facts_add(to, "failed_sources", failed.s);
    if (s->is_idle)
        osc_process_facts_add(to, "mode", "schedule");
    osc_process_facts_add(to, "opscope_version", OSC_VERSION);
    const osc_status st = command.status != OSC_OK ? command.status : failed.status;
    osc_strbuf_fini(&command);
    osc_strbuf_fini(&failed);
    return st;
}

osc_status osc_empty_recording_write(const char *directory, pid_t pid, char *const *argv,
                                     const struct osc_sources *s)
{
    const struct osc_wire_end end = {.reason = OSC_END_STOPPED};
    struct osc_wire_header header = {.type = OSC_CHUNK_PROCESS};
    struct osc_parts file = {.recording = {osc_hash_seed(), osc_hash_seed()}};
    unsigned char facts[OSC_PROCESS_FACTS_BYTES];
    struct osc_process_facts_out to = {.out = facts};
    const long long now_s = (long long)time(NULL);
    char path[PATH_MAX], host[HOST_NAME_MAX + 1] = "host";
    unsigned n = 0;
    osc_status st;

    gethostname(host, sizeof host - 1);
    do { /* the process may have recordings of its own */
        if (snprintf(path, sizeof path, "%s/%s.%d.%lld.%u.osc", directory, host, (int)pid,
                     now_s, n++) >= (int)sizeof path)
            return OSC_EIO;
    } while (access(path, F_OK) == 0);
    file.out = path;
    st = osc_empty_recording_facts(&to, pid, argv, s->run_id, s);
    header.n_items = to.n;
    header.payload_bytes = to.len;
    if (st == OSC_OK)
        st = osc_parts_open(&file);
    if (st == OSC_OK) {
        st = osc_parts_append(&file, header, facts);
        if (st == OSC_OK)
            st = osc_parts_close(&file, &end);
        if (st != OSC_OK)
            osc_parts_discard(&file);
    }
    osc_parts_forget(&file);
    return st;
}
