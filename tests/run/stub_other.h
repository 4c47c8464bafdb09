/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_other.h - the other file of stub.c.
 *
 * Threading: any.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Record a scope, by the library that both files share. */
void in_other_file(void);

#ifdef __cplusplus
}
#endif
