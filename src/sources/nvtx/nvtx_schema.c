/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/nvtx/nvtx_schema.h"

#include <stdio.h>
#include <string.h>

#include "sources/handle_map.h"
#include "sources/source_memory.h"

#define FIELDS_MAX  256u
#define BYTES_MAX   ((uint64_t)1 << 24) /* of a payload */
#define KEY_BYTES   256
#define NOT_KNOWN   UINT64_MAX
#define DYNAMIC_BIT ((uint64_t)1 << 62) /* above the keys of ids that clients choose */

static struct osc_handle_map schemas = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct osc_handle_map enums = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- types ---------------------------------------------------------------------------- */

struct type {
    uint8_t class, width;
};

#define SIGNED(type)   OSC_NVTX_CLASS_SIGNED, sizeof(type)
#define UNSIGNED(type) OSC_NVTX_CLASS_UNSIGNED, sizeof(type)
#define FLOAT(type)    OSC_NVTX_CLASS_FLOAT, sizeof(type)
#define OTHER(bytes)   OSC_NVTX_CLASS_OTHER, bytes
#define TEXT_OF(bytes) OSC_NVTX_CLASS_TEXT, bytes

/* What NUMBER, a type of NVTX's payloads, is here. Those of C have the width of this platform;
 * a type of which nothing is known has the width 0 and is left out, with a count. */
static struct type type_of(uint64_t number)
{
    static const struct type known[OSC_NVTX_ENTRY_N_TYPES] = {
        [1] = {SIGNED(char)},
        [2] = {UNSIGNED(char)},
        [3] = {SIGNED(short)},
        [4] = {UNSIGNED(short)},
        [5] = {SIGNED(int)},
        [6] = {UNSIGNED(int)},
        [7] = {SIGNED(long)},
        [8] = {UNSIGNED(long)},
        [9] = {SIGNED(long long)},
        [10] = {UNSIGNED(long long)},
        [11] = {SIGNED(int8_t)},
        [12] = {UNSIGNED(int8_t)},
        [13] = {SIGNED(int16_t)},
        [14] = {UNSIGNED(int16_t)},
        [15] = {SIGNED(int32_t)},
        [16] = {UNSIGNED(int32_t)},
        [17] = {SIGNED(int64_t)},
        [18] = {UNSIGNED(int64_t)},
        [19] = {FLOAT(float)},
        [20] = {FLOAT(double)},
        [21] = {OTHER(sizeof(long double))},
        [22] = {UNSIGNED(size_t)},
        [23] = {UNSIGNED(void *)},
        [24] = {UNSIGNED(wchar_t)},
        [25] = {UNSIGNED(char)}, /* char8_t, char16_t, char32_t */
        [26] = {UNSIGNED(uint16_t)},
        [27] = {UNSIGNED(uint32_t)},
        [32] = {UNSIGNED(uint8_t)}, /* bytes */
        [33] = {OTHER(16)},         /* integers of 128 bits */
        [34] = {OTHER(16)},
        [42] = {OSC_NVTX_CLASS_HALF, 2},
        [43] = {FLOAT(float)},
        [44] = {FLOAT(double)},
        [45] = {OTHER(16)},
        [50] = {OSC_NVTX_CLASS_BFLOAT, 2},
        [52] = {FLOAT(float)},       /* with fewer bits that count */
        [67] = {UNSIGNED(uint64_t)}, /* the id of a range */
        [OSC_NVTX_ENTRY_CATEGORY] = {UNSIGNED(uint32_t)},
        [OSC_NVTX_ENTRY_COLOR] = {UNSIGNED(uint32_t)},
        [70] = {UNSIGNED(uint64_t)}, /* ids of scopes, processes and threads */
        [71] = {UNSIGNED(uint32_t)},
        [72] = {UNSIGNED(uint64_t)},
        [73] = {UNSIGNED(uint32_t)},
        [74] = {UNSIGNED(uint64_t)},
        [OSC_NVTX_ENTRY_TEXT] = {TEXT_OF(1)},
        [OSC_NVTX_ENTRY_TEXT_UTF8] = {TEXT_OF(1)},
        [OSC_NVTX_ENTRY_TEXT_UTF16] = {TEXT_OF(2)},
        [OSC_NVTX_ENTRY_TEXT_UTF32] = {TEXT_OF(4)},
        [OSC_NVTX_ENTRY_REGISTERED] = {OSC_NVTX_CLASS_REGISTERED, sizeof(void *)},
    };

