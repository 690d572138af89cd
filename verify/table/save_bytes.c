/* harness
 * property: reading a table of byte strings from arbitrary bytes stays within bounds, inserts only valid entries, and reports where it stopped
 * engines: cbmc
 * threads: 1
 * bound: any bytes and any checksums; blocks of 26 bytes, 2 of them, or one and the end, or a key of up to 58 bytes
 * flags: --unwind 9 --unwindset lade_table_read.0:3,read_content.0:4,sound.0:4,insert_bytes.0:4
 * tier: full
 * timeout: 300
 * cover: complete cut damaged refused no_memory other second_block large
 */
#define THREADS 1
#define SEQUENTIAL
#define WORDS 0
#define LADE_TABLE_SAVE_BLOCK 26
enum { CALLS = 5, LONGEST = 70 };
#include "save.h"
