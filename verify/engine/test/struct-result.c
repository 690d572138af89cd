/* SPDX-License-Identifier: MIT */
/*
 * Nor the one that a call's result goes to.
 * expect: unsupported
 */
struct pair {
    int a[8];
};

static struct pair make(void)
{
    struct pair p = {{0}};
    return p;
}

static void put(struct pair *to)
{
    *to = make();
}

int main(void)
{
    struct pair p;
    put(&p);
    return 0;
}