    return number < OSC_NVTX_ENTRY_N_TYPES ? known[number] : (struct type){0};
}

struct osc_nvtx_field osc_nvtx_field_of(uint64_t type)
{
    const struct type t = type_of(type);

    return (struct osc_nvtx_field){
        .name = osc_text_find_c(""),
        .type = type < OSC_NVTX_ENTRY_N_TYPES ? (uint32_t)type : 0,
        .class = t.class,
        .width = t.width,
        .n = 1,
        .form = t.class == OSC_NVTX_CLASS_OTHER ? OSC_NVTX_FIELD_OTHER : OSC_NVTX_FIELD_ONE};
}

/* --- ids ------------------------------------------------------------------------------ */

static const void *key_of(const struct osc_nvtx_domain *d, uint64_t id)
{
    return osc_handle_of(id < OSC_NVTX_SCHEMA_DYNAMIC ? (uint64_t)d->number << 32 | id : id);
}

/* Store THING in M; IDs are unique over schemas and enumerations. Returns its id; 0: no room.
 */
static uint64_t store(struct osc_handle_map *m, const struct osc_nvtx_domain *d, uint64_t id,
                      const void *thing)
{
    static _Atomic uint64_t last;

    if (id < OSC_NVTX_SCHEMA_FIRST || id >= OSC_NVTX_SCHEMA_DYNAMIC)
        /* Relaxed: the ids need only differ. */
        id = (atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1) | DYNAMIC_BIT;
    return osc_handle_set(m, key_of(d, id), (uintptr_t)thing) ? id : 0;
}

/* The default domain is NULL for clients; ids in it are those of the number 0. */
static const struct osc_nvtx_domain *domain_of(const struct osc_nvtx_domain *d)
{
    static const struct osc_nvtx_domain unnamed;

    return d && d->text ? d : &unnamed;
}

const struct osc_nvtx_schema *osc_nvtx_schema_of(const struct osc_nvtx_domain *d, uint64_t id)
{
    return id < OSC_NVTX_SCHEMA_FIRST
               ? NULL
               : osc_handle_get_address(&schemas, key_of(domain_of(d), id));
}

uint64_t osc_nvtx_register_enum(struct osc_nvtx_domain *domain,
                                const struct osc_nvtx_enum_attributes *a)
{
    const uint64_t must =
        OSC_NVTX_ENUM_HAS_ENTRIES | OSC_NVTX_ENUM_HAS_COUNT | OSC_NVTX_ENUM_HAS_BYTES;

    if (!a || (a->fields & must) != must || !a->entries || a->n_entries > FIELDS_MAX ||
        (a->bytes != 1 && a->bytes != 2 && a->bytes != 4 && a->bytes != 8))
        return 0;
    struct osc_nvtx_enum *const e =
        osc_source_memory(sizeof *e + a->n_entries * sizeof *e->entries);
    if (!e)
        return 0;
    e->n = (uint32_t)a->n_entries;
    e->width = (uint32_t)a->bytes;
    for (uint32_t i = 0; i < e->n; i++) {
        e->entries[i].value = a->entries[i].value;
        e->entries[i].name = osc_text_find_c(a->entries[i].name);
    }
    return store(&enums, domain_of(domain), a->fields & OSC_NVTX_ENUM_HAS_ID ? a->id : 0, e);
}

/* --- schemas -------------------------------------------------------------------------- */

/* A schema that is being built. */
struct layout {
    const struct osc_nvtx_domain *domain;
    uint64_t pack; /* no field is aligned to more */
    uint64_t end;  /* of the fields so far; NOT_KNOWN: it varies */
    uint32_t align, n;
    bool has_message;
    struct osc_nvtx_field fields[FIELDS_MAX];
};

static uint64_t aligned(uint64_t at, uint64_t align)
{
    return align > 1 ? (at + align - 1) / align * align : at;
}

/* What an entry is, before its place is known. */
struct shape {
    struct osc_nvtx_field field;
    const struct osc_nvtx_schema *inner; /* NULL: not a schema */
    uint64_t bytes;                      /* NOT_KNOWN: it varies */
    uint32_t align;
};

