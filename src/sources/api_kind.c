/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/source_kind.h"

const struct osc_source_kind osc_source_kind_api = {
    .title = "libopscope",
    .what = "calls of libopscope, in programs that are linked with it",
};
