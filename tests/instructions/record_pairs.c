/* SPDX-License-Identifier: Apache-2.0 */
/* record_pairs.c - begin and end a scope N times, recording; for gate.py. */
#include <stdlib.h>

#include <opscope/record.h>

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long n = atol(argv[2]);
    const struct osc_start_options options = {.size = sizeof options, .out = argv[1]};

    if (osc_start(&options) != OSC_OK)
        return 1;
    const osc_name name = osc_name_c("conv2d");

    for (long i = 0; i < n; i++) {
        osc_begin(OSC_SCOPE_OPERATOR, name);
        osc_end();
    }
    return osc_stop() == OSC_OK ? 0 : 1;
}
