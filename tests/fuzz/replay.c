/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - run a fuzz target over files and folders, without an engine.
 *
 * Usage: replay_NAME PATH... ; prints how many inputs it ran. A target that finds an error
 * aborts; the name of the input is printed to stderr before.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Run the target on a copy of the exact size, so that ASan detects accesses beyond its end. */
static int run_bytes(const struct osc_strbuf *b)
{
    uint8_t *const copy = osc_malloc(b->len);

    if (!copy)
        return 1;
    if (b->len > 0)
        memcpy(copy, b->s, b->len);
    (void)LLVMFuzzerTestOneInput(copy, b->len);
    osc_free(copy);
    return 0;
}

static int run_file(const char *path, unsigned *n_run)
{
    struct osc_strbuf b = {0};
    FILE *const f = fopen(path, "rbe");
    char part[65536];
    size_t n;
    int failed = 1;

    if (!f) {
        perror(path);
        return 1;
    }
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        osc_strbuf_add(&b, part, n);
    if (!ferror(f) && b.status == OSC_OK) {
        (void)fprintf(stderr, "%s\n", path);
        failed = run_bytes(&b);
        (*n_run)++;
    }
    (void)fclose(f);
    osc_strbuf_fini(&b);
    return failed;
}

static int is_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Run the target on the files of one folder, in the order of their names. */
static int run_folder(const char *path, unsigned *n_run)
{
    struct dirent **entries;
    const int n = scandir(path, &entries, is_hidden, alphasort);
    int failed = n < 0;

    for (int i = 0; i < n; i++) {
        struct osc_strbuf name = {0};

        osc_strbuf_addf(&name, "%s/%s", path, entries[i]->d_name);
        failed |= name.status != OSC_OK || run_file(name.s, n_run);
        osc_strbuf_fini(&name);
        free(entries[i]); /* scandir() used malloc() */
    }
    if (n >= 0)
        free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    unsigned n_run = 0;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) != 0) {
            perror(argv[i]);
            failed = 1;
        } else if (S_ISDIR(st.st_mode)) {
            failed |= run_folder(argv[i], &n_run);
        } else {
            failed |= run_file(argv[i], &n_run);
        }
    }
    printf("%u inputs\n", n_run);
    return failed;
}
