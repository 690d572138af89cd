/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses. The wrapper leaves a table of call sites in the program (return address, file, function, line, column);
 * variables and functions come from the program's own symbol table.
 */
#include "native.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    uint64_t pc;
    const char *file, *function;
    uint32_t line, column;
};

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static const struct entry *sites;
static size_t site_count;
static const Elf64_Sym *symbols;
static size_t symbol_count;
static const char *names;

/* Maps the program's symbol table; without one there are no names. */
static void read_symbols(void)
{
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY);
    if (fd < 0 || fstat(fd, &st))
        return;
    const char *image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (image == MAP_FAILED)
        return;
    const Elf64_Ehdr *h = (const void *)image;
    const Elf64_Shdr *s = (const void *)(image + h->e_shoff);
    for (int i = 0; i < h->e_shnum; i++)
        if (s[i].sh_type == SHT_SYMTAB) {
            symbols = (const void *)(image + s[i].sh_offset);
            symbol_count = s[i].sh_size / sizeof *symbols;
            names = image + s[s[i].sh_link].sh_offset;
        }
}

/* Whether the call that returns here is in a standard C++ header, by distance from the lowest such address. */
enum { FOREIGN, OWN, HEADER };
enum { IN_HEADER = 1u << 31 }; /* in an entry's line */
static uint8_t *where;
static uint64_t where_low, where_high;
bool symbol_wrapped;

void symbol_init(const void *from, const void *to)
{
    sites = from;
    site_count = from ? (size_t)((const char *)to - (const char *)from) / sizeof *sites : 0;
    where_low = UINT64_MAX;
    for (size_t i = 0; i < site_count; i++) {
        symbol_wrapped |= (sites[i].line & IN_HEADER) != 0;
        where_low = sites[i].pc < where_low ? sites[i].pc : where_low;
        where_high = sites[i].pc > where_high ? sites[i].pc : where_high;
    }
    if (!site_count)
        return;
    where = calloc(where_high - where_low + 1, 1);
    if (!where)
        engine_bug("out of memory");
    for (size_t i = 0; i < site_count; i++)
        where[sites[i].pc - where_low] = sites[i].line & IN_HEADER ? HEADER : OWN;
}

static int origin(uint64_t pc)
{
    return pc >= where_low && pc <= where_high ? where[pc - where_low] : FOREIGN;
}

/* Functions of the program keep their frame pointers. A call that the engine makes, or the start of a thread, ends the walk. */
uint64_t symbol_caller_far(uint64_t pc, uintptr_t frame)
{
    uint64_t at = pc;

    for (int depth = 0; depth < 64 && origin(at) == HEADER && shadow_on_stack(frame) && frame % 8 == 0; depth++) {
        at = ((const uintptr_t *)frame)[1]; /* NOLINT */
        frame = ((const uintptr_t *)frame)[0]; /* NOLINT */
    }
    return origin(at) == OWN ? at : pc;
}

/* Skips calls in standard headers, as above. */
void symbol_callers(uint64_t pc, uintptr_t frame, uint64_t out[CALLERS])
{
    bool own = origin(pc) == OWN;

    for (int i = 0; i < CALLERS && shadow_on_stack(frame) && frame % 8 == 0;) {
        pc = ((const uintptr_t *)frame)[1]; /* NOLINT */
        frame = ((const uintptr_t *)frame)[0]; /* NOLINT */
        if (origin(pc) == FOREIGN)
            return;
        if (origin(pc) == OWN && own)
            out[i++] = pc;
        own |= origin(pc) == OWN;
    }
}

static void need_symbols(void)
{
    static bool tried;
    if (!tried)
        read_symbols();
    tried = true;
}

size_t symbol_sites(void)
{
    return site_count;
}

struct site symbol_nth(size_t i)
{
    return (struct site){sites[i].pc, sites[i].file, sites[i].function, (int)(sites[i].line & ~IN_HEADER), (int)sites[i].column};
}

struct site symbol_site(uint64_t pc)
{
    /* A crash is inside the function, not at a call: uses the nearest call before it. */
    const struct entry *best = NULL;

    for (size_t i = 0; i < site_count; i++) {
        if (sites[i].pc == pc)
            return symbol_nth(i);
        if (sites[i].pc < pc && (!best || sites[i].pc > best->pc))
            best = &sites[i];
    }
    if (best && pc - best->pc < 256)
        return (struct site){pc, best->file, best->function, (int)(best->line & ~IN_HEADER), (int)best->column};
    return (struct site){pc, NULL, NULL, 0, 0};
}

uintptr_t symbol_function(const char *name)
{
    need_symbols();
    for (size_t i = 0; i < symbol_count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && !strcmp(names + symbols[i].st_name, name))
            return symbols[i].st_value;
    return 0;
}

