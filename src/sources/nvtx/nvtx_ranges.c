/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and marks: what clients call while they work. */
#include <string.h>

#include "opscope/record.h"
#include "sources/nvtx/nvtx_emitted.h"
#include "sources/nvtx/nvtx_payload.h"
#include "sources/source_memory.h"
#include "sources/source_thread.h"

/* The default one. */
static struct osc_nvtx_domain unnamed = {.number = OSC_SOURCE_OWNER_NVTX};

/* Let A have the message that its payloads have, if any. */
static void find_message(const struct osc_nvtx_domain *d, struct osc_nvtx_attributes *a)
{
    struct osc_text *const text = osc_nvtx_message_of(d, osc_nvtx_payloads_of(a));

    if (!text)
        return;
    a->message_type = OSC_NVTX_MESSAGE_REGISTERED;
    a->message.registered = text;
}

/* A copy of A, of D, without what its size does not cover. */
static struct osc_nvtx_attributes whole(const struct osc_nvtx_domain *d,
                                        const struct osc_nvtx_attributes *a)
{
    struct osc_nvtx_attributes copy = {0};

    if (a && a->size >= sizeof copy)
        copy = *a;
    if (copy.payload_type == OSC_NVTX_PAYLOAD_LIST)
        find_message(d, &copy);
    return copy;
}

/* The attributes of what has nothing but N payloads. */
static struct osc_nvtx_attributes attributes_of(const struct osc_nvtx_payload *list, size_t n)
{
    return (struct osc_nvtx_attributes){.size = sizeof(struct osc_nvtx_attributes),
                                        .payload_type = OSC_NVTX_PAYLOAD_LIST,
                                        .payload.u64 = (uintptr_t)list,
                                        .reserved = (int32_t)(n < INT32_MAX ? n : 0)};
}

static struct osc_nvtx_attributes named(const char *message)
{
    return (struct osc_nvtx_attributes){.message_type = OSC_NVTX_MESSAGE_ASCII,
                                        .message.ascii = message};
}

static struct osc_nvtx_attributes named_wide(const wchar_t *message)
{
    return (struct osc_nvtx_attributes){.message_type = OSC_NVTX_MESSAGE_WIDE,
                                        .message.wide = message};
}

/* --- push and pop --------------------------------------------------------------------- */

/* The last names of this thread, by the address of the client's string. An address tells
 * nothing: the bytes are compared, which costs less than to search for them. */
#define N_RECENT 8u
static _Thread_local struct osc_text *recent[N_RECENT]
    __attribute__((tls_model("initial-exec")));

/* Begin what emit_nvtx() names. False: the name S is none of its. */
static bool begin_emitted(const char *s, size_t len)
{
    if (!memchr(s, ',', len)) /* as most: this call has to be short */
        return false;
    const struct osc_nvtx_emitted e = osc_nvtx_parse_emitted(s, len);
    if (e.name_len == 0)
        return false;
    osc_begin(e.is_operator ? OSC_SCOPE_OPERATOR : OSC_SCOPE_ANNOTATION,
              osc_text_name(osc_text_find(s, e.name_len)));
    if (e.sequence >= 0)
        osc_arg_i64(OSC_SOURCE_NAME("Sequence number"), e.sequence);
    if (e.sizes)
        osc_arg_json(OSC_SOURCE_NAME("Input Dims"), e.sizes, e.sizes_len);
    return true;
}

/* Begin the scope S of the default domain; S may be NULL. */
static void begin_text(const char *s)
{
    struct osc_text **const slot = &recent[(uintptr_t)s >> 4 & (N_RECENT - 1)];

    s = s ? s : "";
    if (!*slot || strcmp((*slot)->bytes, s) != 0) {
        const size_t len = strlen(s);

        if (begin_emitted(s, len))
            return;
        *slot = osc_text_find(s, len);
    }
    osc_begin(OSC_SCOPE_PLAIN, osc_text_name(*slot));
}

/* The level of the scope that D begins now, from 0, before it is pushed. */
static int begin_push(struct osc_source_thread *self, const struct osc_nvtx_domain *d)
{
    const int level = (int)osc_source_depth_of(self, d->number);

    osc_source_push(self, d->number);
    return level;
}

