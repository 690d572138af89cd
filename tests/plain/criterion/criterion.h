/* SPDX-License-Identifier: MIT */
/*
 * The part of Criterion that our unit tests use, with a plain fork for each test: Criterion's own isolation places
 * memory where ThreadSanitizer keeps its, so that builds with a sanitizer use this header instead.
 */
#ifndef LADE_PLAIN_CRITERION_H
#define LADE_PLAIN_CRITERION_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct criterion_test_extra_data {
    int sentinel_;
    void (*init)(void);
    void (*fini)(void);
    double timeout;
    bool disabled;
    const char *description;
};

struct plain_test {
    const char *suite, *name;
    void (*body)(void);
    struct criterion_test_extra_data extra;
    struct plain_test *next;
};

/* What is done before and after each test of a suite. */
struct plain_suite {
    const char *name;
    struct criterion_test_extra_data extra;
    struct plain_suite *next;
};

static struct plain_suite *plain_suites;
static struct plain_test *plain_first, **plain_last = &plain_first;
static const struct plain_test *plain_now;

#define Test(Suite, Name, ...)                                                                                         \
    static void Suite##_##Name##_body(void);                                                                           \
    static struct plain_test Suite##_##Name##_test = {                                                                 \
        #Suite, #Name, Suite##_##Name##_body, {.sentinel_ = 0, __VA_ARGS__}, NULL};                                    \
    __attribute__((constructor)) static void Suite##_##Name##_register(void)                                           \
    {                                                                                                                  \
        *plain_last = &Suite##_##Name##_test;                                                                          \
        plain_last = &Suite##_##Name##_test.next;                                                                      \
    }                                                                                                                  \
    static void Suite##_##Name##_body(void)

#define TestSuite(Suite, ...)                                                                                          \
    static struct plain_suite Suite##_suite = {#Suite, {.sentinel_ = 0, __VA_ARGS__}, NULL};                           \
    __attribute__((constructor)) static void Suite##_suite_register(void)                                              \
    {                                                                                                                  \
        Suite##_suite.next = plain_suites;                                                                             \
        plain_suites = &Suite##_suite;                                                                                 \
    }                                                                                                                  \
    struct plain_suite

static inline void plain_check(bool good, const char *file, int line, const char *text)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: %s::%s: assertion failed: %s\n", file, line, plain_now->suite, plain_now->name, text);
    abort();
}

#define cr_assert(C, ...) plain_check((C), __FILE__, __LINE__, #C)
#define cr_assert_not(C, ...) cr_assert(!(C))
#define cr_assert_eq(A, B, ...) cr_assert((A) == (B))
#define cr_assert_neq(A, B, ...) cr_assert((A) != (B))
#define cr_assert_lt(A, B, ...) cr_assert((A) < (B))
#define cr_assert_leq(A, B, ...) cr_assert((A) <= (B))
#define cr_assert_gt(A, B, ...) cr_assert((A) > (B))
#define cr_assert_geq(A, B, ...) cr_assert((A) >= (B))
#define cr_assert_null(A, ...) cr_assert((A) == NULL)
#define cr_assert_not_null(A, ...) cr_assert((A) != NULL)
#define cr_assert_str_eq(A, B, ...) cr_assert(strcmp((A), (B)) == 0)
#define cr_assert_str_neq(A, B, ...) cr_assert(strcmp((A), (B)) != 0)
#define cr_assert_arr_eq(A, B, SIZE, ...) cr_assert(memcmp((A), (B), (SIZE)) == 0)
#define cr_expect cr_assert
#define cr_expect_not cr_assert_not
#define cr_expect_eq cr_assert_eq
#define cr_expect_neq cr_assert_neq

static inline const struct criterion_test_extra_data *plain_suite_of(const struct plain_test *test)
{
    static const struct criterion_test_extra_data none;

    for (const struct plain_suite *suite = plain_suites; suite; suite = suite->next)
        if (strcmp(suite->name, test->suite) == 0)
            return &suite->extra;
    return &none;
}

/* In a child, so that tests share no variables; it leaves by exit(), where LeakSanitizer looks. */
static inline bool plain_run(const struct plain_test *test)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        const struct criterion_test_extra_data *suite = plain_suite_of(test);
        plain_now = test;
        if (suite->init)
            suite->init();
        if (test->extra.init)
            test->extra.init();
        test->body();
        if (test->extra.fini)
            test->extra.fini();
        if (suite->fini)
            suite->fini();
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s::%s failed\n", test->suite, test->name);
        return false;
    }
    return true;
}

int main(void)
{
    int passed = 0, failed = 0;

    for (const struct plain_test *test = plain_first; test; test = test->next) {
        if (test->extra.disabled)
            continue;
        if (plain_run(test))
            passed++;
        else
            failed++;
    }
    printf("%d tests, %d failed\n", passed + failed, failed);
    return passed == 0 || failed != 0;
}

#endif
