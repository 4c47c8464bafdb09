/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/part_files.h"

#include <stdio.h>
#include <unistd.h>

#include "recording/part_writer.h"
#include "support/unit.h"

static const uint64_t ours[2] = {11, 22}, earlier[2] = {33, 44};
static char folder[64], out[80];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/opscope-parts-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(out, sizeof out, "%s/a.osc", folder);
    return 0;
}

/* Remove PART, if it is there. */
static void remove_part(uint32_t part)
{
    char path[OSC_PARTS_PATH_BYTES];

    assert_true(osc_parts_name(out, part, path));
    (void)unlink(path);
}

static int leave(void **state)
{
    (void)state;
    for (uint32_t part = 1; part < 10; part++)
        remove_part(part);
    return rmdir(folder);
}

/* Write PART of RECORDING. */
static void write_part(uint32_t part, const uint64_t recording[2])
{
    const struct osc_wire_end end = {0};
    struct osc_parts f = {
        .out = out, .recording = {recording[0], recording[1]}, .part = part - 1};

    assert_int_equal(osc_parts_open(&f), OSC_OK);
    assert_int_equal(osc_parts_close(&f, &end), OSC_OK);
    osc_parts_forget(&f);
}

TEST_WITH(the_last_part_is_found_without_the_first, enter, leave)
{
    assert_int_equal(osc_part_files_last(folder, out, ours), 0);
    for (uint32_t part = 1; part <= 3; part++)
        write_part(part, ours);
    assert_int_equal(osc_part_files_last(folder, out, ours), 3);
    remove_part(1);
    assert_int_equal(osc_part_files_last(folder, out, ours), 3);
}

TEST_WITH(parts_of_an_earlier_recording_do_not_count, enter, leave)
{
    for (uint32_t part = 1; part <= 4; part++)
        write_part(part, part <= 2 ? ours : earlier);
    assert_int_equal(osc_part_files_last(folder, out, ours), 2);
    assert_int_equal(osc_part_files_last(folder, out, earlier), 4);
}

UNIT_MAIN("part_files")
