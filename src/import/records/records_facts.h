/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_facts.h - records that say something of the whole recording, and of devices.
 *
 * Threading: not locked.
 */
#pragma once

#include "import/records/records_state.h"

/* Read P, a METADATA: text, or a list or an object in JSON. Some facts do not become facts of
 * the trace: the end of open scopes, the limits of devices. */
void osc_records_fact_read(struct osc_records_rows *rows, const struct osc_packed *p);

/* Read P, a DEVICE, DEVICE_NAME, QUEUE or DEVICE_CLOCK. */
void osc_records_device_read(struct osc_records_rows *rows, const struct osc_packed *p);
