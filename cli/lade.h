/* SPDX-License-Identifier: MIT */
/* What the subcommands of lade share. */
#ifndef LADE_CLI_H
#define LADE_CLI_H

#include <stdint.h>

/* Exit codes, the same for every subcommand. */
enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_TROUBLE = 3 };

int feed_main(int argc, char **argv);
int split_main(int argc, char **argv);

#endif
