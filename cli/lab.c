/* SPDX-License-Identifier: MIT */
/* lade lab: prints where the lab's page is, and opens it in a browser. */
#include "lade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: lade lab [OPTION]\n"
                            "\n"
                            "Prints the path of the lab's page and opens it with xdg-open where there is one. The page "
                            "is made by \"ninja lab\".\n"
                            "\n"
                            "  --print      only print the path\n"
                            "  --help       this text\n"
                            "\n"
                            "exit codes: 0 done, 2 wrong use, 3 the page is not built\n";

/* Beside this program in the build tree; $LADE_LAB comes first. */
static bool find(char *path, size_t size)
{
    const char *named = getenv("LADE_LAB");
    ssize_t n = named ? -1 : readlink("/proc/self/exe", path, size - 1);

    if (named) {
        snprintf(path, size, "%s", named);
    } else if (n > 0) {
        path[n] = 0;
        for (int i = 0; i < 2 && strrchr(path, '/'); i++)
            *strrchr(path, '/') = 0;
        snprintf(path + strlen(path), size - strlen(path), "/lab/lab.html");
    }
    return (named || n > 0) && access(path, R_OK) == 0;
}

int lab_main(int argc, char **argv)
{
    char path[4096];
    bool print = argc == 2 && !strcmp(argv[1], "--print");

    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(usage, stdout);
        return EXIT_DONE;
    }
    if (argc > 1 && !print) {
        print_error("lab: there is no option '%s'; lade lab --help lists them", shown(argv[1]));
        return EXIT_USAGE;
    }
    if (!find(path, sizeof path)) {
        print_error("lab: the page is not built: run \"ninja -C build lab\", or set LADE_LAB to its path");
        return EXIT_TROUBLE;
    }
    puts(path);
    fflush(stdout);
    if (!print) {
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        print_error("lab: no xdg-open here: open the path above in a browser");
    }
    return EXIT_DONE;
}
