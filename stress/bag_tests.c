/* SPDX-License-Identifier: MIT */
#include "bag_tests.h"
#include "check.h"

#include <stdlib.h>

/*
 * One draw that leaves the number of elements unchanged; returns the drawn word. Afterwards its slot holds the same
 * element, or the spare one, for which slot[] then has the same entry: the test counts the slots that are drawn.
 */
static uint64_t draw_one(struct sampler *s, enum op op, uint64_t *spare, uint64_t *slot)
{
    uint64_t word;

    switch (op) {
    case SAMPLE:
        return sampler_sample(s);
    case DRAW:
    case EVICT:
        word = op == DRAW ? sampler_draw(s) : sampler_evict(s);
        if (word)
            sampler_put(s, word);
        return word;
    default:
        word = op == EXCHANGE ? sampler_exchange(s, *spare) : sampler_put_evicting(s, *spare);
        slot[*spare] = slot[word];
        *spare = word;
        return word;
    }
}

/*
 * Words 1 to capacity + 1; the last one is the spare. The slot of word 0, which is not a word, lies beyond all slots.
 */
static uint64_t *slots_of_words(uint64_t capacity)
{
    uint64_t *slot = check_memory((size_t)capacity + 2, sizeof *slot);

    for (uint64_t word = 1; word <= capacity; word++)
        slot[word] = word - 1;
    slot[0] = slot[capacity + 1] = capacity;
    return slot;
}

/* The elements stay where they are; which slots are drawn? */
void test_still(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    uint64_t capacity = t->scene.capacity, spare = capacity + 1, *slot = slots_of_words(capacity);
    uint64_t *drawn = check_memory((size_t)capacity + 1, sizeof *drawn);

    trial_arrange(t, &s);
    for (uint64_t i = 0; i < t->draws && s.errors == 0; i++) {
        uint64_t word = draw_one(&s, job->op, &spare, slot);
        drawn[word <= capacity + 1 ? slot[word] : capacity]++;
    }
    t->errors += s.errors + drawn[capacity];
    t->scanned = sampler_scanned(&s);
    trial_classify(t, drawn);
    sampler_close(&s);
    free(drawn);
    free(slot);
}

/* Null: uniform over the elements in the bag at that time, while their number grows. Classes: eighths of those. */
void test_growth(struct job *job)
{
    enum { STEP = 8, EACH = 32 };
    struct trial *t = &job->trial;
    struct table *table = trial_table(t, TRIAL_CLASSES, "by age");
    uint64_t capacity = t->set.capacity, done = 0;

    table->sharp = true;
    for (size_t i = 0; i < TRIAL_CLASSES; i++)
        table->weight[i] = 1;
    while (done < t->draws && t->errors == 0) {
        struct sampler s;
        t->set.seed++;
        s = sampler_open(&t->set);
        for (uint64_t n = STEP; n <= capacity; n += STEP) {
            for (uint64_t word = n - STEP + 1; word <= n; word++)
                sampler_put(&s, word);
            for (unsigned i = 0; i < EACH; i++, done++) {
                uint64_t word = draw_one(&s, job->op, NULL, NULL);
                if (word - 1 < n)
                    table->count[trial_part(word - 1, n, TRIAL_CLASSES)]++;
                else
                    t->errors++;
            }
        }
        t->errors += s.errors;
        sampler_close(&s);
    }
}

/* Null: the drawn element's rank by age is uniform, while each draw is followed by a put. */
void test_age(struct job *job)
{
    enum { ELEMENTS = 64 };
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *table = trial_table(t, TRIAL_CLASSES, "by age");
    uint64_t spare = ELEMENTS + 1, slot[ELEMENTS + 2] = {0};
    uint8_t order[ELEMENTS + 1]; /* words, the oldest first */

    table->sharp = true;
    for (size_t i = 0; i < TRIAL_CLASSES; i++)
        table->weight[i] = 1;
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        order[i] = (uint8_t)(i + 1);
        sampler_put(&s, i + 1);
    }
    for (uint64_t i = 0; i < t->draws && t->errors + s.errors == 0; i++) {
        uint64_t before = spare, word = draw_one(&s, job->op, &spare, slot);
        uint64_t in = job->op == DRAW || job->op == EVICT ? word : before;
        size_t rank = 0;
        while (rank < ELEMENTS && order[rank] != word)
            rank++;
        if (rank == ELEMENTS) {
            t->errors++;
            break;
        }
        table->count[trial_part(rank, ELEMENTS, TRIAL_CLASSES)]++;
        for (; rank + 1 < ELEMENTS; rank++)
            order[rank] = order[rank + 1];
        order[ELEMENTS - 1] = (uint8_t)in;
    }
    t->errors += s.errors;
    sampler_close(&s);
}

