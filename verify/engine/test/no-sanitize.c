/* SPDX-License-Identifier: MIT */
/*
 * A function without instrumentation is not checked.
 * expect: unsupported
 */
static int g;

__attribute__((no_sanitize("thread"))) static void hidden(void)
{
    g = 1;
}

int main(void)
{
    hidden();
    return 0;
}
