/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/quality/quality_rows.h"

static const char *const severities[] = {
    [OSC_INFO] = "info", [OSC_WARNING] = "warning", [OSC_ERROR] = "error"};

void osc_quality_begin(struct osc_result *out, enum osc_finding_code code, uint64_t count,
                       struct osc_str message)
{
    const enum osc_severity severity = osc_finding_severity(code);

    osc_result_row(out);
    osc_result_str(out, OSC_QUALITY_SEVERITY, osc_str_c(severities[severity]));
    osc_result_str(out, OSC_QUALITY_CODE, osc_str_c(osc_finding_code_text(code)));
    osc_result_int(out, OSC_QUALITY_COUNT, (int64_t)count);
    osc_result_str(out, OSC_QUALITY_MESSAGE, message);
    osc_result_int(out, OSC_QUALITY_RANK_OF_SEVERITY, (int64_t)severity);
}

void osc_quality_add(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                     struct osc_str message)
{
    osc_quality_add_at(r, code, count, OSC_NO_TIME, message);
}

void osc_quality_add_at(struct osc_result *r, enum osc_finding_code code, uint64_t count,
                        int64_t first_ns, struct osc_str message)
{
    const char *const remedy = osc_finding_remedy(code);

    osc_quality_begin(r, code, count, message);
    if (first_ns != OSC_NO_TIME) {
        osc_result_int(r, OSC_QUALITY_FIRST_NS, first_ns);
        osc_result_show(r, OSC_QUALITY_FIRST_NS);
    }
    if (remedy[0])
        osc_result_str(r, OSC_QUALITY_REMEDY, osc_str_c(remedy));
}
