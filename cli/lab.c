/* SPDX-License-Identifier: MIT */
/* lade lab: prints the address of the lab's page, with a program where one is named, and opens it in a browser. */
#include "lade.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: lade lab [OPTION] [FILE]\n"
    "\n"
    "Prints the path of the lab's page and opens it with xdg-open where there is one. The page "
    "is made by \"ninja lab\". With FILE, a program in the lab's language, it prints the address "
    "that opens it.\n"
    "\n"
    "  --print      only print it\n"
    "  --help       this text\n"
    "\n"
    "exit codes: 0 done, 2 wrong use, 3 the page is not built\n";

/* Beside this program in the build tree; $LADE_LAB comes first. The path has PATH_MAX bytes. */
static bool find(char *path, size_t size)
{
    const char *named = getenv("LADE_LAB");
    ssize_t n = named ? -1 : readlink("/proc/self/exe", path, size - 1);

    if (named)
        return realpath(named, path) && access(path, R_OK) == 0;
    if (n > 0) {
        path[n] = 0;
        for (int i = 0; i < 2 && strrchr(path, '/'); i++)
            *strrchr(path, '/') = 0;
        snprintf(path + strlen(path), size - strlen(path), "/lab/lab.html");
    }
    return n > 0 && access(path, R_OK) == 0;
}

/* Appends the program as the address's fragment. */
static bool add_program(char *address, size_t size, const char *file)
{
    FILE *f = fopen(file, "r");
    size_t n = strlen(address);
    int c;

    if (!f)
        return false;
    address[n++] = '#';
    while ((c = getc(f)) != EOF && n + 4 < size)
        if (isalnum(c))
            address[n++] = (char)c;
        else
            n += (size_t)snprintf(address + n, size - n, "%%%02X", (unsigned)c);
    address[n] = 0;
    bool whole = c == EOF && !ferror(f);
    return fclose(f) == 0 && whole;
}

int lab_main(int argc, char **argv)
{
    static char path[1 << 17] = "file://"; /* three characters for each of a program, which has at most 16 KiB */
    bool print = argc > 1 && !strcmp(argv[1], "--print");
    const char *file = argc > 1 + print ? argv[1 + print] : NULL;

    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(usage, stdout);
        return EXIT_DONE;
    }
    if (argc > 2 + print || (file && file[0] == '-')) {
        print_error("lab: there is no option '%s'; lade lab --help lists them", shown(argv[argc - 1]));
        return EXIT_USAGE;
    }
    if (!find(path + strlen("file://"), PATH_MAX)) {
        print_error("lab: the page is not built: run \"ninja -C build lab\", or set LADE_LAB to its path");
        return EXIT_TROUBLE;
    }
    if (file && !add_program(path, sizeof path, file)) {
        print_error("lab: cannot read '%s', or it is too long for the lab", shown(file));
        return EXIT_USAGE;
    }
    const char *address = file ? path : path + strlen("file://");
    puts(address);
    fflush(stdout);
    if (!print) {
        execlp("xdg-open", "xdg-open", address, (char *)NULL);
        print_error("lab: no xdg-open here: open the path above in a browser");
    }
    return EXIT_DONE;
}