/* Clients that record nothing get this. */
#define NOT_TRACKED (-2)

static int RangePushA(const char *message)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_source_enter(self, 0))
        return NOT_TRACKED;
    const int level = begin_push(self, &unnamed);
    if (osc_is_on())
        begin_text(message);
    osc_source_leave(self);
    return level;
}

static int RangePushW(const wchar_t *message)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_source_enter(self, 0))
        return NOT_TRACKED;
    const int level = begin_push(self, &unnamed);
    osc_begin(OSC_SCOPE_PLAIN, osc_text_name(osc_nvtx_text_wide(message)));
    osc_source_leave(self);
    return level;
}

/* The return value is the depth in this domain, as NVTX defines it, also while nothing is
 * recorded. */
static int DomainRangePushEx(struct osc_nvtx_domain *domain,
                             const struct osc_nvtx_attributes *given)
{
    struct osc_source_thread *const self = &osc_source_self;
    struct osc_nvtx_domain *const d = domain ? domain : &unnamed;

    if (!osc_source_enter(self, 0))
        return NOT_TRACKED;
    const struct osc_nvtx_attributes a = whole(domain, given);
    const int level = begin_push(self, d);
    if (osc_is_on()) {
        if (!d->text && a.message_type == OSC_NVTX_MESSAGE_ASCII)
            begin_text(a.message.ascii);
        else
            osc_begin(OSC_SCOPE_PLAIN, osc_text_name(osc_nvtx_text(a.message_type, a.message)));
        osc_nvtx_add_attributes(d, &a);
    }
    osc_source_leave(self);
    return level;
}

static int RangePushEx(const struct osc_nvtx_attributes *a)
{
    return DomainRangePushEx(NULL, a);
}

/* The end of a range that this thread has not begun: of one that never begins, so that readers
 * count it, because it must not end what belongs to others. */
static void record_unmatched(const struct osc_nvtx_domain *d)
{
    if (osc_is_on())
        osc_async_end(OSC_SCOPE_PLAIN,
                      d->text ? osc_text_name(d->text) : OSC_SOURCE_NAME("NVTX"),
                      UINT64_C(0x6e767478) << 32 | d->number);
}

/* Mark what is said of a range at its end. As arguments of the range they would be those of the
 * last event in it. */
static void mark_payloads(const struct osc_nvtx_domain *d, struct osc_nvtx_payloads payloads)
{
    struct osc_text *const text = osc_nvtx_message_of(d, payloads);

    if (!osc_is_on())
        return;
    osc_instant(text ? osc_text_name(text) : OSC_SOURCE_NAME("payload"));
    if (d->text)
        osc_arg_name(OSC_SOURCE_NAME("domain"), osc_text_name(d->text));
    osc_nvtx_add_payloads(d, payloads);
}

/* A pop without a push in this domain must not end a scope of another one, or of the program.
 */
static int pop(struct osc_nvtx_domain *domain, struct osc_nvtx_payloads payloads)
{
    struct osc_source_thread *const self = &osc_source_self;
    struct osc_nvtx_domain *const d = domain ? domain : &unnamed;
    int level = -1;

    if (!osc_source_enter(self, 0))
        return NOT_TRACKED;
    if (osc_source_owns(self, d->number)) {
        level = (int)osc_source_depth_of(self, d->number) - 1;
        if (payloads.n > 0)
            mark_payloads(d, payloads);
        osc_source_end_scope(self);
        osc_source_pop(self);
    } else {
        record_unmatched(d);
    }
    osc_source_leave(self);
    return level;
}

static int DomainRangePop(struct osc_nvtx_domain *domain)
{
    return pop(domain, (struct osc_nvtx_payloads){0});
}

static int RangePop(void)
{
    return DomainRangePop(NULL);
}

/* --- start and end -------------------------------------------------------------------- */