/* What is elsewhere, of which only texts are read. False: S is in the payload itself. */
static bool shape_pointer(struct shape *s, const struct osc_nvtx_entry *e)
{
    const bool is_text = s->field.class == OSC_NVTX_CLASS_TEXT;
    const uint64_t array = e->flags & OSC_NVTX_ENTRY_ARRAY;
    const bool has_length = array != 0 && array != OSC_NVTX_ENTRY_ARRAY_ZERO;
    const bool is_copied = (e->flags & OSC_NVTX_ENTRY_DEEP_COPY) != 0;

    if ((e->flags & OSC_NVTX_ENTRY_POINTER) == 0 &&
        !(is_text && (is_copied || (array == 0 && e->detail == 0))))
        return false;
    s->field.form = is_text && !has_length ? OSC_NVTX_FIELD_POINTER : OSC_NVTX_FIELD_OTHER;
    s->bytes = s->align = sizeof(void *);
    return true;
}

/* A list or a text. */
static void shape_many(struct shape *s, const struct osc_nvtx_entry *e, uint32_t index)
{
    struct osc_nvtx_field *const f = &s->field;
    const bool is_text = f->class == OSC_NVTX_CLASS_TEXT;
    const bool is_known =
        f->form == OSC_NVTX_FIELD_ONE && f->class != OSC_NVTX_CLASS_REGISTERED;
    const uint64_t array = e->flags & OSC_NVTX_ENTRY_ARRAY;
    enum osc_nvtx_form form = OSC_NVTX_FIELD_OTHER;

    if (array == 0 && !is_text)
        return;
    f->n = e->detail < BYTES_MAX ? (uint32_t)e->detail : 0;
    if (array == 0 || array == OSC_NVTX_ENTRY_ARRAY_FIXED) {
        form = OSC_NVTX_FIELD_LIST;
        s->bytes = e->detail < BYTES_MAX ? e->detail * s->bytes : NOT_KNOWN;
    } else {
        s->bytes = NOT_KNOWN;
        if (array == OSC_NVTX_ENTRY_ARRAY_INDEX && e->detail < index)
            form = OSC_NVTX_FIELD_COUNTED;
        else if (array == OSC_NVTX_ENTRY_ARRAY_ZERO && is_text)
            form = OSC_NVTX_FIELD_ZERO;
    }
    f->form = (uint8_t)(is_known ? form : OSC_NVTX_FIELD_OTHER);
}

/* The shape of entry E, the one with INDEX, of the layout L. A schema with one field stands
 * for that field; a type that has not been registered yet makes the place of all that follows
 * unknown. */
static struct shape shape_of(const struct layout *l, const struct osc_nvtx_entry *e,
                             uint32_t index)
{
    struct shape s = {.field = osc_nvtx_field_of(e->type)};
    const void *const key = key_of(l->domain, e->type);

    s.bytes = s.align = s.field.width;
    if (e->type >= OSC_NVTX_SCHEMA_FIRST) {
        const struct osc_nvtx_schema *const schema = osc_handle_get_address(&schemas, key);
        const struct osc_nvtx_enum *const names = osc_handle_get_address(&enums, key);

        s.bytes = NOT_KNOWN;
        if (schema) {
            if (schema->n_fields == 1 && schema->fields[0].form == OSC_NVTX_FIELD_ONE &&
                schema->fields[0].offset == 0)
                s.field = schema->fields[0];
            else
                s.inner = schema;
            s.bytes = schema->bytes;
            s.align = schema->align;
        } else if (names) {
            s.field.names = names;
            s.field.class = OSC_NVTX_CLASS_UNSIGNED;
            s.field.form = OSC_NVTX_FIELD_ONE;
            s.field.width = (uint8_t)names->width;
            s.field.n = 1;
            s.bytes = s.align = names->width;
        }
    }
    if (s.inner && (e->flags & (OSC_NVTX_ENTRY_ARRAY | OSC_NVTX_ENTRY_POINTER)) != 0)
        s.inner = NULL;
    if (!s.inner && !shape_pointer(&s, e))
        shape_many(&s, e, index);
    if ((e->flags & OSC_NVTX_ENTRY_OFFSET) != 0)
        s.field.form = OSC_NVTX_FIELD_OTHER;
    return s;
}

