/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ask three questions about a trace, from two threads that share it:
 *
 *     ask TRACE...
 *
 * One thread sums the time of the operators. The other finds the longest step, and then the
 * operator that took the most time in the first step: a view, for which nothing is read again.
 *
 *     cc main.c $(pkg-config --cflags --static --libs opscope-trace)
 */
#include <opscope/trace.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread that asks SET, and its results. */
struct asker {
    pthread_t thread;
    struct osc_set *set;
    struct osc_err err;
    osc_status st;
    int64_t host_ns;    /* of all operators */
    int64_t longest_ns; /* step */
    char name[64];      /* operator that took the most time in the first step */
};

/* The column NAME of F; ends the program if there is none. */
static struct osc_frame_column find(const struct osc_frame *f, const char *name)
{
    for (size_t i = 0; i < osc_frame_columns(f); i++) {
        const struct osc_frame_column column = osc_frame_column_at(f, i);

        if (strcmp(column.name, name) == 0)
            return column;
    }
    fprintf(stderr, "%s has no column %s\n", osc_frame_name(f), name);
    exit(1);
}

static void *sum_operators(void *arg)
{
    const struct osc_question question = {.table = "operators", .columns = "host_self_ns"};
    struct asker *const a = arg;
    struct osc_frame *f = NULL;

    a->st = osc_ask(a->set, NULL, &question, &f, &a->err);
    if (a->st != OSC_OK)
        return NULL;
    const int64_t *const ns = find(f, "host_self_ns").values;
    for (uint64_t i = 0; i < osc_frame_rows(f); i++)
        a->host_ns += ns[i];
    osc_frame_release(f);
    return NULL;
}

static void *look_at_steps(void *arg)
{
    const struct osc_question steps = {.table = "steps", .sort = "total_ns", .limit = 1};
    const struct osc_question operators = {
        .table = "operators", .sort = "host_total_ns", .limit = 1};
    const struct osc_view first = {.steps = "@0"};
    struct asker *const a = arg;
    struct osc_frame *f = NULL;

    a->st = osc_ask(a->set, NULL, &steps, &f, &a->err);
    if (a->st != OSC_OK)
        return NULL;
    if (osc_frame_rows(f) > 0)
        a->longest_ns = ((const int64_t *)find(f, "total_ns").values)[0];
    osc_frame_release(f);

    a->st = osc_ask(a->set, &first, &operators, &f, &a->err);
    if (a->st == OSC_EINVAL) { /* the trace has no steps */
        a->st = OSC_OK;
        return NULL;
    }
    if (a->st != OSC_OK)
        return NULL;
    const struct osc_frame_column name = find(f, "name");
    if (osc_frame_rows(f) > 0) {
        const int32_t word = ((const int32_t *)name.values)[0];

        snprintf(a->name, sizeof a->name, "%.*s",
                 (int)(name.word_offsets[word + 1] - name.word_offsets[word]),
                 name.word_bytes + name.word_offsets[word]);
    }
    osc_frame_release(f);
    return NULL;
}

int main(int argc, char **argv)
{
    struct osc_err err = {.code = OSC_OK};
    struct osc_set *set = NULL;

    if (osc_set_open(&set, (const char *const *)argv + 1, (size_t)argc - 1, NULL, &err) !=
        OSC_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    struct asker one = {.set = set}, two = {.set = set};
    if (pthread_create(&one.thread, NULL, sum_operators, &one) != 0 ||
        pthread_create(&two.thread, NULL, look_at_steps, &two) != 0)
        return 1;
    pthread_join(one.thread, NULL);
    pthread_join(two.thread, NULL);
    osc_set_release(set);
    if (one.st != OSC_OK || two.st != OSC_OK) {
        fprintf(stderr, "%s\n", one.st != OSC_OK ? one.err.message : two.err.message);
        return 1;
    }
    printf("operators: %lld ns\nlongest step: %lld ns\nmost of the first step: %s\n",
           (long long)one.host_ns, (long long)two.longest_ns, two.name);
    return 0;
}
