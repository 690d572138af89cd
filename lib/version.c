/* SPDX-License-Identifier: MIT */
#include <lade/version.h>

#define TEXT_OF(number) #number
#define TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *lade_version(void)
{
    return TEXT(LADE_VERSION_MAJOR, LADE_VERSION_MINOR, LADE_VERSION_PATCH);
}

uint32_t lade_version_number(void)
{
    return LADE_VERSION_NUMBER;
}
