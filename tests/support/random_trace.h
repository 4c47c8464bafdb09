/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_trace.h - random traces that form a run, the same ones each time a test runs.
 */
#pragma once

#include "base/strbuf.h"
#include "support/unit.h"

static uint64_t state_of_random = 1;

static inline uint32_t below(uint32_t n)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state_of_random >> 33) % n;
}

static inline void add_event(struct osc_strbuf *out, uint32_t at)
{
    const uint32_t tid = 1 + below(2), dur = below(30), id = below(6);

    switch (below(8)) {
    case 0:
    case 1:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cpu_op','name':'aten::op%u','pid':1,'tid':%u,"
                        "'ts':%u.%u,'dur':%u,'args':{'Input Dims':[[%u,2]]}},",
                        below(3), tid, at, below(1000), dur, below(3));
        break;
    case 2:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,"
                        "'tid':%u,'ts':%u,'dur':2,'args':{'correlation':%u}},",
                        tid, at, id);
        break;
    case 3:
    case 4:
        osc_strbuf_addf(
            out,
            "{'ph':'X','cat':'kernel','name':'k%u','pid':0,'tid':7,'ts':%u,'dur':%u,"
            "'args':{'device':%u,'stream':7,'correlation':%u,'blocks per SM':0.%u,"
            "'est. achieved occupancy %%':%u}},",
            below(3), at, dur, below(2), id, 1 + below(9), below(100));
        break;
    case 5:
        osc_strbuf_addf(out,
                        "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]','pid':1,"
                        "'tid':%u,'ts':%u,'args':{'Device Type':%u,'Device Id':0,'Addr':%u,"
                        "'Bytes':%d,'Total Allocated':%u}},",
                        tid, at, below(2), below(4), below(2) ? 64 : -64, below(900));
        break;
    case 6:
        osc_strbuf_addf(out,
                        "{'ph':'X','cat':'cuda_runtime','name':'cudaDeviceSynchronize','pid':1,"
                        "'tid':%u,'ts':%u,'dur':%u},",
                        tid, at, dur);
        break;
    default:
        osc_strbuf_addf(out,
                        "{'ph':'%s','cat':'python_function','name':'nn.Module: A_%u','pid':1,"
                        "'tid':%u,'ts':%u,'dur':%u},",
                        below(9) ? "X" : "Q", below(2), tid, at, 20 + dur);
        break;
    }
}

/* Append trace I of a run to TEXT, with random rank, host, boot and clock, with or without
 * steps, and its name to NAME. */
static inline void make_trace(uint32_t i, struct osc_strbuf *text, struct osc_strbuf *name)
{
    struct osc_strbuf out = {0};
    const uint32_t start = below(5000), n = below(8) ? 20 + below(60) : 0;

    osc_strbuf_adds(&out, "{'schemaVersion':1,");
    if (below(4))
        osc_strbuf_addf(&out, "'distributedInfo':{'rank':%u},", below(3));
    if (below(2))
        osc_strbuf_addf(&out, "'host_name':'h%u',", below(2));
    if (below(2))
        osc_strbuf_addf(&out, "'boot_id':'b%u',", below(2));
    if (below(2))
        osc_strbuf_addf(&out, "'baseTimeNanoseconds':17000000000000%05u,", below(99999));
    osc_strbuf_adds(&out, "'traceEvents':[");
    for (uint32_t k = 0; n > 0 && k < below(4); k++)
        osc_strbuf_addf(&out,
                        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#%u','pid':1,"
                        "'tid':1,'ts':%u,'dur':100},",
                        k, start + 100 * k);
    for (uint32_t k = 0; k < n; k++)
        add_event(&out, start + below(400));
    osc_strbuf_adds(&out, "{'ph':'M','name':'process_name','pid':1,'tid':0,'args':{}}]}");
    for (size_t k = 0; k < out.len; k++)
        osc_strbuf_addc(text, out.s[k] == '\'' ? '"' : out.s[k]);
    osc_strbuf_fini(&out);
    if (below(2)) /* a window of a worker */
        osc_strbuf_addf(name, "w%u.%u.pt.trace.json", below(2), below(4));
    else
        osc_strbuf_addf(name, "trace%u.json", i);
    assert_int_equal(text->status, OSC_OK);
    assert_int_equal(name->status, OSC_OK);
}
