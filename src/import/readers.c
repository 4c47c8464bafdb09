/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "import/build/reader.h"

extern const struct osc_reader osc_reader_chrome;

const struct osc_reader *const osc_readers[] = {
    &osc_reader_chrome,
    &osc_reader_records,
    NULL,
};