/* Ids of the recording that no other source or program has made. */
static uint64_t range_key(uint64_t id)
{
    return (id ^ UINT64_C(0x4e56545852414e47)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Ids are given out also while nothing is recorded: the range may end when something is. */
static uint64_t start(struct osc_nvtx_domain *domain, const struct osc_nvtx_attributes *a)
{
    static _Atomic uint64_t last_id;
    struct osc_source_thread *const self = &osc_source_self;
    /* Relaxed: the ids need only differ. */
    const uint64_t id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;

    if (!osc_source_enter(self, 0))
        return id;
    if (osc_is_on()) {
        osc_async_begin(OSC_SCOPE_PLAIN,
                        osc_text_name(osc_nvtx_text(a->message_type, a->message)),
                        range_key(id));
        osc_nvtx_add_attributes(domain ? domain : &unnamed, a);
    }
    osc_source_leave(self);
    return id;
}

static uint64_t DomainRangeStartEx(struct osc_nvtx_domain *domain,
                                   const struct osc_nvtx_attributes *given)
{
    const struct osc_nvtx_attributes a = whole(domain, given);

    return start(domain, &a);
}

static uint64_t RangeStartEx(const struct osc_nvtx_attributes *a)
{
    return DomainRangeStartEx(NULL, a);
}

static uint64_t RangeStartA(const char *message)
{
    const struct osc_nvtx_attributes a = named(message);

    return start(NULL, &a);
}

static uint64_t RangeStartW(const wchar_t *message)
{
    const struct osc_nvtx_attributes a = named_wide(message);

    return start(NULL, &a);
}

static void end(struct osc_nvtx_domain *domain, uint64_t id, struct osc_nvtx_payloads payloads)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_source_enter(self, 0))
        return;
    if (osc_is_on()) {
        osc_async_end(OSC_SCOPE_PLAIN, OSC_SOURCE_NAME("NVTX"), range_key(id));
        osc_nvtx_add_payloads(domain ? domain : &unnamed, payloads);
    }
    osc_source_leave(self);
}

/* Ids are those of all domains. */
static void DomainRangeEnd(struct osc_nvtx_domain *domain, uint64_t id)
{
    end(domain, id, (struct osc_nvtx_payloads){0});
}

static void RangeEnd(uint64_t id)
{
    DomainRangeEnd(NULL, id);
}

/* --- marks ---------------------------------------------------------------------------- */

static void mark(struct osc_nvtx_domain *domain, const struct osc_nvtx_attributes *a)
{
    struct osc_source_thread *const self = &osc_source_self;

    if (!osc_source_enter(self, 0))
        return;
    if (osc_is_on()) {
        osc_instant(osc_text_name(osc_nvtx_text(a->message_type, a->message)));
        osc_nvtx_add_attributes(domain ? domain : &unnamed, a);
    }
    osc_source_leave(self);
}

static void DomainMarkEx(struct osc_nvtx_domain *domain,
                         const struct osc_nvtx_attributes *given)
{
    const struct osc_nvtx_attributes a = whole(domain, given);

    mark(domain, &a);
}

static void MarkEx(const struct osc_nvtx_attributes *a)
{
    DomainMarkEx(NULL, a);
}

static void MarkA(const char *message)
{
    const struct osc_nvtx_attributes a = named(message);

    mark(NULL, &a);
}

static void MarkW(const wchar_t *message)
{
    const struct osc_nvtx_attributes a = named_wide(message);

    mark(NULL, &a);
}

/* --- the same with payloads alone ----------------------------------------------------- */

static void MarkPayload(struct osc_nvtx_domain *domain, const struct osc_nvtx_payload *list,
                        size_t n)
{
    const struct osc_nvtx_attributes a = attributes_of(list, n);

    DomainMarkEx(domain, &a);
}

static int RangePushPayload(struct osc_nvtx_domain *domain, const struct osc_nvtx_payload *list,
                            size_t n)
{
    const struct osc_nvtx_attributes a = attributes_of(list, n);

    return DomainRangePushEx(domain, &a);
}

static int RangePopPayload(struct osc_nvtx_domain *domain, const struct osc_nvtx_payload *list,
                           size_t n)
{
    return pop(domain, (struct osc_nvtx_payloads){list, list ? n : 0});
}

static uint64_t RangeStartPayload(struct osc_nvtx_domain *domain,
                                  const struct osc_nvtx_payload *list, size_t n)
{
    const struct osc_nvtx_attributes a = attributes_of(list, n);

    return DomainRangeStartEx(domain, &a);
}

static void RangeEndPayload(struct osc_nvtx_domain *domain, uint64_t id,
                            const struct osc_nvtx_payload *list, size_t n)
{
    end(domain, id, (struct osc_nvtx_payloads){list, list ? n : 0});
}