/* Null: every put evicts the oldest element; a sample of the rest is uniform by age. */
void test_replay(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *table = trial_table(t, TRIAL_CLASSES, "by age");
    uint64_t capacity = t->set.capacity, puts = 0;

    table->sharp = true;
    for (size_t i = 0; i < TRIAL_CLASSES; i++)
        table->weight[i] = 1;
    while (puts < capacity)
        sampler_put(&s, ++puts);
    for (uint64_t i = 0; i < t->draws && t->errors + s.errors == 0; i++) {
        if (i % 4 == 0) {
            uint64_t gone = sampler_put_evicting(&s, puts + 1);
            t->errors += gone != ++puts - capacity;
        }
        uint64_t word = sampler_sample(&s);
        if (puts - word < capacity)
            table->count[trial_part(puts - word, capacity, TRIAL_CLASSES)]++;
        else
            t->errors++;
    }
    t->errors += s.errors;
    sampler_close(&s);
}

enum { QUARTERS = 4, BLOCK = 2 * PAST };

/* Null: the quarters of two draws are independent. Pairs: a draw and the next one, a draw and the 64th after it. */
void test_pairs(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *next = trial_table(t, QUARTERS * QUARTERS, t->set.subject == REPEATS_LATE ? "" : "next draw");
    struct table *late = t->set.subject == REPEATS ? NULL : trial_table(t, QUARTERS * QUARTERS, "64th draw after it");
    uint64_t n = t->set.capacity, spare = n + 1, *slot = slots_of_words(n);

    next->sharp = true;
    if (late)
        late->sharp = true;
    for (size_t i = 0; i < QUARTERS * QUARTERS; i++) {
        next->weight[i] = 1;
        if (late)
            late->weight[i] = 1;
    }
    for (uint64_t word = 1; word <= n; word++)
        sampler_put(&s, word);
    for (uint64_t done = 0; done < t->draws && t->errors + s.errors == 0; done += BLOCK / 2) {
        size_t quarter[BLOCK];
        for (unsigned i = 0; i < BLOCK; i++) {
            uint64_t word = draw_one(&s, job->op, &spare, slot), from = word <= n + 1 ? slot[word] : n;
            t->errors += from >= n;
            quarter[i] = from < n ? trial_part(from, n, QUARTERS) : 0;
        }
        for (unsigned i = 0; i < BLOCK; i += 2)
            next->count[quarter[i] * QUARTERS + quarter[i + 1]]++;
        for (unsigned i = 0; late && i < BLOCK / 2; i++)
            late->count[quarter[i] * QUARTERS + quarter[i + PAST]]++;
    }
    t->errors += s.errors;
    sampler_close(&s);
    free(slot);
}

/* Null: what two handles sample is independent; or one handle before and after it leaves and joins again. */
void test_handles(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler a = sampler_open(&t->set), b;
    struct table *table = trial_table(t, QUARTERS * QUARTERS, t->set.handles > 1 ? "two handles" : "leave and join");
    uint64_t n = t->set.capacity;

    if (t->set.handles > 1)
        b = sampler_join(&a, 1);
    table->sharp = true;
    for (size_t i = 0; i < QUARTERS * QUARTERS; i++)
        table->weight[i] = 1;
    for (uint64_t word = 1; word <= n; word++)
        sampler_put(&a, word);
    for (uint64_t i = 0; i < t->draws && t->errors == 0; i++) {
        uint64_t first = sampler_sample(&a), second;
        if (t->set.handles > 1) {
            second = sampler_sample(&b);
        } else {
            sampler_rejoin(&a);
            second = sampler_sample(&a);
            sampler_rejoin(&a);
        }
        if (first - 1 < n && second - 1 < n)
            table->count[trial_part(first - 1, n, QUARTERS) * QUARTERS + trial_part(second - 1, n, QUARTERS)]++;
        else
            t->errors++;
    }
    t->errors += a.errors;
    if (t->set.handles > 1) {
        t->errors += b.errors;
        sampler_leave(&b);
    }
    sampler_close(&a);
}

/* Null: all 120 orders in which five elements are drawn are equally likely. */
void test_orders(struct job *job)
{
    enum { ELEMENTS = 5, ORDERS = 120 };
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *table = trial_table(t, ORDERS, "all orders of 5 elements");

    for (size_t i = 0; i < ORDERS; i++)
        table->weight[i] = 1;
    for (uint64_t i = 0; i < t->draws && t->errors + s.errors == 0; i++) {
        uint64_t number = 0, word[ELEMENTS];
        for (uint64_t j = 1; j <= ELEMENTS; j++)
            sampler_put(&s, j);
        for (unsigned j = 0; j < ELEMENTS; j++) {
            unsigned smaller = 0;
            word[j] = sampler_draw(&s);
            for (unsigned k = 0; k < j; k++) {
                smaller += word[k] < word[j];
                t->errors += word[k] == word[j];
            }
            number = number * (j + 1) + smaller;
        }
        sampler_draw_nothing(&s);
        table->count[number]++;
    }
    t->errors += s.errors;
    sampler_close(&s);
}

/*
 * A full bag is drained. Null: every order of the elements is equally likely. The test counts which quarter of the
 * elements came in which quarter of the draws. Over D times the sums of n elements' counts have covariance D m^2 / (n -
 * 1) times (I - J/4) x (I - J/4) with m = n/4, so that Pearson's statistic times (n - 1) / n is chi-square with 9
 * degrees of freedom.
 */
