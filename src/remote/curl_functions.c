/* SPDX-License-Identifier: Apache-2.0 */
#if OSC_WITH_REMOTE

#include "remote/curl_functions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define OLDEST 0x075500u /* 7.85: the first that takes a list of protocols as text */

static pthread_once_t once = PTHREAD_ONCE_INIT;
struct osc_curl_functions osc_curl_functions;
static bool is_loaded;

static bool find(void *library)
{
    const struct {
        const char *name;
        void *place;
    } wanted[] = {
#define OSC_CURL_PLACE(name) {#name, &osc_curl_functions.name},
        OSC_CURL_LIST(OSC_CURL_PLACE)
#undef OSC_CURL_PLACE
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const found = dlsym(library, wanted[i].name);

        if (!found)
            return false;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return osc_curl_functions.curl_version_info(CURLVERSION_NOW)->version_num >= OLDEST;
}

static void load(void)
{
    /* As Debian calls what was built with OpenSSL, and with GnuTLS. */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

    for (size_t i = 0; i < sizeof names / sizeof *names && !is_loaded; i++) {
        void *const library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

        is_loaded = library && find(library);
    }
}

bool osc_curl_load(void)
{
    (void)pthread_once(&once, load);
    return is_loaded;
}

#endif
