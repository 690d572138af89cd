/* SPDX-License-Identifier: MIT */
/*
 * The lab's parser on any bytes: no crash, an error lies in the text, and instructions jump into the program.
 * options: -only_ascii=1
 */
#include "../lab/parse.c"

static void must(bool good)
{
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size >= sizeof lab.text)
        return 0;
    memcpy(lab.text, bytes, size);
    lab.text[size] = 0;
    if (!lab_parse()) {
        must(lab.error_at >= 0 && (size_t)lab.error_at <= size && lab.error_length > 0);
        return 0;
    }
    for (int i = 0; i < lab.codes; i++)
        if (lab.code[i].code == I_JUMP || lab.code[i].code == I_JUMP_IF_NOT)
            must(lab.code[i].n >= 0 && lab.code[i].n < lab.codes);
    must(lab.cells <= MEMORY && lab.c_length < (int)sizeof lab.c && lab.c[lab.c_length] == 0);
    return 0;
}
