/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporters.h - the one list of exporters.
 *
 * Threading: constants.
 */
#pragma once

#include "export/export.h"

extern const struct osc_exporter osc_export_csv;
extern const struct osc_exporter osc_export_folded;
extern const struct osc_exporter osc_export_html;
extern const struct osc_exporter osc_export_json;
extern const struct osc_exporter osc_export_json_gz;
extern const struct osc_exporter osc_export_osc;
