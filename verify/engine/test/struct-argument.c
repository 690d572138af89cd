/* SPDX-License-Identifier: MIT */
/*
 * gcc's instrumentation does not see a structure that a call copies from memory.
 * expect: unsupported
 */
struct pair {
    int a, b;
};
static struct pair shared;

static int first(struct pair p)
{
    return p.a;
}

int main(void)
{
    return first(shared);
}
