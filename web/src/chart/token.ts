// SPDX-License-Identifier: Apache-2.0
// The colours of the theme for what is drawn on a canvas, which has no style sheet.

/** The value of the token NAME in the theme that is shown. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
