/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "data.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE (UINT64_C(1) << 21)
#define LABEL_BYTES 1
#define CLASSES 10

void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(3);
}

uint64_t number_of(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);

    if (*end || end == text || value == 0)
        fail("a number is wrong");
    return value;
}

static void fill(struct data *data)
{
    size_t size = data->count * data->bytes;

    data->rows = aligned_alloc(HUGE_PAGE, (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    data->labels = malloc(data->count * sizeof *data->labels);
    if (!data->rows || !data->labels)
        fail("no memory");
    madvise(data->rows, size, MADV_HUGEPAGE);
    memset(data->rows, 1, size);
    for (uint64_t i = 0; i < data->count; i++) {
        if (data->bytes >= sizeof i)
            memcpy(data->rows + i * data->bytes, &i, sizeof i);
        data->labels[i] = (int64_t)(i % CLASSES);
    }
}

static void map(struct data *data, const char *name)
{
    struct stat about;
    int file = open(name, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &about) != 0)
        fail("the file cannot be opened");
    data->stride = data->bytes + LABEL_BYTES;
    if ((uint64_t)about.st_size < data->count * data->stride)
        fail("the file is too short");
    data->rows = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (data->rows == MAP_FAILED)
        fail("the file cannot be mapped");
    data->rows += LABEL_BYTES;
}

void data_make(struct data *data, const char *name, uint64_t count, size_t bytes)
{
    *data = (struct data){.count = count, .bytes = bytes, .stride = bytes};
    if (strcmp(name, "memory") == 0)
        fill(data);
    else
        map(data, name);
}

uint64_t data_read(const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    uint64_t sum = 0;

    for (size_t at = 0; at + sizeof sum <= size; at += sizeof sum) {
        uint64_t word;
        memcpy(&word, from + at, sizeof word);
        sum += word;
    }
    return sum;
}

struct lade_source *data_open(struct data *data, const char *name, uint64_t count, size_t bytes)
{
    struct lade_source *source;
    struct lade_error error;
    char text[4096];
    int status;

    if (strcmp(name, "memory") == 0) {
        data_make(data, name, count, bytes);
        status = lade_source_open_array(&source,
                                        &(struct lade_source_array){.samples = data->rows,
                                                                    .count = count,
                                                                    .shape = {LADE_U8, 1, {bytes}},
                                                                    .labels = data->labels,
                                                                    .label_dtype = LADE_I64,
                                                                    .classes = CLASSES},
                                        &error);
    } else if (strchr(name, ':')) {
        status = lade_source_open(&source, name, NULL, &error);
    } else {
        snprintf(text, sizeof text, "records:%s,size=%zu,label=0:%d,classes=%d", name, bytes + LABEL_BYTES, LABEL_BYTES,
                 CLASSES);
        status = lade_source_open(&source, text, NULL, &error);
    }
    if (status != LADE_OK)
        fail(error.text);
    return source;
}
