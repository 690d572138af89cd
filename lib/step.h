/* SPDX-License-Identifier: MIT */
/*
 * A mark before each shared step of an operation. Nothing in the library; tests that stop a thread at every step in
 * turn define it before they include the source. Internal.
 */
#ifndef LADE_STEP
#define LADE_STEP() ((void)0)
#endif