/* Append F, which is called NAME within OUTER, at OFFSET more than its own. */
static void append(struct layout *l, struct osc_nvtx_field f, const char *outer,
                   const char *name, uint64_t offset)
{
    char key[KEY_BYTES];

    if (l->n == FIELDS_MAX)
        return;
    (void)snprintf(key, sizeof key, "%s%s%s", outer, *outer && *name ? "." : "", name);
    f.name = osc_text_find_c(key);
    if (offset + f.offset > BYTES_MAX)
        f.form = OSC_NVTX_FIELD_OTHER;
    f.offset = (uint32_t)(offset + f.offset);
    l->has_message |= (f.flags & OSC_NVTX_ENTRY_ROLE) == OSC_NVTX_ENTRY_MESSAGE;
    l->fields[l->n++] = f;
}

/* Append the entry E, which has NUMBER. STARTS are the fields of the entries before it. */
static void append_entry(struct layout *l, const struct osc_nvtx_entry *e, uint32_t number,
                         uint32_t *starts)
{
    struct shape s = shape_of(l, e, number);
    const char *const name = e->name ? e->name : "";
    const uint64_t align = l->pack > 0 && l->pack < s.align ? l->pack : s.align;
    const bool is_given = number == 0 || e->offset != 0;
    const uint64_t at = is_given              ? e->offset
                        : l->end == NOT_KNOWN ? NOT_KNOWN
                                              : aligned(l->end, align);

    starts[number] = l->n;
    l->align = align > l->align ? (uint32_t)align : l->align;
    s.field.flags |= e->flags;
    s.field.offset = 0;
    if (s.field.form == OSC_NVTX_FIELD_COUNTED)
        s.field.n = starts[s.field.n];
    if (at > BYTES_MAX) {
        s.field.form = OSC_NVTX_FIELD_OTHER;
        append(l, s.field, name, "", 0);
    } else if (s.inner) {
        for (uint32_t i = 0; i < s.inner->n_fields; i++) {
            struct osc_nvtx_field f = s.inner->fields[i];

            if (f.form == OSC_NVTX_FIELD_COUNTED)
                f.n += starts[number];
            append(l, f, name, f.name->bytes, at);
        }
    } else {
        append(l, s.field, name, "", at);
    }
    l->end = at > BYTES_MAX || s.bytes > BYTES_MAX ? NOT_KNOWN : at + s.bytes;
}

uint64_t osc_nvtx_register_schema(struct osc_nvtx_domain *domain,
                                  const struct osc_nvtx_schema_attributes *a)
{
    const uint64_t must =
        OSC_NVTX_SCHEMA_HAS_TYPE | OSC_NVTX_SCHEMA_HAS_ENTRIES | OSC_NVTX_SCHEMA_HAS_COUNT;
    struct layout l = {.domain = domain_of(domain)};
    uint32_t starts[FIELDS_MAX];

    if (!a || (a->fields & must) != must || !a->entries || a->n_entries > FIELDS_MAX ||
        (a->type != OSC_NVTX_SCHEMA_STATIC && a->type != OSC_NVTX_SCHEMA_VARIABLE))
        return 0;
    l.pack = a->fields & OSC_NVTX_SCHEMA_HAS_PACK ? a->pack : 0;
    for (uint32_t i = 0; i < a->n_entries; i++)
        append_entry(&l, &a->entries[i], i, starts);
    struct osc_nvtx_schema *const s = osc_source_memory(sizeof *s + l.n * sizeof *s->fields);
    if (!s)
        return 0;
    s->n_fields = l.n;
    s->align = l.align;
    s->has_message = l.has_message;
    s->bytes = l.end == NOT_KNOWN ? UINT32_MAX : (uint32_t)aligned(l.end, l.align);
    if (a->type == OSC_NVTX_SCHEMA_STATIC && a->fields & OSC_NVTX_SCHEMA_HAS_BYTES &&
        a->bytes <= BYTES_MAX)
        s->bytes = (uint32_t)a->bytes;
    memcpy(s->fields, l.fields, l.n * sizeof *s->fields);
    return store(&schemas, l.domain, a->fields & OSC_NVTX_SCHEMA_HAS_ID ? a->id : 0, s);
}
