/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporters.h - the one list of exporters.
 *
 * Threading: constants.
 */
#ifndef OSC_EXPORT_EXPORTERS_H
#define OSC_EXPORT_EXPORTERS_H

#include "export/export.h"

extern const struct osc_exporter osc_export_csv;
extern const struct osc_exporter osc_export_folded;
extern const struct osc_exporter osc_export_json;
extern const struct osc_exporter osc_export_json_gz;
extern const struct osc_exporter osc_export_osc;

#endif
