/* SPDX-License-Identifier: MIT */
/* The lab's language: a parser that emits instructions and, along with them, a C program with the same executions. */
#include "lab.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct lab lab;

static const char *p;           /* next character */
static int token, token_length; /* offset and length of the current token */
static struct lab_thread *now;
static int out_from;
static int nesting;

/* ---- text ---- */

static void emit_c(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void emit_c(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int room = (int)sizeof lab.c - lab.c_length, n = vsnprintf(lab.c + lab.c_length, (size_t)room, format, list);
    va_end(list);
    lab.c_length += n < room ? n : room - 1;
}

static void problem(const char *what)
{
    if (lab.error[0])
        return;
    snprintf(lab.error, sizeof lab.error, "%s", what);
    lab.error_at = token;
    lab.error_length = token_length ? token_length : 1;
}

/* Skips to the next token; after an error there is none. */
static void next(void)
{
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (p[0] == '/' && p[1] == '/')
            p += strcspn(p, "\n");
        else
            break;
    }
    token = (int)(p - lab.text);
    if (lab.error[0] || !*p) {
        token_length = 0;
        return;
    }
    if (isalpha((unsigned char)*p) || *p == '_')
        while (isalnum((unsigned char)*p) || *p == '_')
            p++;
    else if (isdigit((unsigned char)*p))
        while (isdigit((unsigned char)*p))
            p++;
    else
        p += strchr("=!<>&|", *p) && (p[1] == '=' || (p[1] == *p && strchr("&|", *p))) ? 2 : 1;
    token_length = (int)(p - lab.text) - token;
}

static bool is(const char *word)
{
    return token_length == (int)strlen(word) && !strncmp(lab.text + token, word, (size_t)token_length);
}

static bool accept(const char *word)
{
    if (!is(word))
        return false;
    next();
    return true;
}

static void expect(const char *word)
{
    char text[40];

    if (!accept(word)) {
        snprintf(text, sizeof text, "'%s' is missing here", word);
        problem(text);
    }
}

static bool is_name(void)
{
    return token_length && (isalpha((unsigned char)lab.text[token]) || lab.text[token] == '_');
}

static bool take_name(char *out)
{
    if (!is_name() || token_length >= NAME) {
        problem(is_name() ? "a name has at most 23 characters" : "a name is missing here");
        return false;
    }
    snprintf(out, NAME, "%.*s", token_length, lab.text + token);
    next();
    return true;
}

static int take_number(void)
{
    if (!token_length || !isdigit((unsigned char)lab.text[token])) {
        problem("a number is missing here");
        return 0;
    }
    long n = strtol(lab.text + token, NULL, 10);
    if (token_length > 9)
        problem("this number is too large");
    next();
    return (int)n;
}

static struct instruction *emit(enum code code, int n, int at)
{
    if (lab.codes == CODE - 1) {
        problem("the program is too long");
        lab.codes--;
    }
    lab.code[lab.codes] = (struct instruction){.code = (uint8_t)code, .n = n, .at = at};
    return &lab.code[lab.codes++];
}

/* ---- names ---- */

static struct variable *find_variable(const char *name)
{
    for (int i = 0; i < lab.variables; i++)
        if (!strcmp(lab.variable[i].name, name))
            return &lab.variable[i];
    return NULL;
}

static int find_register(const char *name)
{
    static const char *const reserved[] = {
        "if",        "else",      "while",    "thread",    "int",    "atomic", "load", "store",
        "exchange",  "cas",       "cas_weak", "fence",     "assert", "assume", "stop", "fetch_add",
        "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "main",   "return", "for",  "do",
        "goto",      "break",     "continue", "void",      "char",   "long",   "free"};

    for (int i = 0; i < now->registers; i++)
        if (!strcmp(now->reg[i], name))
            return i;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(reserved[i], name))
            problem("this word has another meaning");
    if (now->registers == REGISTERS) {
        problem("a thread has at most 16 local variables");
        return 0;
    }
    snprintf(now->reg[now->registers], NAME, "%s", name);
    return now->registers++;
}

/* ---- expressions ---- */

static void expression(int level);

const char *const lab_order_names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
const char lab_order_letters[] = "xcarbs";

