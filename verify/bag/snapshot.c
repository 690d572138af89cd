/* harness
 * property: restoring from arbitrary bytes stays within bounds and puts no invalid word, and a block that fails puts nothing
 * engines: cbmc
 * threads: 1
 * bound: any bytes and any checksums; blocks of 24 bytes, 2 of them and the end; words, records of 3, and of 23 bytes
 * flags: --unwind 9 --unwindset lade_bag_restore.0:4,put_content.0:6,read_content.0:4
 * timeout: 300
 * cover: restored cut damaged refused second_block large
 */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include <stddef.h>
#include <stdint.h>

uint32_t nondet_uint32(void);
int nondet_int(void);

/* Any result: this covers every stream with valid checksums and every stream with invalid ones. */
static uint32_t any_checksum(uint32_t crc, const void *bytes, size_t size)
{
    (void)crc, (void)bytes, (void)size;
    return nondet_uint32();
}

/* The text of an error does not matter here. */
#include "fail.h"

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    (void)name, (void)format;
    error->status = status;
    error->offset = offset;
    return status;
}

#define LADE_BAG_BLOCK 24
#define LADE_BAG_CRC any_checksum
#include "bag_snapshot.c"

enum { RECORD = 23, CALLS = 6 };

static struct lade_bag bag;
static struct lade_bag_handle handle;
static unsigned char scratch[RECORD];
static uint64_t given; /* bytes that read() returned */
static int calls, puts, puts_before;
static uint64_t at_head; /* start of the block */

static void setup(void)
{
    bag.config.kind = nondet_int() ? LADE_BAG_WORDS : LADE_BAG_RECORDS;
    bag.element = bag.config.kind == LADE_BAG_WORDS ? sizeof(uint64_t) : nondet_int() ? 3 : RECORD;
    handle.bag = &bag;
}

/* Arbitrary bytes, and sometimes the end of the stream. */
static bool read_any(void *context, void *bytes, size_t size)
{
    assert(context == &given);
    assert(__CPROVER_w_ok(bytes, size));
    assume(calls++ < CALLS);
    if (size == BLOCK_HEAD) { /* nothing else has this size */
        at_head = given;
        puts_before = puts;
    }
    if (nondet_int())
        return false;
    __CPROVER_havoc_slice(bytes, size);
    given += size;
    return true;
}

void *lade_bag_scratch(struct lade_bag_handle *h)
{
    assert(h == &handle && !fits_block(&bag));
    cover(large);
    return scratch;
}

int lade_bag_put_sampled(struct lade_bag_handle *h, const void *element, uint64_t times)
{
    static const int statuses[] = {LADE_OK, LADE_OK, LADE_FULL, LADE_LIMITED, LADE_CLOSED};
    unsigned choice = nondet_uint32() % 5;

    assert(h == &handle && times <= TIMES_FULL);
    assert((element == NULL) == !fits_block(&bag));
    if (bag.config.kind == LADE_BAG_WORDS) {
        uint64_t word = *(const uint64_t *)element;
        assert(word >= 1 && word <= LADE_BAG_WORD_MAX);
    } else if (element) {
        unsigned char last = ((const unsigned char *)element)[bag.element - 1];
        (void)last;
    }
    if (puts_before > 0)
        cover(second_block);
    puts += statuses[choice] == LADE_OK;
    return statuses[choice];
}

size_t lade_bag_visit(struct lade_bag_handle *h, bool (*visit)(void *, const void *, uint64_t), void *context)
{
    (void)h, (void)visit, (void)context;
    assert(0);
    return 0;
}

static void thread(int id)
{
    struct lade_error error = {.status = LADE_OK, .offset = 0};

    (void)id;
    int status = lade_bag_restore(&handle, read_any, &given, &error);
    const uint64_t offset = error.offset;
    assert(error.status == status && offset <= given);
    switch (status) {
    case LADE_OK:
        assert(given >= HEADER + BLOCK_HEAD + 8);
        cover(restored);
        break;
    case LADE_IO:
    case LADE_DAMAGED:
        assert(puts == puts_before);
        assert(offset == 0 ? puts == 0 : offset >= HEADER);
        if (status == LADE_IO)
            cover(cut);
        else
            cover(damaged);
        break;
    default:
        assert(status == LADE_FULL || status == LADE_LIMITED || status == LADE_CLOSED);
        assert(offset == at_head && offset >= HEADER);
        cover(refused);
    }
}

static void finish(void)
{
}
