/* SPDX-License-Identifier: MIT */
/*
 * Recorded histories of the table are linearizable, key by key: random ones while the table grows, shrinks and is
 * cleaned all the time, and scripted ones in which a thread is stopped at each step of an operation. Under the same
 * scripts two faults must be detected.
 */
#include "tables.h"

#include "history.h"
#include "table_keys.h"

enum { THREADS = 4, KEYS = 3, ALL_OPS = (THREADS + 1) * HISTORY_LOG_MAX, OTHER = KEYS, FILLERS = 100 };

struct player {
    struct history_log log[KEYS];
    struct step_plan plan;
    unsigned number;
    uint64_t random;
    uint64_t next_value, next_filler;
    pthread_t thread;
};

static struct {
    unsigned threads, items;
    bool over;
    pthread_barrier_t gate;
    _Atomic uint64_t clock, lost_fillers;
} game;

static struct player player[THREADS + 1];

/* Keys that are never looked up: they fill cells, and removed ones trigger cleaning of the table. */
static void fill(struct player *p, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t n = (p->next_filler++ << 3 | p->number) + FILLERS;
        bool in = model_do(M_INSERT, n, n, NULL) == LADE_OK, out = model_do(M_REMOVE, n, 0, NULL) == LADE_OK;
        if (table_fault == SOUND && !(in && out))
            atomic_fetch_add(&game.lost_fillers, 1);
    }
}

static const int kind_of[] = {HISTORY_GET, HISTORY_INSERT, HISTORY_REPLACE, HISTORY_REMOVE};

static void act(struct player *p, unsigned k, enum model_act what)
{
    uint64_t in = what == M_GET || what == M_REMOVE ? 0 : p->next_value++, out = 0;

    history_invoke(&p->log[k]);
    int status = model_do(what, k, in, &out);
    history_add(&p->log[k], history_return(&p->log[k]), kind_of[what], status, HISTORY_PAIR(in, out));
}

/* All keys in one call. The parts have the stamps of the whole. */
static void act_many(struct player *p, bool inserts)
{
    uint64_t key[KEYS], in[KEYS], out[KEYS] = {0}, invoked = history_now(&game.clock), returned;
    int status[KEYS];

    for (unsigned k = 0; k < KEYS; k++) {
        key[k] = key_of(k);
        in[k] = inserts ? p->next_value++ : 0;
        p->log[k].invoked = invoked;
    }
    if (inserts)
        (void)lade_table_insert_many(scene.table, key, KEYS, in, out, status);
    else
        (void)lade_table_get_many(scene.table, key, KEYS, out, status);
    returned = history_now(&game.clock);
    for (unsigned k = 0; k < KEYS; k++)
        history_add(&p->log[k], returned, inserts ? HISTORY_INSERT : HISTORY_GET, status[k],
                    HISTORY_PAIR(in[k], out[k]));
}

static void play(struct player *p)
{
    for (unsigned i = 0; i < game.items; i++) {
        unsigned r = check_below(&p->random, 16);
        step_pause(&p->random);
        if (r < 3)
            fill(p, 1 + check_below(&p->random, 4));
        else if (r == 3 && check_below(&p->random, 4) == 0)
            (void)lade_table_trim(scene.table);
        else if (r == 4 && scene.config.kind == LADE_TABLE_WORDS)
            act_many(p, check_below(&p->random, 2) == 0);
        else
            act(p, check_below(&p->random, KEYS), (enum model_act)check_below(&p->random, 4));
    }
}

static void *player_body(void *arg)
{
    struct player *p = arg;

    urcu_memb_register_thread();
    step_plan = &p->plan;
    for (;;) {
        (void)pthread_barrier_wait(&game.gate);
        if (game.over)
            break;
        if (p->number < game.threads)
            play(p);
        (void)pthread_barrier_wait(&game.gate);
    }
    urcu_memb_unregister_thread();
    return NULL;
}

struct tally {
    unsigned games, histories, bad, overlapping, moving, altered, altered_accepted;
    size_t operations, visited;
};

