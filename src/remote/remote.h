/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote.h - copy files and directories from servers: http://, https:// and s3://.
 *
 *   http(s)://HOST/PATH/FILE   the file
 *   http(s)://HOST/PATH/       the files that the page lists, as web servers list a directory,
 *                              and those below it
 *   s3://BUCKET/KEY            the object, if it is called like a wanted file
 *   s3://BUCKET/PREFIX         otherwise all wanted objects below PREFIX
 *
 * gs://, hdfs:// and the schemes of Azure are known, and refused with what to do instead.
 *
 * S3 takes the usual variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN
 * (without them requests are not signed), AWS_REGION or AWS_DEFAULT_REGION, and for another
 * server AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or S3_ENDPOINT.
 *
 * A server decides only about names below the given directory: names with "..", and pages of
 * other hosts or directories are not followed. At most 10,000 files are copied. A file of a
 * directory that cannot be copied is left as a link to nothing; 20 of them are put up with.
 *
 * Threading: one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

struct osc_remote_how {
    /* Whether a file of this name is copied from a directory. */
    bool (*wants)(const char *name);
    /* Called with a sentence about each file of a directory that cannot be copied. NULL: none
     * may fail. */
    void (*failed)(void *ctx, const char *message);
    /* Called from time to time with the name of the file that is copied, and with NULL at the
     * end; false stops. May be NULL. */
    bool (*progress)(void *ctx, const char *name, uint64_t done_bytes, uint64_t total_bytes);
    void *ctx;
};

/* Whether PATH names something on a server. */
bool osc_remote_is_url(const char *path);

/* Copy what URL names into the directory DIR, and append the path of the copy, a file or a
 * directory, to PATH. On failure some files may have been copied. */
OSC_MUST_USE osc_status osc_remote_get(struct osc_strbuf *path, const char *url,
                                       const char *dir, const struct osc_remote_how *how,
                                       struct osc_err *err);
