/* SPDX-License-Identifier: MIT */
/* Lets programs that include <genmc.h> for __VERIFIER_assume compile without GenMC's headers. */
#ifndef LADE_COMPAT_GENMC_H
#define LADE_COMPAT_GENMC_H
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
void __VERIFIER_assume(bool);
#endif
