/* SPDX-License-Identifier: MIT */
/* Declarations shared by the formats of lade synth. */
#ifndef LADE_CLI_SYNTH_H
#define LADE_CLI_SYNTH_H

#include "lade.h"

/*
 * Builds the text that opens the result, in s->opens: kind, folder and first; between, folder and second unless second
 * is empty; rest. A comma in the folder's name is escaped.
 */
void synth_opens(struct synth *s, const char *kind, const char *first, const char *between, const char *second,
                 const char *rest);

#endif
