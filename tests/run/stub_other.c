/* SPDX-License-Identifier: Apache-2.0 */
/* The other file of stub.c: both share one library. */
#include "stub_other.h"

#include <opscope/stub.h>

void in_other_file(void)
{
    static osc_name name;

    osc_name_once(&name, "in another file");
    osc_begin(OSC_SCOPE_PLAIN, name);
    osc_end();
}