/* Replaces a result by a value that was never written: never linearizable. */
static void alter(uint64_t first, struct history_op *op, size_t count, struct tally *t)
{
    for (size_t i = 0; i < count; i++)
        if (op[i].status == LADE_OK && op[i].kind != HISTORY_INSERT) {
            op[i].word |= UINT32_MAX;
            t->altered++;
            t->altered_accepted += history_check(&history_key, first, op, count, NULL, NULL) != HISTORY_NOT;
            return;
        }
}

static size_t gather(struct history_op *op, unsigned k)
{
    size_t count = 0;

    for (unsigned j = 0; j <= THREADS; j++)
        for (size_t i = 0; i < player[j].log[k].count; i++)
            op[count++] = player[j].log[k].op[i];
    return count;
}

/* The value with which a game begins is the one with which the last one ended. */
static void judge(uint64_t *first, struct tally *t)
{
    static struct history_op op[ALL_OPS];

    for (unsigned k = 0; k < KEYS; k++) {
        size_t order[ALL_OPS], visited = 0, count = gather(op, k);
        enum history_verdict verdict = history_check(&history_key, first[k], op, count, order, &visited);

        if (verdict != HISTORY_LINEARIZABLE || !history_replay(&history_key, first[k], op, count, order)) {
            if (t->bad++ == 0) {
                printf("history %u, %llu at the beginning, is not explained (verdict %d):\n", t->histories,
                       ULL(first[k]), (int)verdict);
                history_print(stdout, &history_key, op, count);
            }
        }
        t->histories++;
        t->operations += count;
        t->visited += visited;
        t->overlapping += history_overlaps(op, count);
        uint64_t last = op[count - 1].word & UINT32_MAX;
        if (t->histories % 8 == 0)
            alter(first[k], op, count, t);
        first[k] = last;
    }
}

static void make_table(enum lade_table_kind kind, bool special)
{
    scene.config = (struct lade_table_config){.kind = kind, .seeded = true, .seed = check_seed()};
    scene.config.hash = special ? &model_hash : NULL;
    if (lade_table_create(&scene.table, &scene.config) != LADE_OK)
        exit(2);
}

static void random_histories(enum lade_table_kind kind, unsigned games, uint64_t *random, struct tally *t)
{
    enum { OF_ONE_TABLE = 256 };
    uint64_t first[KEYS] = {0};
    struct player *last = &player[THREADS];

    for (unsigned i = 0; i < games; i++) {
        if (i % OF_ONE_TABLE == 0) {
            make_table(kind, i / OF_ONE_TABLE % 2);
            memset(first, 0, sizeof first);
        }
        uint64_t growths = atomic_load(&scene.table->growths);
        game.threads = 2 + check_below(random, THREADS - 1);
        game.items = 3 + check_below(random, 8);
        atomic_store(&game.clock, 0);
        for (unsigned j = 0; j <= THREADS; j++)
            for (unsigned k = 0; k < KEYS; k++)
                player[j].log[k].count = 0;
        (void)pthread_barrier_wait(&game.gate);
        (void)pthread_barrier_wait(&game.gate);
        for (unsigned k = 0; k < KEYS; k++)
            act(last, k, M_GET);
        t->games++;
        t->moving += atomic_load(&scene.table->growths) != growths;
        judge(first, t);
        if (i % OF_ONE_TABLE == OF_ONE_TABLE - 1 || i + 1 == games)
            lade_table_destroy(scene.table);
    }
}

static void report(const char *name, const struct tally *t)
{
    check(t->bad == 0 && t->histories > 0, name,
          "%u histories of a key, %zu operations, %u not linearizable; %zu states searched", t->histories,
          t->operations, t->bad, t->visited);
    check(t->overlapping > 0 && t->moving > t->games / 8, name,
          "cover: operations overlap in %u, the table is moved in %u of %u games", t->overlapping, t->moving, t->games);
    check(atomic_load(&game.lost_fillers) == 0, name, "%llu keys of one thread were not found by it",
          ULL(atomic_load(&game.lost_fillers)));
    check(t->altered > 0 && t->altered_accepted == 0, name, "negative: one result altered in %u, %u accepted",
          t->altered, t->altered_accepted);
}

