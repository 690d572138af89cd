/* SPDX-License-Identifier: MIT */
/* Linked into the program under test, whose own main has been renamed. */
int lade_explore_main(int, char **, int (*)(int, char **), void *, void *, const void *const *);
int lade_x_main(int, char **) __attribute__((weak));
extern char __data_start, _end;
extern const char __start_lade_sites[] __attribute__((weak)), __stop_lade_sites[] __attribute__((weak));
extern const char __start_lade_dead[] __attribute__((weak)), __stop_lade_dead[] __attribute__((weak));
extern const char __start_lade_stages[] __attribute__((weak)), __stop_lade_stages[] __attribute__((weak));
extern const char __start_lade_notes[], __stop_lade_notes[];

int main(int argc, char **argv)
{
    const void *const tables[] = {__start_lade_sites, __stop_lade_sites, __start_lade_dead,
                                  __stop_lade_dead,   __start_lade_notes, __stop_lade_notes,
                                  __start_lade_stages, __stop_lade_stages};

    return lade_explore_main(argc, argv, lade_x_main, &__data_start, &_end, tables);
}
