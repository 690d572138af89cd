/* SPDX-License-Identifier: MIT */
/*
 * A mark before each shared step of an operation. It expands to nothing in the library; tests that stop a thread at
 * each step define it before they include the source. Internal.
 */
#ifndef LADE_STEP
#define LADE_STEP() ((void)0)
#endif