static int take_order(const char *allowed, const char *call, bool failure)
{

    if (token_length > 13 && !strncmp(lab.text + token, "memory_order_", 13)) {
        token += 13;
        token_length -= 13;
    }
    for (int i = 0; i < 6; i++)
        if (is(lab_order_names[i])) {
            if (!strchr(allowed, lab_order_letters[i]))
                problem("this operation cannot have that order");
            emit_c("memory_order_%s", lab_order_names[i]);
            if (lab.orders == ORDERS) {
                problem("a program has at most 256 orders");
                return i;
            }
            lab.order[lab.orders++] = (struct lab_order){token, token_length, i, allowed, call, failure};
            next();
            return i;
        }
    problem("an order is missing here: relaxed, acquire, release, acq_rel or seq_cst");
    return 0;
}

/* A shared variable; leaves the index on the stack. */
static struct variable *place(bool atomic)
{
    char name[NAME];
    int at = token, length = token_length;

    if (!take_name(name))
        return NULL;
    struct variable *v = find_variable(name);
    if (!v || v->atomic != atomic) {
        token = at;
        token_length = length;
        problem(!v       ? "no shared variable has this name"
                : atomic ? "this variable is not atomic"
                         : "this variable is atomic: use load or store");
        return NULL;
    }
    emit_c("v_%s", name);
    if (v->array) {
        expect("[");
        emit_c("[");
        expression(0);
        emit_c("]");
        expect("]");
    } else {
        emit(I_PUSH, 0, at);
    }
    return v;
}

static void comma(void)
{
    expect(",");
    emit_c(", ");
}

/* The operation's name is the current token; false when it is none. */
static bool operation(void)
{
    static const struct {
        const char *name, *c;
        int op, arguments;
        const char *orders;
    } list[] = {
        {"load", "atomic_load_explicit", OP_LOAD, 0, "xcas"},
        {"store", "atomic_store_explicit", OP_STORE, 1, "xrs"},
        {"exchange", "atomic_exchange_explicit", OP_XCHG, 1, "xcarbs"},
        {"fetch_add", "atomic_fetch_add_explicit", OP_ADD, 1, "xcarbs"},
        {"fetch_sub", "atomic_fetch_sub_explicit", OP_SUB, 1, "xcarbs"},
        {"fetch_and", "atomic_fetch_and_explicit", OP_AND, 1, "xcarbs"},
        {"fetch_or", "atomic_fetch_or_explicit", OP_OR, 1, "xcarbs"},
        {"fetch_xor", "atomic_fetch_xor_explicit", OP_XOR, 1, "xcarbs"},
        {"cas", "atomic_compare_exchange_strong_explicit", OP_CAS, 2, "xcarbs"},
        {"cas_weak", "atomic_compare_exchange_weak_explicit", OP_CAS, 2, "xcarbs"},
    };
    int at = token, reg = 0;
    size_t k = 0;

    while (k < sizeof list / sizeof *list && !is(list[k].name))
        k++;
    if (k == sizeof list / sizeof *list)
        return false;
    bool weak = is("cas_weak");
    next();
    expect("(");
    emit_c("%s(&", list[k].c);
    struct variable *v = place(true);
    comma();
    if (list[k].op == OP_CAS) {
        char name[NAME];
        if (take_name(name) && find_variable(name))
            problem("the expected value must be a local variable: it receives the value on failure");
        reg = find_register(name);
        emit_c("&r_%s, ", name);
        expect(",");
    }
    if (list[k].arguments) {
        expression(0);
        comma();
    }
    int order = take_order(list[k].orders, list[k].name, false), fail_order = order;
    if (list[k].op == OP_CAS) {
        comma();
        fail_order = take_order("xcas", list[k].name, true);
    }
    expect(")");
    emit_c(")");
    struct instruction *i = emit(list[k].op == OP_CAS ? I_CAS : I_ATOMIC, v ? (int)(v - lab.variable) : 0, at);
    i->op = (uint8_t)list[k].op;
    i->order = (uint8_t)order;
    i->fail_order = list[k].op == OP_CAS ? (uint8_t)fail_order : 0;
    i->weak = weak;
    if (list[k].op == OP_CAS)
        emit(I_SET, -1 - reg, at); /* the core returns 0: the register takes the value (program.c) */
    return true;
}

