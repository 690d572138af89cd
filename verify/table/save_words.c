/* harness
 * property: reading a table of words from arbitrary bytes stays within bounds, inserts only valid entries, and reports where it stopped
 * engines: cbmc
 * threads: 1
 * bound: any bytes and any checksums; blocks of 32 bytes, 2 of them, or one and the end
 * flags: --unwind 9 --unwindset lade_table_read.0:3,read_content.0:3,sound.0:4,insert_words.0:4,insert_words.1:4,insert_words.2:4
 * timeout: 300
 * cover: complete cut damaged refused no_memory other second_block
 */
#define THREADS 1
#define SEQUENTIAL
#define WORDS 1
#define LADE_TABLE_SAVE_BLOCK 32
enum { CALLS = 5, LONGEST = 72 };
#include "save.h"
