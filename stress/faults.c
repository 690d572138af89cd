/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program, lets its n-th call fail, or kills it there. stress/faults drives it.
 *
 *   LADE_FAULT     CALL:N:HOW, or empty to count. CALL is the name of a system call in the table below, "any" (every one
 *                  of them), "malloc", "pthread_create", or "cl" (every OpenCL call). HOW is the number of an error (with
 *                  a + appended, all later calls fail too, as on a full disk), "kill", or "swallow": the call is not
 *                  made, but seems to succeed, as if the program ignored its failure.
 *   LADE_FAULT_TO  a file that gets "hit" when it happens, and the number of each call at the end.
 *
 * A seccomp filter intercepts system calls, including those that the C library makes itself. The filter traps to a
 * handler, which makes the call at the one address from which the filter lets it pass.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if !defined __x86_64__
#error "registers of x86-64"
#endif

static const struct {
    const char *name;
    int number;
} calls[] = {{"openat", SYS_openat},
             {"open", SYS_open},
             {"read", SYS_read},
             {"pread64", SYS_pread64},
             {"write", SYS_write},
             {"pwrite64", SYS_pwrite64},
             {"fsync", SYS_fsync},
             {"close", SYS_close},
             {"rename", SYS_rename},
             {"renameat", SYS_renameat},
             {"unlink", SYS_unlink},
             {"unlinkat", SYS_unlinkat},
             {"mmap", SYS_mmap},
             {"newfstatat", SYS_newfstatat},
             {"stat", SYS_stat},
             {"lstat", SYS_lstat},
             {"fstat", SYS_fstat},
             {"access", SYS_access},
             {"readlink", SYS_readlink},
             {"ftruncate", SYS_ftruncate},
             {"fchmod", SYS_fchmod},
             {"flock", SYS_flock},
             {"fcntl", SYS_fcntl},
             {"mkdir", SYS_mkdir},
             {"getdents64", SYS_getdents64},
             {"getrandom", SYS_getrandom},
             {"lseek", SYS_lseek}};
enum { CALLS = sizeof calls / sizeof *calls, ANY = CALLS, MALLOC, THREAD, CL, ALL };
static const char *const more[] = {"any", "malloc", "pthread_create", "cl"};

enum { COUNT, FAIL, KILL, SWALLOW };
static atomic_long made[ALL];
static atomic_int armed;
static int which = -1, how = COUNT, error_number, stays, report = -1;
static long nth;

/* The only place from which the filter lets the calls pass. */
long gate(long number, long a, long b, long c, long d, long e, long f);
extern char gate_end[];
__asm__(".text\n.globl gate\n.hidden gate\n.globl gate_end\n.hidden gate_end\n"
        "gate:\n mov %rdi, %rax\n mov %rsi, %rdi\n mov %rdx, %rsi\n mov %rcx, %rdx\n mov %r8, %r10\n mov %r9, %r8\n"
        " mov 8(%rsp), %r9\n syscall\ngate_end:\n ret\n");

static void write_text(const char *text)
{
    if (report >= 0)
        (void)gate(SYS_write, report, (long)text, (long)strlen(text), 0, 0, 0);
}

/* Whether this is the call that fails. */
static int hits(int kind)
{
    if (!atomic_load(&armed))
        return COUNT;
    long n = atomic_fetch_add(&made[kind], 1) + 1;
    if (kind != which || (stays ? n < nth : n != nth))
        return COUNT;
    if (n == nth)
        write_text("hit\n");
    if (how == KILL)
        (void)gate(SYS_kill, gate(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
    return how;
}

/* The result of a call that appears to succeed. */
static long success(int number, const greg_t *r)
{
    return number == SYS_write || number == SYS_pwrite64 ? (long)r[REG_RDX] : 0;
}

static void trapped(int signal_number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    int kept = errno, kind = 0, hit;

    (void)signal_number;
    while (kind < CALLS - 1 && calls[kind].number != info->si_syscall)
        kind++;
    /* A failure of standard error could not be reported. */
    const int spared = info->si_syscall == SYS_write && r[REG_RDI] == STDERR_FILENO;
    hit = spared ? COUNT : hits(ANY);
    if (hit == COUNT && !spared)
        hit = hits(kind);
    if (hit == FAIL)
        r[REG_RAX] = -error_number;
    else if (hit == SWALLOW)
        r[REG_RAX] = success(info->si_syscall, r);
    else
        r[REG_RAX] = gate(info->si_syscall, (long)r[REG_RDI], (long)r[REG_RSI], (long)r[REG_RDX], (long)r[REG_R10],
                          (long)r[REG_R8], (long)r[REG_R9]);
    errno = kept;
}

static int install(void)
{
    struct sock_filter code[6 + CALLS + 2];
    unsigned short n = 0;
    const uint64_t end = (uint64_t)(uintptr_t)gate_end;
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)end, 0, 2);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4);
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(end >> 32), CALLS + 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++)
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number,
                                                 (unsigned char)(CALLS - i), 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {n, code};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("LADE_FAULT"), *to = getenv("LADE_FAULT_TO");
    char name[32] = "", kind[32] = "";

    if (!fault || !to)
        return;
    int file = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    report = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 500) : -1;
    if (file >= 0)
        (void)close(file);
    if (sscanf(fault, "%31[^:]:%ld:%31s", name, &nth, kind) == 3) {
        for (int i = 0; i < ALL; i++)
            if (!strcmp(name, i < CALLS ? calls[i].name : more[i - CALLS]))
                which = i;
        how = !strcmp(kind, "kill") ? KILL : !strcmp(kind, "swallow") ? SWALLOW : FAIL;
        error_number = atoi(kind);
        stays = strchr(kind, '+') != NULL;
    }
    /* OpenCL calls need no filter, and implementations do not work with one. */
    if (which != CL && !install()) {
        write_text("no seccomp\n");
        _exit(77);
    }
    atomic_store(&armed, 1);
}

