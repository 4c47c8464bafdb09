/* SPDX-License-Identifier: Apache-2.0 */
#include "opscope/trace.h"

#include "support/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "codec/deflate.h"
#include "codec/inflate.h"

#define N_BYTES (3u << 20) /* some blocks, and a part of one at the end */

static char directory[] = "/tmp/osc-gzip-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    (void)strcpy(strrchr(directory, '-') + 1, "XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

/* Whether this build compresses; if not, the call must say so. */
static bool can_compress(void)
{
    struct osc_err err = {0};

    if (osc_deflate_is_there())
        return true;
    assert_int_equal(osc_gzip_file("plain", "packed.gz", &err), OSC_EINVAL);
    assert_string_equal(err.message, "this opscope was built without gzip");
    return false;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink("plain");
    (void)unlink("packed.gz");
    return chdir("/") == 0 ? rmdir(directory) : -1;
}

static void write_file(size_t n)
{
    FILE *const f = fopen("plain", "w");

    assert_non_null(f);
    for (size_t i = 0; i < n; i++)
        assert_int_not_equal(putc((int)(i * i >> 7 & 0x7f), f), EOF);
    assert_int_equal(fclose(f), 0);
}

static void assert_inflates_to(size_t n)
{
    static unsigned char packed[N_BYTES], plain[N_BYTES + 1];
    FILE *const f = fopen("packed.gz", "r");
    struct osc_inflate_io io = {.in = packed, .out = plain, .n_out = sizeof plain};
    enum osc_inflate_state state;
    struct osc_inflate *z;

    assert_non_null(f);
    io.n_in = fread(packed, 1, sizeof packed, f);
    io.is_last = true;
    assert_int_equal(fclose(f), 0);
    assert_int_equal(osc_inflate_new(&z, OSC_INFLATE_GZIP, NULL), OSC_OK);
    do
        state = osc_inflate_run(z, &io, NULL);
    while (state == OSC_INFLATE_MORE || state == OSC_INFLATE_END_OF_MEMBER);
    assert_int_equal(state, OSC_INFLATE_END);
    osc_inflate_free(z);
    assert_int_equal(sizeof plain - io.n_out, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(plain[i], i * i >> 7 & 0x7f);
}

TEST_WITH(a_file_is_compressed_whole, set_up, tear_down)
{
    const size_t sizes[] = {0, 1, N_BYTES - 17};

    if (!can_compress())
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_file(sizes[i]);
        assert_int_equal(osc_gzip_file("plain", "packed.gz", NULL), OSC_OK);
        assert_inflates_to(sizes[i]);
    }
}

TEST_WITH(files_that_cannot_be_used_are_named, set_up, tear_down)
{
    struct osc_err err = {0};

    if (!can_compress())
        return;
    assert_int_equal(osc_gzip_file("nothing", "packed.gz", &err), OSC_EIO);
    assert_string_equal(err.message, "nothing: No such file or directory");
    write_file(1);
    assert_int_equal(osc_gzip_file("plain", "no/packed.gz", &err), OSC_EIO);
    assert_string_equal(err.message, "no/packed.gz: No such file or directory");
}

UNIT_MAIN("gzip_file")