static const Elf64_Sym *variable_at(uintptr_t addr)
{
    for (size_t i = 0; i < symbol_count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && addr >= symbols[i].st_value &&
            addr < symbols[i].st_value + (symbols[i].st_size ? symbols[i].st_size : 1))
            return &symbols[i];
    return NULL;
}

/* libstdc++ has it, and only C++ programs are linked with that. */
char *__cxa_demangle(const char *name, char *out, size_t *room, int *status) __attribute__((weak));

static const char *demangled(const char *name)
{
    static char text[200];
    int status = 0;
    char *long_name = __cxa_demangle ? __cxa_demangle(name, NULL, NULL, &status) : NULL;

    if (!long_name)
        return name;
    snprintf(text, sizeof text, "%s", long_name);
    free(long_name);
    return text;
}

/* ---- names from debug information: names.py, which the wrapper sets ---- */

static struct scalar {
    char *name;       /* a heap block: of the pointer that has this type */
    char *member, *file; /* a heap block: "-" is no member */
    uint64_t at;      /* address; a heap block: offset */
    uint64_t size, stride;
    int line;
} *scalar;
static size_t scalars;

static void take_scalar(const char *line)
{
    struct scalar s = {0};

    if (sscanf(line, "V %lu %lu %m[^\n]", &s.at, &s.size, &s.name) != 3 &&
        sscanf(line, "H %d %ms %lu %lu %lu %ms %ms", &s.line, &s.file, &s.stride, &s.at, &s.size, &s.name, &s.member) != 7)
        return;
    if (!(scalars & (scalars + 1)) && !(scalar = realloc(scalar, (2 * scalars + 2) * sizeof *scalar)))
        engine_bug("out of memory");
    scalar[scalars++] = s;
}

static void need_names(void)
{
    static bool tried;
    char command[80], line[600];

    if (tried || self || !getenv("LADE_EXPLORE_NAMES"))
        return;
    tried = true;
    snprintf(command, sizeof command, "\"$LADE_EXPLORE_NAMES\" /proc/%d/exe 2>/dev/null", (int)getpid());
    FILE *f = popen(command, "r"); /* NOLINT: the wrapper's own script */
    while (f && fgets(line, sizeof line, f))
        take_scalar(line);
    if (f)
        pclose(f);
}

static bool static_scalar(uintptr_t addr, char *out, size_t room)
{
    for (size_t i = 0; i < scalars; i++) {
        const struct scalar *s = &scalar[i];
        if (s->file || addr < s->at || addr - s->at >= s->size)
            continue;
        const char *inside = strstr(s->name, "._M_"); /* of a class of libstdc++ */
        size_t n = (size_t)snprintf(out, room, "%.*s", inside ? (int)(inside - s->name) : (int)strlen(s->name), s->name);
        if (addr > s->at && n < room)
            snprintf(out + n, room - n, "+%lu", (unsigned long)(addr - s->at));
        return true;
    }
    return false;
}

/* Where a line has allocated several blocks. */
static void block_number(uintptr_t addr, char *out, size_t room)
{
    int number = shadow_block_number(addr);

    out[0] = 0;
    if (number)
        snprintf(out, room, "(%d)", number);
}

/* POINTER->MEMBER, or POINTER[INDEX]; the number of the block where the line has allocated several. */
static bool heap_scalar(uintptr_t addr, uintptr_t start, struct site site, char *out, size_t room)
{
    const char *base = site.file ? strrchr(site.file, '/') : NULL;
    uint64_t offset = addr - start;
    char which[16];

    base = base ? base + 1 : site.file;
    for (size_t i = 0; i < scalars && base; i++) {
        const struct scalar *s = &scalar[i];
        if (!s->file || s->line != site.line || strcmp(s->file, base) || offset % s->stride < s->at || offset % s->stride - s->at >= s->size)
            continue;
        block_number(addr, which, sizeof which);
        unsigned long index = offset / s->stride, rest = offset % s->stride - s->at;
        size_t n = strcmp(s->member, "-") && !index ? (size_t)snprintf(out, room, "%s%s->%s", s->name, which, s->member)
                   : strcmp(s->member, "-") ? (size_t)snprintf(out, room, "%s%s[%lu].%s", s->name, which, index, s->member)
                                            : (size_t)snprintf(out, room, "%s%s[%lu]", s->name, which, index);
        if (rest && n < room)
            snprintf(out + n, room - n, "+%lu", rest);
        return true;
    }
    return false;
}

/* ---- names from the program's text: what an atomic call accesses, where nothing else is known of the memory ---- */

