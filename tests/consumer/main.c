/* SPDX-License-Identifier: MIT */
#include <lade/lade.h>
#include <stdio.h>
#include <string.h>

static int released;

static void release(struct lade_ref *ref)
{
    (void)ref;
    released++;
}

int main(void)
{
    struct lade_ref ref;

    lade_ref_init(&ref);
    if (lade_ref_get(&ref) != LADE_OK || lade_ref_put(&ref, release) != LADE_OK)
        return 1;
    if (lade_ref_put(&ref, release) != LADE_RELEASED || released != 1)
        return 1;
    return puts(lade_status_text(LADE_OK)) < 0 || strcmp(lade_status_text(LADE_OK), "done") != 0;
}
