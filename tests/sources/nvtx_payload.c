/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of NVTX's extension for payloads, for tests/sources/nvtx.py.
 *
 *     nvtx_payload fields|events|lists|wrong
 */
#include <nvtx3/nvToolsExtPayload.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIELD(type, name, ...)                               \
    {                                                        \
        0, NVTX_PAYLOAD_ENTRY_TYPE_##type, name, __VA_ARGS__ \
    }
#define N(list) (sizeof(list) / sizeof *(list))

static nvtxDomainHandle_t domain;

static uint64_t schema(const nvtxPayloadSchemaEntry_t *entries, size_t n, uint64_t type,
                       size_t bytes, uint64_t id)
{
    nvtxPayloadSchemaAttr_t a = {0};

    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
    if (bytes > 0)
        a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    if (id > 0)
        a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    a.type = type;
    a.entries = entries;
    a.numEntries = n;
    a.payloadStaticSize = bytes;
    a.schemaId = id;
    return nvtxPayloadSchemaRegister(domain, &a);
}

static uint64_t static_schema(const nvtxPayloadSchemaEntry_t *entries, size_t n, size_t bytes)
{
    return schema(entries, n, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, bytes, 0);
}

static uint64_t make_enum(void)
{
    static const nvtxPayloadEnum_t names[] = {{"sum", 0, 0}, {"product", 1, 0}, {"max", 2, 0}};
    nvtxPayloadEnumAttr_t a = {0};

    a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    a.entries = names;
    a.numEntries = N(names);
    a.sizeOfEnum = 4;
    return nvtxPayloadEnumRegister(domain, &a);
}

struct plain {
    int8_t small;
    uint64_t huge;
    float third;
    double half;
    uint32_t operation, other;
    uint16_t short_float, brain;
    char name[8];
};

struct nested {
    uint8_t first;
    struct {
        int32_t x;
        float y[2];
    } at;
    const char *text;
};

static void fields(void)
{
    const uint64_t names = make_enum();
    const nvtxPayloadSchemaEntry_t of_plain[] = {
        FIELD(INT8, "small", NULL, 0, 0),
        FIELD(UINT64, "huge", NULL, 0, 0),
        FIELD(FLOAT, "third", NULL, 0, 0),
        FIELD(DOUBLE, "half", NULL, 0, offsetof(struct plain, half)),
        {0, names, "operation", NULL, 0, 0, NULL, NULL},
        {0, names, "other", NULL, 0, 0, NULL, NULL},
        FIELD(FLOAT16, "short", NULL, 0, 0),
        FIELD(BF16, "brain", NULL, 0, 0),
        FIELD(CSTRING, "name", NULL, 8, 0),
    };
    const struct plain p = {-5, UINT64_MAX, 1.0F / 3, 0.5, 2, 77, 0xbe00, 0x4049, "eight_by"};
    const uint64_t plain = static_schema(of_plain, N(of_plain), sizeof p);
    const nvtxPayloadSchemaEntry_t of_inner[] = {
        FIELD(INT, "x", NULL, 0, 0),
        {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "y", NULL, 2,
         0, NULL, NULL},
    };
    const nvtxPayloadSchemaEntry_t of_nested[] = {
        FIELD(UINT8, "first", NULL, 0, 0),
        {0, static_schema(of_inner, N(of_inner), 12), "at", NULL, 0, 0, NULL, NULL},
        {NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED,
         NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0, NULL, NULL},
    };
    char text[] = "of the caller";
    const struct nested n = {200, {-1, {1.5F, -2}}, text};
    const uint64_t nested = static_schema(of_nested, N(of_nested), sizeof n);
    nvtxEventAttributes_t a = {0};
    const nvtxPayloadData_t both[] = {{plain, sizeof p, &p}, {nested, sizeof n, &n}};

    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "fields";
    NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(a, both);
    nvtxDomainRangePushEx(domain, &a);
    memset(text, 'x', sizeof text - 1);
    nvtxDomainRangePop(domain);
}