static void players_begin(uint64_t *random)
{
    for (unsigned i = 0; i <= THREADS; i++) {
        player[i] = (struct player){.number = i, .random = check_next(random), .next_value = (uint64_t)(i + 1) << 28};
        for (unsigned k = 0; k < KEYS; k++)
            player[i].log[k] = (struct history_log){.thread = i, .clock = &game.clock};
    }
}

static void all_random(void)
{
    uint64_t random = check_seed();
    struct tally words = {0}, strings = {0};
    unsigned games = (check_full() ? 200000 : 12000) / SLOW;

    players_begin(&random);
    (void)pthread_barrier_init(&game.gate, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++) {
        player[i].plan.pauses = check_next(&random) | 1;
        if (pthread_create(&player[i].thread, NULL, player_body, &player[i]) != 0)
            exit(2);
    }
    random_histories(LADE_TABLE_WORDS, games, &random, &words);
    random_histories(LADE_TABLE_BYTES, games / 2, &random, &strings);
    game.over = true;
    (void)pthread_barrier_wait(&game.gate);
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(player[i].thread, NULL);
    (void)pthread_barrier_destroy(&game.gate);
    report("words", &words);
    report("byte strings", &strings);
}

/*
 * A scripted history on one key. The victim stops at a step; another thread runs a script of letters, and the victim is
 * released: g i r d the four operations, f fillers (which make the table grow or help), c the growth is completed, o
 * and p insert and remove another key, whose hash in a table of byte strings is the same.
 */
struct script {
    const char *before, *victim, *others;
};

static const struct script script[] = {
    {"i", "g", "rgcgdgig"},  {"i", "g", "fffcrgdg"},   {"", "i", "igcgdgig"},    {"", "i", "fffcigdgig"},
    {"i", "r", "rgcgdgig"},  {"i", "r", "fffcgrgdg"},  {"i", "r", "dcgig"},      {"i", "d", "rgcgdgig"},
    {"i", "d", "fffcgrg"},   {"i", "d", "dcig"},       {"i", "ff", "rgcgdgig"},  {"i", "ff", "dcgig"},
    {"i", "ff", "fffcrgdg"}, {"i", "ffff", "rffffgd"}, {"id", "ffff", "ifcgrg"}, {"id", "i", "fcgig"},
    {"", "i", "offcgdg"},    {"", "i", "offffcpgig"},  {"o", "i", "pfffcgig"},   {"i", "r", "offcgdg"},
    {"i", "c", "rgdgig"},    {"i", "c", "dffgig"},     {"i", "t", "rgcgdgig"},   {"i", "t", "dfffg"},
};
enum { SCRIPTS = sizeof script / sizeof *script };

static void perform(struct player *p, const char *letters)
{
    for (; *letters; letters++) {
        switch (*letters) {
        case 'g':
            act(p, 2, M_GET);
            break;
        case 'i':
            act(p, 2, M_INSERT);
            break;
        case 'r':
            act(p, 2, M_REPLACE);
            break;
        case 'd':
            act(p, 2, M_REMOVE);
            break;
        case 'f':
            fill(p, 1);
            break;
        case 'o':
            (void)model_do(M_INSERT, OTHER, 1, NULL);
            break;
        case 'p':
            (void)model_do(M_REMOVE, OTHER, 0, NULL);
            break;
        case 't':
            (void)lade_table_trim(scene.table);
            break;
        default: /* the same size: only completes a move in progress */
            (void)lade_table_reserve(scene.table, 1);
        }
    }
}

static const char *victim_letters;

static void *victim_body(void *arg)
{
    struct player *p = arg;

    urcu_memb_register_thread();
    step_plan = &p->plan;
    perform(p, victim_letters);
    step_plan = NULL;
    urcu_memb_unregister_thread();
    if (!p->plan.stopped)
        (void)sem_post(&p->plan.reached);
    return NULL;
}

