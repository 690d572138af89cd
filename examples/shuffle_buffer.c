/* SPDX-License-Identifier: MIT */
/* Shuffle buffer: a stream of samples in a fixed order comes out in another one, each exactly once, with little memory. */
#include <lade/bag.h>

#include <stdio.h>

#define SAMPLES 1000
#define BUFFER 100

static int seen[SAMPLES + 1];
static unsigned out_of_place, out;

static void use(uint64_t sample)
{
    seen[sample]++;
    out++;
    out_of_place += sample != out;
}

int main(void)
{
    struct lade_bag_config config = {.capacity = BUFFER, .handles = 1, .seed = 2026};
    struct lade_bag *bag;
    struct lade_bag_handle *h;
    uint64_t sample;
    unsigned once = 0;

    if (lade_bag_create(&bag, &config) != LADE_OK || lade_bag_join(bag, &h) != LADE_OK)
        return 1;
    for (uint64_t next = 1; next <= SAMPLES; next++) {
        if (lade_bag_put_word(h, next) == LADE_OK)
            continue; /* the buffer fills */
        if (lade_bag_exchange_word(h, next, &sample) != LADE_OK)
            return 1;
        use(sample);
    }
    while (lade_bag_draw_word(h, &sample) == LADE_OK) /* the stream has ended */
        use(sample);
    lade_bag_leave(h);
    lade_bag_destroy(bag);

    for (unsigned i = 1; i <= SAMPLES; i++)
        once += seen[i] == 1;
    printf("%u of %d samples came exactly once\n", once, SAMPLES);
    printf("%s\n", out_of_place > SAMPLES / 2 ? "in another order" : "in the same order");
    return once != SAMPLES;
}