void test_ranks(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *table = trial_table(t, QUARTERS * QUARTERS, "quarter of the elements by quarter of the draws");
    uint64_t n = t->set.capacity;

    table->df = (QUARTERS - 1) * (QUARTERS - 1);
    table->spread = (double)n / (double)(n - 1);
    table->sharp = true;
    for (size_t i = 0; i < QUARTERS * QUARTERS; i++)
        table->weight[i] = 1;
    for (uint64_t done = 0; done < t->draws && t->errors + s.errors == 0; done += n) {
        for (uint64_t word = 1; word <= n; word++)
            sampler_put(&s, word);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t word = sampler_draw(&s);
            t->errors += word - 1 >= n;
            table->count[trial_part((word - 1) % n, n, QUARTERS) * QUARTERS + trial_part(i, n, QUARTERS)]++;
        }
        sampler_draw_nothing(&s);
    }
    t->errors += s.errors;
    sampler_close(&s);
}

/* Labels of a data set that is sorted by them. Sizes of the classes, together CONTENT. */
enum { BATCH = MOST_BATCH, LABELS = 8 };
static const unsigned label_size[LABELS] = {50, 60, 70, 80, 90, 100, 110, 80};

static unsigned label_of(uint64_t slot)
{
    unsigned label = 0;

    while (label + 1 < LABELS && slot >= label_size[label])
        slot -= label_size[label++];
    return label;
}

/*
 * Null: the number of elements with the last label in a batch is binomial, or hypergeometric when a batch is drawn
 * without replacement. Outer cells whose expected count is too small are merged.
 */
static void batch_weights(struct table *table, bool replaced, uint64_t batches)
{
    double m = label_size[LABELS - 1], rest = CONTENT - m, p = 1e-100, whole = 0;

    for (unsigned j = 0; j <= BATCH; j++) {
        table->weight[j] = p;
        whole += p;
        p *= (BATCH - j) / (j + 1.0);
        p *= replaced ? m / rest : (m - j) / (rest - BATCH + j + 1);
    }
    for (unsigned j = 0; j < BATCH; j++) {
        if (table->weight[j] / whole * (double)batches < 10 * CHI_LEAST && table->weight[j] < table->weight[j + 1]) {
            table->weight[j + 1] += table->weight[j];
            table->count[j + 1] += table->count[j];
            table->weight[j] = 0;
        }
    }
    for (unsigned j = BATCH; j > 0; j--) {
        if (table->weight[j] / whole * (double)batches < 10 * CHI_LEAST) {
            table->weight[j - 1] += table->weight[j];
            table->count[j - 1] += table->count[j];
            table->weight[j] = 0;
        }
    }
    size_t cells = 0;
    for (unsigned j = 0; j <= BATCH; j++) {
        if (table->weight[j] == 0)
            continue;
        table->weight[cells] = table->weight[j];
        table->count[cells++] = table->count[j];
    }
    table->cells = cells;
}

/* Labels in batches, together and batch by batch. */
void test_batches(struct job *job)
{
    struct trial *t = &job->trial;
    struct sampler s = sampler_open(&t->set);
    struct table *all = trial_table(t, LABELS, "labels of all batches");
    struct table *each = t->set.subject == RECENT ? NULL : trial_table(t, BATCH + 1, "one label in a batch");
    uint64_t spare[BATCH], drawn[BATCH], label[CONTENT + BATCH + 1], number = 0;

    all->sharp = true;
    all->spread = job->op == DRAW ? (double)(CONTENT - BATCH) / (CONTENT - 1) : 1;
    for (size_t i = 0; i < LABELS; i++)
        all->weight[i] = label_size[i];
    for (uint64_t word = 1; word <= CONTENT; word++) {
        sampler_put(&s, word);
        label[word] = label_of(word - 1);
    }
    for (uint64_t i = 0; i < BATCH; i++)
        spare[i] = CONTENT + 1 + i;
    for (; number * BATCH < t->draws && t->errors + s.errors == 0; number++) {
        unsigned last = 0;
        if (job->op == SAMPLE)
            sampler_sample_many(&s, drawn, BATCH);
        else if (job->op == DRAW)
            sampler_draw_many(&s, drawn, BATCH);
        else
            sampler_exchange_many(&s, spare, drawn, BATCH);
        for (unsigned i = 0; i < BATCH; i++) {
            if (drawn[i] - 1 >= CONTENT + BATCH) {
                t->errors++;
                break;
            }
            if (job->op == EXCHANGE) /* its replacement gets its label */
                label[spare[i]] = label[drawn[i]];
            all->count[label[drawn[i]]]++;
            last += label[drawn[i]] == LABELS - 1;
            spare[i] = drawn[i];
        }
        if (each)
            each->count[last]++;
        if (job->op == DRAW)
            sampler_put_many(&s, drawn, BATCH);
    }
    if (each)
        batch_weights(each, job->op != DRAW, number);
    t->errors += s.errors;
    sampler_close(&s);
}
