/* SPDX-License-Identifier: MIT */
/* For a result that must be checked elsewhere, where an invariant decides it: the code at the call names it. Internal. */
#ifndef LADE_LIB_IGNORE_H
#define LADE_LIB_IGNORE_H

static inline void lade_ignore(int status)
{
    (void)status;
}

#endif
