/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt.h"

#include <stdio.h>
#include <string.h>

#include "sources/itt/itt_clock.h"
#include "sources/itt/itt_thread.h"
#include "sources/source_state.h"

#define N_LISTS 4

static struct osc_source source = {.name = "itt"};
static _Atomic uint32_t is_begun;

/* The symbols that static parts look up. NOLINTBEGIN(bugprone-reserved-identifier) */
OSC_API void __itt_api_init(struct osc_itt_global *g, int groups);
OSC_API void __itt_api_fini(struct osc_itt_global *g);
OSC_API const char *__itt_api_version(void);
/* NOLINTEND(bugprone-reserved-identifier) */

static void begin(void)
{
    /* Relaxed: only one thread sees 0. */
    if (atomic_exchange_explicit(&is_begun, 1, memory_order_relaxed) == 0)
        osc_itt_clock_begin();
    osc_source_begin();
}

/* Report that the static part G got N_BOUND of the N_FUNCTIONS that it knows. */
static void report_part(const struct osc_itt_global *g, unsigned n_bound, unsigned n_functions)
{
    char text[104];

    (void)snprintf(text, sizeof text, "version %lu.%lu, build %lu, %u of %u functions",
                   g->version_major, g->version_minor, g->version_build, n_bound, n_functions);
    osc_source_report(&source, text);
}

/* --- what a static part asks for -------------------------------------------------------- */

/* Our function called NAME, which begins with "__itt_"; NULL if we have none. */
static osc_itt_function find_function(const char *name)
{
    static const struct osc_itt_binding *const lists[N_LISTS] = {
        osc_itt_tasks, osc_itt_ranges, osc_itt_values, osc_itt_control};

    if (strncmp(name, "__itt_", 6) != 0)
        return NULL;
    for (size_t i = 0; i < N_LISTS; i++) {
        for (const struct osc_itt_binding *b = lists[i]; b->name; b++) {
            if (strcmp(b->name, name + 6) == 0)
                return b->function;
        }
    }
    return NULL;
}

/* Set all function pointers of G: to our functions if IS_ON, else to functions that do
 * nothing. */
static void bind(struct osc_itt_global *g, bool is_on)
{
    unsigned n_bound = 0, n_functions = 0;

    for (struct osc_itt_api *api = g->apis; api && api->name; api++) {
        const osc_itt_function ours = is_on ? find_function(api->name) : NULL;

        if (!api->function)
            continue;
        *api->function = ours ? ours : api->null_function;
        n_bound += ours != NULL;
        n_functions++;
    }
    if (is_on)
        report_part(g, n_bound, n_functions);
}

/* Take over the objects that G made before it loaded us; its client keeps using them. */
static void adopt_objects(struct osc_itt_global *g)
{
    for (struct osc_itt_domain *d = g->domain_list; d; d = d->next) {
        /* Old static parts leave it to us to switch domains on. */
        if (osc_itt_domain_adopt(d))
            d->flags = 1;
    }
    for (struct osc_itt_string *s = g->string_list; s; s = s->next)
        (void)osc_itt_text_adopt(s);
    if (g->version_build < OSC_ITT_BUILD_COUNTERS)
        return;
    for (struct osc_itt_counter *c = g->counter_list; c; c = c->next)
        osc_itt_counter_adopt(c);
}

void __itt_api_init(struct osc_itt_global *g, int groups)
{
    (void)groups; /* a hint; an unused pointer costs nothing */
    if (!g || memcmp(g->magic, OSC_ITT_MAGIC, sizeof g->magic) != 0 ||
        g->version_major != OSC_ITT_MAJOR)
        return;
    const bool is_on = osc_source_is_wanted(&source);
    const uint32_t closed = osc_source_self.closed;
    /* Allocations while the recorder starts may call us again. */
    osc_source_self.closed = OSC_SOURCE_INSIDE;
    if (is_on) {
        begin();
        osc_itt_find_mark(g);
        adopt_objects(g);
    }
    bind(g, is_on);
    osc_source_self.closed = closed;
}

/* The client unloads its static part: none of its memory is ours, and we stay loaded. */
void __itt_api_fini(struct osc_itt_global *g)
{
    (void)g;
}

const char *__itt_api_version(void)
{
    return osc_itt_version();
}