static void bury(struct lade_table *table, bool all)
{
    enum { MOST_BURIED = 256 };
    static struct lade_table *buried[MOST_BURIED];
    static unsigned count;

    if (table)
        buried[count++] = table;
    if (count < MOST_BURIED && !all)
        return;
    for (unsigned i = 0; i < count; i++)
        (void)lade_table_complete(buried[i]);
    lade_reclaim_barrier();
    lade_reclaim_barrier(); /* arrays with byte strings wait twice */
    while (count > 0)
        lade_table_destroy(buried[--count]);
}

/* Filled with fillers up to just before it grows, or so that a growth has begun. */
static enum history_verdict run_script(enum lade_table_kind kind, const struct script *s, unsigned fillers,
                                       unsigned stop_at, bool *stopped)
{
    static struct history_op op[ALL_OPS];
    uint64_t random = check_seed();
    struct player *victim = &player[0], *other = &player[1];
    pthread_t thread;

    players_begin(&random);
    atomic_store(&game.clock, 0);
    make_table(kind, kind == LADE_TABLE_BYTES);
    perform(other, s->before);
    fill(other, fillers);
    victim_letters = s->victim;
    victim->plan = (struct step_plan){.stop_at = stop_at};
    (void)sem_init(&victim->plan.reached, 0, 0);
    (void)sem_init(&victim->plan.resume, 0, 0);
    if (pthread_create(&thread, NULL, victim_body, victim) != 0)
        exit(2);
    step_wait(&victim->plan.reached);
    *stopped = victim->plan.stopped;
    perform(other, s->others);
    (void)sem_post(&victim->plan.resume);
    (void)pthread_join(thread, NULL);
    perform(other, "gcgcg");
    (void)sem_destroy(&victim->plan.reached);
    (void)sem_destroy(&victim->plan.resume);
    bury(scene.table, false);
    return history_check(&history_key, 0, op, gather(op, 2), NULL, NULL);
}

static void scripted(enum lade_table_kind kind, enum table_fault how, const char *name)
{
    unsigned steps = 0, rejected = 0, other = 0, most = SLOW > 1 ? 40 : 10000;

    table_fault = how;
    for (unsigned s = 0; s < SCRIPTS; s++)
        for (unsigned fillers = 2; fillers <= 5; fillers++) {
            bool stopped = true;
            for (unsigned at = 1; stopped && at <= most; at++) {
                enum history_verdict verdict = run_script(kind, &script[s], fillers, at, &stopped);
                if (verdict == HISTORY_NOT && rejected++ == 0 && how == SOUND)
                    printf("%s, then %u fillers, %s stopped at step %u, others %s: not linearizable\n",
                           script[s].before, fillers, script[s].victim, at, script[s].others);
                other += verdict != HISTORY_NOT && verdict != HISTORY_LINEARIZABLE;
                steps += stopped;
            }
        }
    bury(NULL, true);
    table_fault = SOUND;
    if (how == SOUND)
        check(rejected == 0 && other == 0 && steps > 0, name, "%d scripts, stopped at %u steps, %u not linearizable",
              (int)SCRIPTS, steps, rejected);
    else
        check(rejected > 0 && other == 0, name, "negative: %d scripts, stopped at %u steps, %u rejected", (int)SCRIPTS,
              steps, rejected);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_within(check_full() ? 1800 : 300, "table_linear");
    urcu_memb_register_thread();
    scene.threads = 1; /* numbers of keys need no owners here */
    scripted(LADE_TABLE_WORDS, SOUND, "words");
    scripted(LADE_TABLE_BYTES, SOUND, "byte strings");
    scripted(LADE_TABLE_WORDS, WRITE_OVER, "a table whose copies write over");
    scripted(LADE_TABLE_WORDS, NOT_FROZEN, "a table that moves without freezing");
    all_random();
    urcu_memb_unregister_thread();
    check_within(0, NULL);
    return check_end();
}
