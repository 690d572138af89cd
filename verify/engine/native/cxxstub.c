/* SPDX-License-Identifier: MIT */
/* Linked into C++ programs: variables of libstdc++ and of the C library that must be the program's own. */

/* The C library would set its own to false when the engine starts a system thread, and to true otherwise. */
char lade_x___libc_single_threaded;

/* std::call_once hands its function over in these; each of the program's threads has its own. */
__thread void *lade_x_once_callable;
__thread void (*lade_x_once_call)(void);

void lade_x___once_proxy(void);
void lade_x___once_proxy(void)
{
    lade_x_once_call();
}
