/* SPDX-License-Identifier: MIT */
/* All public headers of liblade. */
#ifndef LADE_LADE_H
#define LADE_LADE_H

#include <lade/alloc.h>
#include <lade/bag.h>
#include <lade/error.h>
#include <lade/fork.h>
#include <lade/random.h>
#include <lade/ref.h>
#include <lade/ring.h>
#include <lade/split.h>
#include <lade/status.h>
#include <lade/table.h>
#include <lade/thread.h>
#include <lade/version.h>

#endif