__attribute__((destructor)) static void end(void)
{
    char line[64];

    atomic_store(&armed, 0);
    for (int i = 0; i < ALL && report >= 0; i++) {
        (void)snprintf(line, sizeof line, "%s %ld\n", i < CALLS ? calls[i].name : more[i - CALLS],
                       atomic_load(&made[i]));
        write_text(line);
    }
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static int no_memory(void)
{
    if (hits(MALLOC) != FAIL)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return no_memory() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return no_memory() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **to, size_t align, size_t size)
{
    void *memory = no_memory() ? NULL : __libc_memalign(align, size);

    if (!memory)
        return ENOMEM;
    *to = memory;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return hits(THREAD) == FAIL ? EAGAIN : real(thread, attributes, body, context);
}

#ifdef LADE_OPENCL
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

/* Only calls of the program itself, not those inside an implementation. */
#define REAL(name)                                                                                                     \
    static __typeof__(&name) real;                                                                                     \
    if (!real)                                                                                                         \
    *(void **)&real = dlsym(RTLD_NEXT, #name)
#define CODE(name, parameters, arguments)                                                                              \
    cl_int name parameters                                                                                             \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        return hits(CL) == FAIL ? CL_OUT_OF_RESOURCES : real arguments;                                                \
    }
#define OBJECT(type, name, parameters, arguments)                                                                      \
    type name parameters                                                                                               \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        if (hits(CL) != FAIL)                                                                                          \
            return real arguments;                                                                                     \
        if (code)                                                                                                      \
            *code = CL_OUT_OF_RESOURCES;                                                                               \
        return NULL;                                                                                                   \
    }

CODE(clEnqueueWriteBuffer,
     (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, const void *f, cl_uint g, const cl_event *h,
      cl_event *i),
     (a, b, c, d, e, f, g, h, i))
CODE(clEnqueueReadBuffer,
     (cl_command_queue a, cl_mem b, cl_bool c, size_t d, size_t e, void *f, cl_uint g, const cl_event *h, cl_event *i),
     (a, b, c, d, e, f, g, h, i))
CODE(clEnqueueMarkerWithWaitList, (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d))
CODE(clEnqueueBarrierWithWaitList, (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d))
CODE(clFlush, (cl_command_queue a), (a))
CODE(clFinish, (cl_command_queue a), (a))
CODE(clGetEventInfo, (cl_event a, cl_event_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))
CODE(clWaitForEvents, (cl_uint a, const cl_event *b), (a, b))
CODE(clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d))
CODE(clEnqueueNDRangeKernel,
     (cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e, const size_t *f, cl_uint g,
      const cl_event *h, cl_event *i),
     (a, b, c, d, e, f, g, h, i))
CODE(clBuildProgram,
     (cl_program a, cl_uint b, const cl_device_id *c, const char *d, void (*e)(cl_program, void *), void *f),
     (a, b, c, d, e, f))
OBJECT(cl_mem, clCreateBuffer, (cl_context a, cl_mem_flags b, size_t c, void *d, cl_int *code), (a, b, c, d, code))
OBJECT(cl_command_queue, clCreateCommandQueue,
       (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int *code), (a, b, c, code))
OBJECT(cl_kernel, clCreateKernel, (cl_program a, const char *b, cl_int *code), (a, b, code))
OBJECT(void *, clEnqueueMapBuffer,
       (cl_command_queue a, cl_mem b, cl_bool c, cl_map_flags d, size_t e, size_t f, cl_uint g, const cl_event *h,
        cl_event *i, cl_int *code),
       (a, b, c, d, e, f, g, h, i, code))
#endif
