/* SPDX-License-Identifier: Apache-2.0 */
#include "table/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char folded(char c)
{
    return (char)tolower((unsigned char)c);
}

size_t osc_edit_distance(const char *a, const char *b)
{
    /* Rows i-2, i-1 and i of the matrix, in turn (optimal string alignment). */
    size_t rows[3][WORD_MAX + 1];
    const size_t na = strlen(a), nb = strlen(b);

    if (na > WORD_MAX || nb > WORD_MAX)
        return na > nb ? na : nb;
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;

    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3];
        const size_t *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        const char ca = folded(a[i - 1]);

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const char cb = folded(b[j - 1]);

            row[j] = least(least(up[j] + 1, row[j - 1] + 1), up[j - 1] + (ca != cb));
            if (i > 1 && j > 1 && ca == folded(b[j - 2]) && cb == folded(a[i - 2]))
                row[j] = least(row[j], up2[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/* Edits from WORD to the nearest run of parts of CANDIDATE, such as "total" of
 * host_total_ns. */
static size_t distance_to_part(const char *word, const char *candidate)
{
    size_t best = WORD_MAX;
    char part[WORD_MAX + 1];

    for (const char *from = candidate; from; from = strchr(from, '_')) {
        from += *from == '_';
        for (const char *to = from; *to; to += *to == '_') {
            to += strcspn(to, "_");
            const size_t len = (size_t)(to - from);

            if (len > WORD_MAX)
                break;
            memcpy(part, from, len);
            part[len] = '\0';
            best = least(best, osc_edit_distance(word, part));
        }
    }
    return best;
}

void osc_nearest_try(struct osc_nearest *n, const char *candidate)
{
    const size_t len = strlen(n->word);
    const size_t room = len < 4 ? 2 : len < 6 ? 4 : 6;
    size_t distance = 2 * osc_edit_distance(n->word, candidate); /* in half edits */

    /* An unfinished word is nearer than a misspelt one. */
    if (len >= 2 && strncasecmp(n->word, candidate, len) == 0)
        distance = least(distance, 1);
    if (len >= 3)
        distance = least(distance, 2 * (distance_to_part(n->word, candidate) + 1));
    if (distance <= room && (!n->best || distance < n->distance)) {
        n->best = candidate;
        n->distance = distance;
    }
}
