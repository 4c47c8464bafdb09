/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_sink.h - a sink of the flusher that writes into a folder of its own, with the blocks and
 * names of a recording beside it.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/flusher/sink.h"
#include "recorder/live/blocks.h"
#include "recorder/live/names.h"
#include "support/unit.h"

static char folder[32], out[64];
static int dir_fd;
static struct osc_sink sink;

static void open_sink(bool has_parts)
{
    static const uint64_t recording[2] = {3, 4};
    const struct osc_process_facts facts = {.clock_name = "test"};

    (void)strcpy(folder, "/tmp/opscope-sink-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(out, sizeof out, "%s/run.osc", folder);
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(osc_blocks_open(dir_fd, 4 << 20, recording), OSC_OK);
    while (osc_blocks_grow_early())
        continue;
    assert_int_equal(osc_names_open(dir_fd, recording), OSC_OK);
    memset(&sink, 0, sizeof sink);
    sink.file.out = out;
    sink.has_parts = has_parts;
    memcpy(sink.file.recording, recording, sizeof recording);
    assert_int_equal(osc_sink_open(&sink, dir_fd, &facts), OSC_OK);
}

/* Remove the folder with the recording and up to 20 parts of it. */
static void close_sink(void)
{
    char path[128];

    osc_sink_close(&sink);
    osc_names_detach();
    osc_blocks_close();
    (void)unlinkat(dir_fd, "blocks", 0);
    (void)unlinkat(dir_fd, "strings", 0);
    (void)unlinkat(dir_fd, "standing", 0);
    (void)close(dir_fd);
    for (int part = 2; part < 20; part++) {
        (void)snprintf(path, sizeof path, "%s/run.%d.osc", folder, part);
        (void)unlink(path);
    }
    (void)unlink(out);
    assert_int_equal(rmdir(folder), 0);
}