/* Events that have nothing but payloads, in which their names and attributes are. */
static void events(void)
{
    struct {
        const char *message;
        uint32_t category, color;
        int64_t n;
    } e = {"pushed", 7, 0xff00ff80, 1};
    const nvtxPayloadSchemaEntry_t of_events[] = {
        {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY,
         NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message", NULL, 0, 0, NULL, NULL},
        FIELD(CATEGORY, "category", NULL, 0, 0),
        FIELD(COLOR_ARGB, "color", NULL, 0, 0),
        FIELD(INT64, "n", NULL, 0, 0),
    };
    const uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
    const nvtxPayloadSchemaEntry_t of_ends[] = {FIELD(INT64, "result", NULL, 0, 0)};
    const int64_t result = 99;
    const nvtxPayloadData_t one = {id, sizeof e, &e};
    const nvtxPayloadData_t end = {static_schema(of_ends, 1, 8), sizeof result, &result};

    nvtxDomainNameCategoryA(domain, 7, "seventh");
    printf("%d", schema(of_events, N(of_events), NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof e,
                        id) == id);
    printf(" %d", nvtxRangePushPayload(domain, &one, 1));
    e.message = "marked";
    e.n = 2;
    nvtxMarkPayload(domain, &one, 1);
    printf(" %d", nvtxRangePopPayload(domain, &end, 1));
    e.message = "started";
    e.n = 3;
    nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, &one, 1), &end, 1);
    printf(" %d\n", nvtxDomainIsEnabled(domain));
}

static void mark(const char *name, uint64_t id, const void *data, size_t bytes)
{
    const nvtxPayloadData_t one = {id, bytes, data};
    nvtxEventAttributes_t a = {0};

    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = name;
    NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE_N(a, &one, 1);
    nvtxDomainMarkEx(domain, &a);
}

static void lists(void)
{
    const nvtxPayloadSchemaEntry_t counted[] = {
        FIELD(UINT64, "n", NULL, 0, 0),
        {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "values",
         NULL, 0, 0, NULL, NULL},
    };
    const uint64_t id = schema(counted, N(counted), NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, 0);
    const struct {
        uint64_t n;
        int16_t values[3];
    } three = {3, {1, -2, 3}};
    const double numbers[] = {0.25, -1.0 / 0.0};

    mark("counted", id, &three, sizeof three);
    mark("numbers", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, numbers, sizeof numbers);
    mark("one", NVTX_PAYLOAD_ENTRY_TYPE_INT32, &(int){-8}, sizeof(int));
    mark("text", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "plain", (size_t)-1);
}

/* What must do no harm, and is counted. */
static void wrong(void)
{
    const nvtxPayloadSchemaEntry_t far[] = {FIELD(INT64, "far", NULL, 0, 1000)};
    const nvtxPayloadSchemaEntry_t counted[] = {
        FIELD(UINT64, "n", NULL, 0, 0),
        {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "values",
         NULL, 0, 0, NULL, NULL},
        FIELD(INT32, "after", NULL, 0, 0),
    };
    const uint64_t list = schema(counted, N(counted), NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, 0);
    const uint64_t huge = UINT64_MAX / 4;

    printf("%d", schema(far, 1, NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 8, 0) != 0);
    printf(" %d\n", nvtxPayloadSchemaRegister(domain, NULL) != 0);
    mark("beyond the end", static_schema(far, 1, 0), &huge, sizeof huge);
    mark("too long", list, &huge, sizeof huge);
    mark("unknown", NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 99, &huge, sizeof huge);
    mark("without data", list, NULL, 8);
    mark("empty", list, &huge, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"fields", fields}, {"events", events}, {"lists", lists}, {"wrong", wrong}};

    domain = nvtxDomainCreateA("d");
    for (size_t i = 0; argc > 1 && i < N(all); i++)
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
