/* SPDX-License-Identifier: Apache-2.0 */
/* Our own files: what was exported (columns) or recorded, told apart by their chunks. */
#include "import/columns.h"
#include "import/osc_file.h"
#include "import/reader.h"

static osc_status osc_read(struct osc_reading *r, struct osc_err *err)
{
    struct osc_file f = {0};
    osc_status st = osc_file_open(&f, r->in, r->inflate, err);

    if (st == OSC_OK) {
        if (osc_file_has_columns(&f))
            st = osc_columns_read(r, &f, err);
        else
            st = osc_fail_at(err, OSC_EFORMAT, 0, "%s: holds nothing that was exported",
                             r->in->path);
    }
    osc_file_close(&f);
    return st;
}

const struct osc_reader osc_reader_osc = {
    .name = "osc",
    .probe = osc_file_probe,
    .read = osc_read,
};
