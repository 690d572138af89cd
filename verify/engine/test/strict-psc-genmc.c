/* SPDX-License-Identifier: MIT */
/*
 * The same with GenMC's stronger rule.
 *
 * expect: weaker
 * options: --genmc
 */
#include "strict-psc.c"
