/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool can_write(const char *path)
{
    struct stat about;

    /* Whoever reads a pipe would take an open and a close for the end. */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        errno = EISDIR;
        return !S_ISDIR(about.st_mode) && access(path, W_OK) == 0;
    }
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
        (void)unlink(path);
    else if (errno == EEXIST)
        file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

static bool complain(const char *command, const char *path)
{
    fprintf(stderr, "lade %s: %s: %s\n", command, path, strerror(errno));
    return false;
}

bool probe_report(const char *command, const char *path)
{
    return !path || !strcmp(path, "-") || can_write(path) || complain(command, path);
}

bool probe_replace(const char *command, const char *path)
{
    struct lade_file file;

    if (!path)
        return true;
    if (lade_file_create(&file, path) != LADE_OK)
        return complain(command, path);
    lade_file_drop(&file);
    return true;
}