/* The argument that ends before a comma or parenthesis, without spaces at its ends; false when it is not complete in this line. */
static bool argument(const char *from, char *out, size_t room)
{
    int depth = 0;
    size_t n = 0;

    from += strspn(from, " \t&");
    for (; from[n] && (depth || (from[n] != ',' && from[n] != ')')); n++)
        depth += (from[n] == '(' || from[n] == '[') - (from[n] == ')' || from[n] == ']');
    if (!from[n] || !n || n >= room)
        return false;
    snprintf(out, room, "%.*s", (int)n, from);
    return true;
}

/* The expression that ends here, as in r->slot[i]; no operators outside of brackets. */
static void ends_here(const char *line, const char *end, char *out, size_t room)
{
    const char *from = end;
    int depth = 0;

    while (from > line && (depth || strchr(WORD ".]", from[-1]) || (from[-1] == '>' && from[-2] == '-') || (from[-1] == '-' && from[0] == '>'))) {
        from--;
        depth += (*from == ']') - (*from == '[');
    }
    if (from < end && (size_t)(end - from) < room)
        snprintf(out, room, "%.*s", (int)(end - from), from);
}

/* What is accessed by a call f(&EXPRESSION, ...) or EXPRESSION.f(...), or by EXPRESSION = ...; empty where that is a pointer only. */
static void accessed(struct site site, char *out, size_t room)
{
    char line[1024] = "";
    FILE *f = site.file && site.column ? fopen(site.file, "r") : NULL;

    out[0] = 0;
    for (int i = 0; f && i < site.line && fgets(line, sizeof line, f); i++)
        line[strcspn(line, "\n")] = 0;
    if (f)
        fclose(f);
    if ((size_t)site.column > strlen(line))
        return;
    const char *start = line + site.column - 1, *word = start + strspn(start, WORD), *open = strchr(start, '(');
    if (*word == '(' && word > start && word[1 + strspn(word + 1, " ")] == '&') {
        argument(word + 1, out, room);
    } else if (*start == '=') {
        while (start > line && start[-1] == ' ')
            start--;
        ends_here(line, start, out, room);
    } else if (*start == '-' || (*start == '.' && open != start + 1 + strspn(start + 1, WORD))) {
        start += *start == '-' ? 2 : 1;
        ends_here(line, start + strspn(start, WORD), out, room);
    } else if (open) { /* a method: the column is at its name, or at the whole expression */
        const char *dot = open;
        while (dot > line && strchr(WORD, dot[-1]))
            dot--;
        if (dot > line && dot[-1] == '.')
            ends_here(line, dot - 1, out, room);
    }
}

/* What the text of the program calls this address, at the first access to it that names more than a pointer. */
static const char *accessed_name(uintptr_t addr)
{
    static struct {
        uint64_t pc;
        char text[100];
    } known[256];
    uint64_t plain[2] = {failure.pc, failure.other_pc};

    for (int i = 0; i < G->count + 2; i++) {
        const struct event *e = i < G->count ? ev(i) : NULL;
        if (e ? e->loc < 0 || G->place[e->loc].addr != addr : failure.addr != addr)
            continue;
        uint64_t pc = e ? e->pc : plain[i - G->count];
        size_t k = pc % (sizeof known / sizeof *known);
        if (known[k].pc != pc) {
            known[k].pc = pc;
            accessed(symbol_site(pc), known[k].text, sizeof known->text);
        }
        if (pc && known[k].text[0])
            return known[k].text;
    }
    return NULL;
}

/* With the number of its block where the text calls an address in another block the same. */
static bool accessed_scalar(uintptr_t addr, char *out, size_t room)
{
    char which[16] = "", name[100];
    const char *text = self ? NULL : accessed_name(addr);

    if (!text)
        return false;
    snprintf(name, sizeof name, "%s", text);
    for (int i = 0; i < G->places && !which[0]; i++) {
        const char *other = G->place[i].addr == addr ? NULL : accessed_name(G->place[i].addr);
        if (other && !strcmp(other, name))
            block_number(addr, which, sizeof which);
    }
    int first = (int)strspn(name, WORD);
    snprintf(out, room, "%.*s%s%s", first, name, which, name + first);
    return true;
}

