/* SPDX-License-Identifier: MIT */
/*
 * The same with GenMC's stronger rule.
 *
 * expect: pass
 * options: --genmc
 */
#include "strict-psc.c"
