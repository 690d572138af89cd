/* SPDX-License-Identifier: MIT */
/*
 * Discards a result that must normally be checked, where an invariant decides it; a comment at the call names the
 * invariant. Internal.
 */
#ifndef LADE_LIB_IGNORE_H
#define LADE_LIB_IGNORE_H

static inline void lade_ignore(int status)
{
    (void)status;
}

#endif