/* A variable, a heap block or a stack, with an offset where it is not the start. */
const char *symbol_name(uintptr_t addr)
{
    static char text[4][200];
    static int turn;
    char *out = text[turn = (turn + 1) % 4];
    uintptr_t start;
    size_t size;
    uint64_t pc;

    need_symbols();
    need_names();
    const Elf64_Sym *v = variable_at(addr);
    if (shadow_queued(addr)) {
        snprintf(out, sizeof *text, "queue of %.180s", symbol_name(shadow_queued(addr)));
        return out;
    }
    if (static_scalar(addr, out, sizeof *text))
        return out;
    if (v && addr == v->st_value)
        snprintf(out, sizeof *text, "%s", demangled(names + v->st_name));
    else if (v)
        snprintf(out, sizeof *text, "%.170s+%lu", demangled(names + v->st_name), (unsigned long)(addr - v->st_value));
    else if (shadow_block_of(addr, &start, &size, &pc)) {
        struct site s = symbol_site(pc);
        if (!heap_scalar(addr, start, s, out, sizeof *text) && !accessed_scalar(addr, out, sizeof *text))
            snprintf(out, sizeof *text, "block(line %d)+%ld", s.line, (long)(addr - start));
    } else if (!accessed_scalar(addr, out, sizeof *text)) {
        for (int t = 0; t < MAX_THREADS; t++)
            if (addr >= (uintptr_t)thread[t].stack_low && addr < (uintptr_t)thread[t].stack_high) {
                snprintf(out, sizeof *text, "stack%d+%lu", t, (unsigned long)((uintptr_t)thread[t].stack_high - addr));
                return out;
            }
        snprintf(out, sizeof *text, addr ? "0x%lx" : "NULL", (unsigned long)addr);
    }
    return out;
}

/* ---- pointers ---- */

/* How much of a scalar's name is the outermost structure that begins where the scalar does; all of it where none does. */
static size_t structure(const struct scalar *s)
{
    const char *name = s->file ? s->member : s->name;

    for (size_t n = 0; name[n]; n++) {
        bool begins = name[n] == '.';
        for (size_t i = 0; i < scalars && begins; i++) {
            const struct scalar *o = &scalar[i];
            const char *its = o->file ? o->member : o->name;
            bool kin = s->file ? o->file && o->line == s->line && !strcmp(o->file, s->file) : !o->file;
            begins = !kin || strncmp(its, name, n + 1) || o->at >= s->at;
        }
        if (begins)
            return n;
    }
    return strlen(name);
}

/* A structure in the heap: n, &n[1], &n->member. */
static bool heap_structure(uintptr_t addr, uintptr_t start, size_t size, struct site site, char *out, size_t room)
{
    const char *base = site.file ? strrchr(site.file, '/') : NULL;
    char which[16];

    block_number(addr, which, sizeof which);
    base = base ? base + 1 : site.file;
    for (size_t i = 0; i < scalars && base; i++) {
        const struct scalar *s = &scalar[i];
        if (!s->file || s->line != site.line || strcmp(s->file, base) || (addr - start) % s->stride != s->at)
            continue;
        unsigned long index = (addr - start) / s->stride;
        if (!s->at && (size <= s->stride || !strcmp(s->member, "-")) && !index)
            snprintf(out, room, "%s%s", s->name, which);
        else if (!s->at)
            snprintf(out, room, "&%s%s[%lu]", s->name, which, index);
        else if (size <= s->stride)
            snprintf(out, room, "&%s%s->%.*s", s->name, which, (int)structure(s), s->member);
        else
            snprintf(out, room, "&%s%s[%lu].%.*s", s->name, which, index, (int)structure(s), s->member);
        return true;
    }
    /* The pointer with which the text gets at some member of the block. */
    for (int i = 0; i < G->places && addr == start && !self; i++) {
        const char *text = G->place[i].addr - start < size ? accessed_name(G->place[i].addr) : NULL;
        size_t n = text ? strspn(text, WORD) : 0;
        if (n && text[n] == '-') {
            snprintf(out, room, "%.*s%s", (int)n, text, which);
            return true;
        }
    }
    return false;
}

const char *symbol_pointer(uintptr_t addr)
{
    static char text[4][200];
    static int turn;
    char *out = text[turn = (turn + 1) % 4];
    const char *name = symbol_name(addr);
    uintptr_t start;
    size_t size;
    uint64_t pc;

    snprintf(out, sizeof *text, "%s%.190s", name[0] == '0' ? "" : "&", name);
    for (size_t i = 0; i < scalars; i++)
        if (!scalar[i].file && scalar[i].at == addr && scalar[i].name[structure(&scalar[i])]) {
            snprintf(out, sizeof *text, "&%.*s", (int)structure(&scalar[i]), scalar[i].name);
            return out;
        }
    if (!variable_at(addr) && shadow_block_of(addr, &start, &size, &pc))
        heap_structure(addr, start, size, symbol_site(pc), out, sizeof *text);
    return out;
}

/* One line of a source file, without indentation; empty when it cannot be read. */
const char *symbol_line(const char *file, int line)
{
    static char text[4][240];
    static int turn;
    char *out = text[turn = (turn + 1) % 4], buffer[1024];
    FILE *f = file ? fopen(file, "r") : NULL;

    out[0] = 0;
    for (int i = 0; f && i < line && fgets(buffer, sizeof buffer, f); i++)
        if (i == line - 1) {
            char *p = buffer + strspn(buffer, " \t");
            p[strcspn(p, "\n")] = 0;
            snprintf(out, sizeof *text, "%.*s", (int)sizeof *text - 1, p);
        }
    if (f)
        fclose(f);
    return out;
}
