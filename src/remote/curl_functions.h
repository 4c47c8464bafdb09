/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_functions.h - the functions of libcurl that are used here.
 *
 * libcurl is loaded when the first file of a server is asked for. If the command were linked
 * with it, the loader would spend four fifths of the start of each command on the thirty
 * libraries that it needs.
 *
 * Threading: locked.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>

/* No macros that check arguments: the functions are called through pointers. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define OSC_CURL_LIST(X)   \
    X(curl_easy_cleanup)   \
    X(curl_easy_getinfo)   \
    X(curl_easy_init)      \
    X(curl_easy_perform)   \
    X(curl_easy_reset)     \
    X(curl_easy_setopt)    \
    X(curl_easy_strerror)  \
    X(curl_free)           \
    X(curl_slist_append)   \
    X(curl_slist_free_all) \
    X(curl_url)            \
    X(curl_url_cleanup)    \
    X(curl_url_get)        \
    X(curl_url_set)        \
    X(curl_version_info)

struct osc_curl_functions {
#define OSC_CURL_POINTER(name) __typeof__(name) *(name);
    OSC_CURL_LIST(OSC_CURL_POINTER)
#undef OSC_CURL_POINTER
};

/* To be called after osc_curl_load() alone. */
extern struct osc_curl_functions osc_curl_functions;

/* Load libcurl, once. False: it is not installed, or too old. */
bool osc_curl_load(void);