static void primary(void)
{
    char name[NAME];
    int at = token;

    if (++nesting > 40) {
        problem("this expression is too deep");
    } else if (accept("(")) {
        emit_c("(");
        expression(0);
        expect(")");
        emit_c(")");
    } else if (accept("-")) {
        emit_c("-");
        primary();
        emit(I_NEG, 0, at);
    } else if (accept("!")) {
        emit_c("!");
        primary();
        emit(I_NOT, 0, at);
    } else if (is("store")) {
        problem("store is a statement");
    } else if (!is_name()) {
        int n = take_number();
        emit(I_PUSH, n, at);
        emit_c("%d", n);
    } else if (!operation()) {
        snprintf(name, sizeof name, "%.*s", token_length < NAME ? token_length : NAME - 1, lab.text + token);
        if (find_variable(name)) {
            struct variable *v = place(false);
            emit(I_PLAIN_LOAD, v ? (int)(v - lab.variable) : 0, at);
        } else if (take_name(name)) {
            emit(I_GET, find_register(name), at);
            emit_c("r_%s", name);
        }
    }
    nesting--;
}

static const char *const binary[][7] = {
    {"||"}, {"&&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"+", "-", "|", "^"}, {"*", "%", "&"}};

static const char *binary_here(int level)
{
    for (int i = 0; i < 7 && binary[level][i]; i++)
        if (is(binary[level][i]))
            return binary[level][i];
    return NULL;
}

/* Operators that C nests in another way need parentheses there. */
static void expression(int level)
{
    const char *word;

    if (level == 6) {
        primary();
        return;
    }
    int begin = lab.c_length;
    expression(level + 1);
    while (!lab.error[0] && (word = binary_here(level))) {
        int at = token, jump = 0;
        next();
        emit_c(" %s ", word);
        if (level < 2) { /* the second operand only where it matters */
            if (level == 0)
                emit(I_NOT, 0, at);
            else
                emit(I_TRUTH, 0, at);
            jump = lab.codes;
            emit(I_JUMP_IF_NOT, 0, at)->weak = true; /* keeps the value */
            expression(level + 1);
            emit(I_TRUTH, 0, at);
            if (level == 0)
                emit(I_NOT, 0, at);
            lab.code[jump].n = lab.codes;
            if (level == 0)
                emit(I_NOT, 0, at);
        } else {
            expression(level + 1);
            emit(I_BINARY, 0, at)->op = (uint8_t)word[0];
            lab.code[lab.codes - 1].weak = word[1] != 0;
        }
        if (lab.c_length + 2 < (int)sizeof lab.c) { /* (a op b) */
            memmove(lab.c + begin + 1, lab.c + begin, (size_t)(lab.c_length - begin));
            lab.c[begin] = '(';
            lab.c_length++;
            emit_c(")");
        }
    }
}

/* ---- statements ---- */

static void statement(void);

static void block(void)
{
    expect("{");
    emit_c("{\n");
    while (!lab.error[0] && token_length && !is("}"))
        statement();
    expect("}");
    emit_c("}\n");
}

static int condition(void)
{
    int at = token;

    expect("(");
    emit_c("(");
    expression(0);
    expect(")");
    emit_c(") ");
    emit(I_JUMP_IF_NOT, 0, at);
    return lab.codes - 1;
}

static void check(enum code code, const char *name)
{
    int at = token;

    next();
    expect("(");
    emit_c("%s(", name);
    expression(0);
    expect(")");
    emit_c(");\n");
    emit(code, 0, at);
    expect(";");
}

static void conditional(int at)
{
    emit_c("if ");
    int jump = condition();
    block();
    if (accept("else")) {
        emit_c("else ");
        emit(I_JUMP, 0, at);
        lab.code[jump].n = lab.codes;
        jump = lab.codes - 1;
        if (is("if"))
            statement();
        else
            block();
    }
    lab.code[jump].n = lab.codes;
}

static void assignment(int at)
{
    char name[NAME];

    snprintf(name, sizeof name, "%.*s", token_length < NAME ? token_length : NAME - 1, lab.text + token);
    if (find_variable(name)) {
        struct variable *v = place(false);
        expect("=");
        emit_c(" = ");
        expression(0);
        emit(I_PLAIN_STORE, v ? (int)(v - lab.variable) : 0, at);
    } else if (take_name(name)) {
        int reg = find_register(name);
        expect("=");
        emit_c("r_%s = ", name);
        expression(0);
        emit(I_SET, reg, at);
    }
}

static void release(int at)
{
    char name[NAME];

    expect("(");
    int where = token, where_length = token_length;
    if (!take_name(name))
        return;
    struct variable *v = find_variable(name);
    if (!v) {
        token = where;
        token_length = where_length;
        problem("no shared variable has this name");
        return;
    }
    emit(I_FREE, (int)(v - lab.variable), at);
    emit_c("free((void *)heap_%s);\n", name);
    expect(")");
    expect(";");
}

static void statement(void)
{
    int at = token, begin = lab.codes;

    if (++nesting > 40) {
        problem("these blocks are too deep");
    } else if (accept(";")) {
        emit_c(";\n");
    } else if (is("{")) {
        block();
    } else if (accept("if")) {
        conditional(at);
    } else if (accept("while")) {
        emit_c("while ");
        int jump = condition();
        if (accept(";"))
            emit_c(";\n");
        else
            block();
        emit(I_JUMP, begin, at);
        lab.code[jump].n = lab.codes;
    } else if (is("assert")) {
        check(I_ASSERT, "assert");
    } else if (is("assume")) {
        check(I_ASSUME, "__VERIFIER_assume");
    } else if (accept("free")) {
        release(at);
    } else if (accept("stop")) {
        emit(I_END, 0, at);
        emit_c("goto end;\n");
        expect(";");
    } else if (accept("fence")) {
        expect("(");
        emit_c("atomic_thread_fence(");
        int order = take_order("xcarbs", "fence", false);
        expect(")");
        emit_c(");\n");
        emit(I_FENCE, 0, at)->order = (uint8_t)order;
        expect(";");
    } else if (is_name()) {
        bool store = is("store");
        if (operation()) {
            if (!store)
                emit(I_POP, 0, at);
        } else {
            assignment(at);
        }
        emit_c(";\n");
        expect(";");
    } else {
        problem("a statement is missing here");
    }
    nesting--;
}

/* ---- the program ---- */

/* Whether a statement frees the variable: then it is on the heap in C. */
static bool is_freed(const char *name)
{
    const char *here = p;
    int at = token, size = token_length;
    bool found = false;

    while (token_length && !found)
        if (accept("free") && accept("("))
            found = is(name);
        else if (!is("free"))
            next();
    p = here;
    token = at;
    token_length = size;
    return found;
}

static void declaration(void)
{
    bool atomic = accept("atomic");
    char name[NAME];

    expect("int");
    do {
        int at = token, length = token_length;
        if (!take_name(name))
            return;
        if (find_variable(name) || lab.variables == VARIABLES) {
            token = at;
            token_length = length;
            problem(find_variable(name) ? "this name is taken" : "too many shared variables");
            return;
        }
        struct variable *v = &lab.variable[lab.variables++];
        *v = (struct variable){.first = lab.cells, .count = 1, .atomic = atomic};
        snprintf(v->name, NAME, "%s", name);
        if (accept("[")) {
            v->array = true;
            v->count = take_number();
            expect("]");
        }
        if (v->count < 1 || v->count > MEMORY - lab.cells) {
            problem("shared memory has at most 256 cells");
            v->count = 0;
        }
        lab.cells += v->count;
        if (accept("=")) {
            bool minus = accept("-");
            v->init = take_number() * (minus ? -1 : 1);
        }
        v->freed = is_freed(name);
        if (v->freed) {
            emit_c("static %sint *heap_%s;\n#define v_%s ", atomic ? "_Atomic " : "", name, name);
            emit_c(v->array ? "heap_%s\n" : "(*heap_%s)\n", name);
            continue;
        }
        emit_c("%sint v_%s", atomic ? "_Atomic " : "", name);
        if (v->array)
            emit_c("[%d]", v->count);
        for (int i = 0; i < v->count && v->init; i++)
            emit_c("%s%d%s", i ? ", " : v->array ? " = {" : " = ", v->init, v->array && i + 1 == v->count ? "}" : "");
        emit_c(";\n");
    } while (!lab.error[0] && accept(","));
    expect(";");
}

/* The registers of a thread are known at its end: its body is moved behind their declarations. */
static void thread_text(void)
{
    static char body[sizeof lab.c];
    int n = lab.threads - 1;

    memcpy(body, lab.c + out_from, (size_t)(lab.c_length - out_from) + 1);
    lab.c_length = out_from;
    for (int i = 0; i < now->registers; i++)
        emit_c("static int end_%d_%s;\n", n, now->reg[i]);
    emit_c("static void *thread_%d(void *unused)\n{\n", n);
    for (int i = 0; i < now->registers; i++)
        emit_c("int r_%s = 0;\n", now->reg[i]);
    emit_c("%s", body);
    emit_c("goto end;\nend:\n");
    for (int i = 0; i < now->registers; i++)
        emit_c("end_%d_%s = r_%s;\n", n, now->reg[i], now->reg[i]);
    emit_c("return unused;\n}\n");
}

static void main_text(void)
{
    emit_c("int main(void)\n{\npthread_t t[%d];\n", lab.threads);
    for (int i = 0; i < lab.variables; i++) {
        const struct variable *v = &lab.variable[i];
        if (v->freed)
            emit_c("heap_%s = malloc(%d * sizeof *heap_%s);\n", v->name, v->count, v->name);
        for (int k = 0; k < v->count && v->freed; k++)
            emit_c(v->atomic ? "atomic_init(&heap_%s[%d], %d);\n" : "heap_%s[%d] = %d;\n", v->name, k, v->init);
    }
    for (int i = 1; i < lab.threads; i++)
        emit_c("pthread_create(&t[%d], 0, thread_%d, 0);\n", i, i);
    for (int i = 1; i < lab.threads; i++)
        emit_c("pthread_join(t[%d], 0);\n", i);
    emit_c("printf(\"");
    for (int i = 1; i < lab.threads; i++)
        for (int k = 0; k < lab.thread[i].registers; k++)
            emit_c("%d:%s=%%d ", i, lab.thread[i].reg[k]);
    for (int i = 0; i < lab.variables; i++)
        for (int k = 0; k < lab.variable[i].count && !lab.variable[i].freed; k++)
            emit_c(lab.variable[i].array ? "%s[%d]=%%d " : "%s=%%d ", lab.variable[i].name, k);
    emit_c("\\n\"");
    for (int i = 1; i < lab.threads; i++)
        for (int k = 0; k < lab.thread[i].registers; k++)
            emit_c(", end_%d_%s", i, lab.thread[i].reg[k]);
    for (int i = 0; i < lab.variables; i++) {
        const struct variable *v = &lab.variable[i];
        for (int k = 0; k < v->count && !v->freed; k++) {
            emit_c(v->atomic ? ", atomic_load_explicit(&v_%s" : ", v_%s", v->name);
            if (v->array)
                emit_c("[%d]", k);
            emit_c(v->atomic ? ", memory_order_relaxed)" : "");
        }
    }
    emit_c(");\nreturn 0;\n}\n");
}

bool lab_parse(void)
{
    memset(&lab.code, 0, sizeof lab - offsetof(struct lab, code));
    p = lab.text;
    lab.threads = 1;
    emit_c("#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n"
           "#include <stdbool.h>\n#include <stdlib.h>\nvoid __VERIFIER_assume(bool);\n");
    next();
    while (token_length && !lab.error[0]) {
        if (is("atomic") || is("int")) {
            declaration();
        } else if (accept("thread")) {
            if (lab.threads > LAB_THREADS) {
                problem("at most 8 threads");
                break;
            }
            now = &lab.thread[lab.threads++];
            now->start = lab.codes;
            out_from = lab.c_length;
            nesting = 0;
            block();
            emit(I_END, 0, token);
            thread_text();
        } else {
            problem("'int', 'atomic int' or 'thread' is missing here");
        }
    }
    if (lab.threads == 1)
        problem("a program has at least one thread { ... }");
    lab.thread[0].start = lab.codes;
    for (int i = 1; i < lab.threads; i++)
        emit(I_CREATE, i, 0);
    for (int i = 1; i < lab.threads; i++)
        emit(I_JOIN, i, 0);
    emit(I_FINISH, 0, 0);
    emit(I_END, 0, 0);
    main_text();
    return !lab.error[0];
}

void lab_line(int at, int *line, int *column)
{
    *line = 1;
    *column = 1;
    for (int i = 0; i < at && lab.text[i]; i++) {
        *column = lab.text[i] == '\n' ? 1 : *column + 1;
        *line += lab.text[i] == '\n';
    }
}
