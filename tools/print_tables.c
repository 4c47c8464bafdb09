/* SPDX-License-Identifier: Apache-2.0 */
/* Print the catalog of tables as JSON, as the viewer's interface has it. From this the build
 * makes the types of columns for the page (tools/page_types.py). It is no part of the command,
 * which has the page in it. */
#include "api/tables_json.h"

#include <stdio.h>

#include "base/strbuf.h"

int main(void)
{
    struct osc_strbuf text = {0};
    int failed;

    osc_tables_json(&text);
    failed = text.status != OSC_OK || fwrite(text.s, 1, text.len, stdout) != text.len ||
             fflush(stdout) != 0;
    osc_strbuf_fini(&text);
    return failed;
}
