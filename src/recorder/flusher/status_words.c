/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/flusher/status_words.h"

#include <string.h>
#include <unistd.h>

#include "recorder/flusher/control_socket.h"
#include "recorder/live/categories.h"
#include "recorder/thread/losses.h"
#include "recorder/thread/sampling.h"

size_t osc_status_error(char *out, const char *why)
{
    return (size_t)((char *)mempcpy(mempcpy(out, "error ", 6), why, strlen(why)) - out);
}

size_t osc_status_switch(const char *command, char *out)
{
    const bool is_enable = strncmp(command, "enable ", 7) == 0;
    osc_status st;

    if (!is_enable && strncmp(command, "sample ", 7) != 0)
        return 0;
    st = is_enable ? osc_categories_enable(command + 7) : osc_sampling_set(command + 7);
    if (st != OSC_OK)
        return osc_status_error(out, st == OSC_EINVAL ? "it is no such list"
                                                      : "there are too many rules");
    return (size_t)((char *)mempcpy(out, "ok", 2) - out);
}

size_t osc_status_write(const struct osc_status_facts *facts, char *out, size_t room)
{
#define WORD(cause, member, words) [OSC_LOSS_##cause] = "lost_" #member,
    static const char *const losses[OSC_LOSS_COUNT] = {OSC_LOSS_LIST(WORD)};
    const struct osc_parts *file = facts->file;
    uint64_t lost[OSC_LOSS_COUNT];
    size_t len = 2;

    osc_losses_sum(lost);
    mempcpy(out, "ok", 2);
    osc_control_add(out, room, &len, "state", facts->state);
    osc_control_add_number(out, room, &len, "pid", getpid());
    osc_control_add(out, room, &len, "path", file->path);
    osc_control_add_number(out, room, &len, "records", (int64_t)file->all_records);
    osc_control_add_number(out, room, &len, "bytes", (int64_t)file->all_bytes);
    for (unsigned k = 0; k < OSC_LOSS_COUNT; k++)
        osc_control_add_number(out, room, &len, losses[k], (int64_t)lost[k]);
    osc_control_add_number(out, room, &len, "blocks", facts->n_blocks);
    osc_control_add_number(out, room, &len, "step", facts->step);
    if (facts->error)
        osc_control_add_number(out, room, &len, "error", facts->error);
    return len;
}
