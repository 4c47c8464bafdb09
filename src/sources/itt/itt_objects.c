/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt_objects.h"

#include <string.h>

#include "sources/source_memory.h"
#include "sources/source_thread.h"

struct osc_itt_string *osc_itt_string_of(struct osc_text *text)
{
    static struct osc_itt_string no_memory = {.text = ""};
    struct osc_itt_string *const there = osc_text_view(text, OSC_TEXT_ITT_STRING);
    struct osc_itt_string *const made = there ? there : osc_source_memory(sizeof *made);

    if (there || !made)
        return there ? there : &no_memory;
    *made =
        (struct osc_itt_string){.text = text->bytes, .extra1 = OSC_ITT_OURS, .extra2 = text};
    return osc_text_set_view(text, OSC_TEXT_ITT_STRING, made);
}

struct osc_text *osc_itt_text_adopt(struct osc_itt_string *handle)
{
    if (!handle)
        return osc_text_find_c("");
    struct osc_text *const text = osc_text_find_c(handle->text);
    handle->extra2 = text;
    handle->extra1 = OSC_ITT_OURS;
    return text;
}

static struct osc_itt_domain_entry *new_domain(struct osc_text *text)
{
    struct osc_itt_domain_entry *const d = osc_source_memory(sizeof *d);

    if (!d)
        return NULL;
    d->text = text;
    d->number = osc_source_owner_number();
    d->is_pytorch = strcmp(text->bytes, "PyTorch") == 0;
    d->abi = (struct osc_itt_domain){
        .flags = 1, .name = text->bytes, .extra1 = OSC_ITT_OURS, .extra2 = d};
    return d;
}

struct osc_itt_domain_entry *osc_itt_domain(struct osc_text *text)
{
    struct osc_itt_domain_entry *const d = osc_text_view(text, OSC_TEXT_ITT_DOMAIN);

    if (d)
        return d;
    struct osc_itt_domain_entry *const made = new_domain(text);
    return made ? osc_text_set_view(text, OSC_TEXT_ITT_DOMAIN, made) : NULL;
}

struct osc_itt_domain_entry *osc_itt_domain_adopt(struct osc_itt_domain *d)
{
    struct osc_itt_domain_entry *const entry =
        d ? osc_itt_domain(osc_text_find_c(d->name)) : NULL;

    if (entry) {
        d->extra2 = entry;
        d->extra1 = OSC_ITT_OURS;
    }
    return entry;
}
