/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fresh.c - a process that loads one trace and says what that took.
 *
 *   fresh FILE THREADS [derive]
 *
 * For process.py, which measures it from outside: time of the whole process, of
 * the kernel, memory. Prints "KEY NUMBER" lines.
 */
#include <string.h>
#include <sys/resource.h>

#include "analysis/table_registry.h"
#include "base/mem.h"
#include "bench.h"
#include "derive/derive.h"
#include "import/import.h"

/* Bytes of the line KEY of /proc/self/status. */
static long status_bytes(const char *key)
{
    char line[256];
    long kib = 0;
    FILE *const f = fopen("/proc/self/status", "re");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtol(line + strlen(key) + 1, NULL, 10);
    if (f)
        fclose(f);
    return kib * 1024;
}

/* Bytes that the base columns take. */
static uint64_t column_bytes(const struct osc_store *s)
{
    uint64_t n = 0;

    for (uint32_t c = 1; c < s->n_chunks; c++) {
        const struct osc_chunk *const k = s->chunks[c];
        const uint64_t row = sizeof *k->ts_ns + sizeof *k->dur_ns + sizeof *k->name +
                             sizeof *k->form + sizeof *k->track + sizeof *k->arg_word +
                             sizeof *k->kind;

        n += sizeof *k + k->n_rows * row + k->n_arg_words * sizeof *k->args +
             k->cap_more * sizeof *k->more;
    }
    return n;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    const bool derives = argc > 3 && strcmp(argv[3], "derive") == 0;
    struct osc_trace t = {0};
    struct osc_err err = {0};
    struct rusage used;
    uint32_t facts = 0;

    if (argc < 3) {
        fputs("usage: fresh FILE THREADS [derive]\n", stderr);
        return 2;
    }
    const struct osc_import_options o = {.n_threads = (unsigned)atoi(argv[2])};
    osc_status st = osc_import_path(&t, argv[1], &o, &err);
    getrusage(RUSAGE_SELF, &used);
    printf("user_s %.6f\nkernel_s %.6f\n", seconds(used.ru_utime), seconds(used.ru_stime));
    printf("peak_bytes %ld\n", status_bytes("VmHWM") - status_bytes("RssFile"));

    const size_t base = osc_mem_held();
    for (int k = 0; derives && osc_tables[k]; k++)
        facts |= osc_tables[k]->facts;
    if (derives && st == OSC_OK)
        st = osc_derive(&t, facts, o.n_threads, &err);
    if (st != OSC_OK) {
        fprintf(stderr, "fresh: %s\n", err.message);
        return 1;
    }
    printf("text_bytes %llu\nrecords %llu\n", (unsigned long long)t.text_bytes,
           (unsigned long long)t.events.n_rows + t.others.n_rows);
    printf("column_bytes %llu\npage_bytes %zu\nderived_bytes %zu\nstring_bytes %llu\n",
           (unsigned long long)(column_bytes(&t.events) + column_bytes(&t.others)),
           base - (size_t)osc_strings_bytes(&t.strings), osc_mem_held() - base,
           (unsigned long long)osc_strings_bytes(&t.strings));
    /* Not freed: nobody who exits would. */
    fflush(stdout);
    _Exit(0);
}
