/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_page.h - the page of a program that was built without the viewer: links to all tables.
 *
 * Threading: a pure function; the buffer is the caller's.
 */
#pragma once

#include "base/strbuf.h"

/* Append it, HTML in UTF-8. */
void osc_plain_page_add(struct osc_strbuf *out);