/* --- domains, strings, categories, threads -------------------------------------------- */

static struct osc_nvtx_domain *create_domain(struct osc_text *text)
{
    struct osc_nvtx_domain *const there = osc_text_view(text, OSC_TEXT_NVTX_DOMAIN);
    struct osc_nvtx_domain *const made = there ? there : osc_source_memory(sizeof *made);

    if (there || !made)
        return there;
    made->text = text;
    made->number = osc_source_owner_number();
    return osc_text_set_view(text, OSC_TEXT_NVTX_DOMAIN, made);
}

static struct osc_nvtx_domain *DomainCreateA(const char *name)
{
    return create_domain(osc_text_find_c(name));
}

static struct osc_nvtx_domain *DomainCreateW(const wchar_t *name)
{
    return create_domain(osc_nvtx_text_wide(name));
}

/* Nothing of it is freed: ranges of it may be open. */
static void DomainDestroy(struct osc_nvtx_domain *domain)
{
    (void)domain;
}

static struct osc_text *DomainRegisterStringA(struct osc_nvtx_domain *domain, const char *s)
{
    (void)domain;
    return osc_text_find_c(s);
}

static struct osc_text *DomainRegisterStringW(struct osc_nvtx_domain *domain, const wchar_t *s)
{
    (void)domain;
    return osc_nvtx_text_wide(s);
}

static void DomainNameCategoryA(struct osc_nvtx_domain *domain, uint32_t category,
                                const char *name)
{
    osc_nvtx_name_category(domain ? domain : &unnamed, category, osc_text_find_c(name));
}

static void DomainNameCategoryW(struct osc_nvtx_domain *domain, uint32_t category,
                                const wchar_t *name)
{
    osc_nvtx_name_category(domain ? domain : &unnamed, category, osc_nvtx_text_wide(name));
}

static void NameCategoryA(uint32_t category, const char *name)
{
    DomainNameCategoryA(NULL, category, name);
}

static void NameCategoryW(uint32_t category, const wchar_t *name)
{
    DomainNameCategoryW(NULL, category, name);
}

static void Initialize(const void *reserved)
{
    (void)reserved;
}

#define BIND(number, name)                \
    {                                     \
        number, (osc_nvtx_function)(name) \
    }

const struct osc_nvtx_binding osc_nvtx_core[] = {
    BIND(1, MarkEx),
    BIND(2, MarkA),
    BIND(3, MarkW),
    BIND(4, RangeStartEx),
    BIND(5, RangeStartA),
    BIND(6, RangeStartW),
    BIND(7, RangeEnd),
    BIND(8, RangePushEx),
    BIND(9, RangePushA),
    BIND(10, RangePushW),
    BIND(11, RangePop),
    BIND(12, NameCategoryA),
    BIND(13, NameCategoryW),
    BIND(14, osc_nvtx_name_thread),
    BIND(15, osc_nvtx_name_thread_wide),
    {0, NULL},
};

const struct osc_nvtx_binding osc_nvtx_core2[] = {
    BIND(1, DomainMarkEx),
    BIND(2, DomainRangeStartEx),
    BIND(3, DomainRangeEnd),
    BIND(4, DomainRangePushEx),
    BIND(5, DomainRangePop),
    BIND(6, osc_nvtx_create_resource),
    BIND(7, osc_nvtx_destroy_resource),
    BIND(8, DomainNameCategoryA),
    BIND(9, DomainNameCategoryW),
    BIND(10, DomainRegisterStringA),
    BIND(11, DomainRegisterStringW),
    BIND(12, DomainCreateA),
    BIND(13, DomainCreateW),
    BIND(14, DomainDestroy),
    BIND(15, Initialize),
    {0, NULL},
};

const struct osc_nvtx_binding osc_nvtx_ext_payload[] = {
    BIND(1, osc_nvtx_register_schema),
    BIND(2, osc_nvtx_register_enum),
    BIND(3, MarkPayload),
    BIND(4, RangePushPayload),
    BIND(5, RangePopPayload),
    BIND(6, RangeStartPayload),
    BIND(7, RangeEndPayload),
    {0, NULL},
};
