/* SPDX-License-Identifier: MIT */
#include "output.h"

#include "lade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool trouble(const char *command, const char *path)
{
    print_error("%s: %s: %s", command, path, strerror(errno));
    return false;
}

enum target { NO_TARGET, REPLACED, WRITTEN };

/* Files are replaced; pipes and devices are written directly. */
static enum target target_of(const char *path)
{
    struct stat s;

    if (stat(path, &s) != 0)
        return errno == ENOENT ? REPLACED : NO_TARGET;
    if (!S_ISDIR(s.st_mode))
        return S_ISREG(s.st_mode) ? REPLACED : WRITTEN;
    errno = EISDIR;
    return NO_TARGET;
}

/* A link stays a link: its target file is replaced. */
static bool create(struct lade_file *file, const char *path, bool bulk)
{
    char *real = realpath(path, NULL);

    if (!real && errno != ENOENT)
        return false;
    const char *name = real ? real : path;
    int status = bulk ? lade_file_create_bulk(file, name) : lade_file_create(file, name);
    int error = errno;
    free(real);
    errno = error;
    return status == LADE_OK;
}

/* The stream has a copy of the descriptor, so that the file can be synced after the stream is closed. */
static bool open_file(struct output *o, bool bulk)
{
    if (!create(&o->file, o->path, bulk))
        return false;
    int copy = fcntl(o->file.file, F_DUPFD_CLOEXEC, 0);
    o->to = copy >= 0 ? fdopen(copy, "wb") : NULL;
    if (o->to)
        return true;
    lade_file_drop(&o->file);
    if (copy >= 0)
        (void)close(copy);
    return false;
}

static bool begin(struct output *o, const char *command, const char *path, bool bulk)
{
    *o = (struct output){.command = command, .path = path, .to = stdout};
    if (!strcmp(path, "-"))
        return true;
    enum target target = target_of(path);
    o->whole = target == REPLACED;
    if (target == REPLACED)
        return open_file(o, bulk) || trouble(command, path);
    o->to = target == WRITTEN ? fopen(path, "wb") : NULL;
    return o->to || trouble(command, path);
}

bool output_begin(struct output *o, const char *command, const char *path)
{
    return begin(o, command, path, false);
}

bool output_begin_bulk(struct output *o, const char *command, const char *path)
{
    return begin(o, command, path, true);
}

bool output_end(struct output *o)
{
    errno = 0;
    bool good = fflush(o->to) == 0 && !ferror(o->to);
    int error = errno;

    if (o->to != stdout && fclose(o->to) != 0) {
        error = good ? errno : error;
        good = false;
    }
    if (good && o->whole && lade_file_replace(&o->file) != LADE_OK) {
        error = errno;
        good = false;
    } else if (!good && o->whole) {
        lade_file_drop(&o->file);
    }
    if (!good)
        print_error("%s: %s: could not be written%s%s", o->command, o->to == stdout ? "standard output" : o->path,
                    error ? ": " : "", error ? strerror(error) : "");
    return good;
}

void output_drop(struct output *o)
{
    if (o->to != stdout)
        (void)fclose(o->to);
    if (o->whole)
        lade_file_drop(&o->file);
}

static bool probe(bool created, struct lade_file *file, const char *command, const char *path)
{
    if (!created)
        return trouble(command, path);
    lade_file_drop(file);
    return true;
}

bool output_probe(const char *command, const char *path)
{
    struct lade_file file;

    if (!path || !strcmp(path, "-"))
        return true;
    enum target target = target_of(path);
    if (target == NO_TARGET)
        return trouble(command, path);
    /* The reader of a pipe would take an open and a close for the end. */
    if (target == WRITTEN)
        return access(path, W_OK) == 0 || trouble(command, path);
    return probe(create(&file, path, false), &file, command, path);
}

bool output_probe_file(const char *command, const char *path)
{
    struct lade_file file;

    return !path || probe(lade_file_create(&file, path) == LADE_OK, &file, command, path);
}
