/* SPDX-License-Identifier: MIT */
/* Whether a file can be written, asked before work that takes time. */
#ifndef LADE_CLI_PROBE_H
#define LADE_CLI_PROBE_H

#include <stdbool.h>

/*
 * For a report: true, also for "-" and NULL; or false after a message. A file that is there keeps its bytes, and none is
 * left behind.
 */
bool probe_report(const char *command, const char *path);

/* For a file that is replaced whole, as states are. */
bool probe_replace(const char *command, const char *path);

#endif
