/* SPDX-License-Identifier: MIT */
/* The conversion text as OpenCL C, on the first device of this machine: the same bits as in C. */
#include "halves.h"
#include "opencl.h"
#include "opencl_device.h"

#include <lade/convert.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static const double mean[] = {0.485, 0.456, 0.406, 0, -3.25}, deviation[] = {0.229, 0.224, 0.225, 1, 0.0625};

/* Converts on the device; to is large enough for all numbers. first: bytes before the images. */
static void convert(const struct device *d, enum lade_dtype dtype, const float *table, const uint8_t *from,
                    size_t first, uint32_t images, uint32_t pixels, uint32_t channels, void *to)
{
    size_t bytes = (size_t)images * pixels * channels, size = bytes * lade_dtype_size(dtype);
    struct lade_shape shape = {LADE_U8, 3, {images, pixels, channels}};
    struct lade_error error = {0};
    struct lade_converter *converter;
    cl_mem in = device_memory(d, first + bytes), out = device_memory(d, size);

    cr_assert_eq(clEnqueueWriteBuffer(d->queue, in, CL_TRUE, first, bytes, from, 0, NULL, NULL), CL_SUCCESS);
    cr_assert_eq(lade_converter_create(&converter,
                                       &(struct lade_converter_config){.backend = "opencl",
                                                                       .native = {d->context, d->id},
                                                                       .pixels = pixels,
                                                                       .channels = channels,
                                                                       .dtype = dtype,
                                                                       .table = table},
                                       &error),
                 LADE_OK, "%s", error.text);
    cr_assert_eq(lade_converter_run(converter, &(struct lade_tensor){.data = in, .offset = first, .shape = &shape}, out,
                                    d->queue, &error),
                 LADE_OK, "%s", error.text);
    cr_assert_eq(clEnqueueReadBuffer(d->queue, out, CL_TRUE, 0, size, to, 0, NULL, NULL), CL_SUCCESS);
    lade_converter_destroy(converter);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

static void compare(const struct device *d, uint32_t images, uint32_t pixels, uint32_t channels, size_t first,
                    double scale)
{
    size_t all = (size_t)images * pixels * channels;
    uint8_t *from = malloc(all);
    float table[10], *to = malloc(all * sizeof *to), *expected = malloc(all * sizeof *expected);
    uint16_t *halves = malloc(all * sizeof *halves);

    for (size_t i = 0; i < all; i++)
        from[i] = (uint8_t)(i * 37 + i / 256 * 11);
    cr_assert_eq(lade_convert_table(table, channels, scale, mean, deviation), LADE_OK);
    lade_convert_f32(from, expected, table, images, pixels, channels);
    convert(d, LADE_F32, table, from, first, images, pixels, channels, to);
    cr_assert_arr_eq(to, expected, all * sizeof *to);
    convert(d, LADE_F16, table, from, first, images, pixels, channels, halves);
    for (size_t i = 0; i < all; i++)
        cr_assert_eq(halves[i], half_nearest(expected[i]));
    free(from);
    free(to);
    free(expected);
    free(halves);
}

Test(opencl, images_as_in_c)
{
    struct device d;

    device_open(&d);
    compare(&d, 2, 32 * 32, 3, 0, 1.0 / 255);
    compare(&d, 1, 251, 1, 256, 1.0 / 255); /* a prime number of pixels */
    compare(&d, 5, 7 * 5, 4, 512, 1);
    compare(&d, 1, 100003, 2, 0, 1000); /* more pixels than work-items; halves that are infinite */
    device_close(&d);
}

/* Only if the device reports support for denormal numbers. */
Test(opencl, denormal_numbers_as_in_c)
{
    struct device d;
    cl_device_fp_config config = 0;

    device_open(&d);
    cr_assert_eq(clGetDeviceInfo(d.id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL), CL_SUCCESS);
    if (config & CL_FP_DENORM)
        compare(&d, 1, 2368, 5, 0, 1e-39);
    device_close(&d);
}

/* All halves, and all floats in steps, through the kernel itself. */
Test(opencl, halves_as_in_c)
{
    enum { COUNT = 1 << 20 };
    static float from[COUNT];
    static uint16_t to[COUNT], expected[COUNT];
    struct lade_device_failure failure;
    struct device d;
    cl_program program;
    cl_ulong count = COUNT;
    cl_int code;

    device_open(&d);
    cr_assert_eq(lade_opencl_build(&program, d.context, d.id, lade_convert_lines, lade_convert_text, &failure),
                 LADE_OK);
    cl_kernel kernel = clCreateKernel(program, "lade_kernel_half", &code);
    cl_mem in = device_memory(&d, sizeof from), out = device_memory(&d, sizeof to);
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            from[i] = float_of(i * 4096 + round * 1023);
        for (uint32_t h = 0; h < HALF_INFINITY; h++)
            from[h] = (float)(half_value(h) + (half_value(h + 1) - half_value(h)) * 0.25 * round);
        cr_assert_eq(clEnqueueWriteBuffer(d.queue, in, CL_TRUE, 0, sizeof from, from, 0, NULL, NULL), CL_SUCCESS);
        cr_assert_eq(lade_opencl_run(d.queue, kernel, 1, (size_t[]){COUNT / 4},
                                     (struct lade_opencl_argument[]){{&in, sizeof in}, {&out, sizeof out}, {&count, 8}},
                                     3, &failure),
                     LADE_OK);
        cr_assert_eq(clEnqueueReadBuffer(d.queue, out, CL_TRUE, 0, sizeof to, to, 0, NULL, NULL), CL_SUCCESS);
        lade_convert_half(from, expected, COUNT);
        cr_assert_arr_eq(to, expected, sizeof to);
    }
    clReleaseMemObject(in);
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    device_close(&d);
}

Test(opencl, a_text_that_does_not_compile_is_reported)
{
    static const char *const wrong[] = {"__kernel void f(", "nosuchtype x) {}\n"};
    struct lade_device_failure failure;
    struct device d;
    cl_program program;

    device_open(&d);
    cr_assert_eq(lade_opencl_build(&program, d.context, d.id, 2, wrong, &failure), LADE_DEVICE);
    cr_assert_str_eq(failure.call, "clBuildProgram");
    cr_assert_eq(failure.code, CL_BUILD_PROGRAM_FAILURE);
    cr_assert_not_null(strstr(failure.text, "nosuchtype"), "%s", failure.text);
    device_close(&d);
}

Test(converter, refuses_what_makes_no_sense)
{
    static const float table[2] = {1, 0};
    struct lade_converter_config config = {.pixels = 4, .channels = 1, .dtype = LADE_F32, .table = table};
    struct lade_shape shape = {LADE_U8, 2, {1, 5}};
    struct lade_converter *converter;
    struct lade_error error = {0};
    float to[8];

    config.backend = "nosuch";
    cr_assert_eq(lade_converter_create(&converter, &config, &error), LADE_ABSENT);
    cr_assert_not_null(strstr(error.text, "nosuch"));
    config.backend = "opencl"; /* without its context */
    cr_assert_eq(lade_converter_create(&converter, &config, &error), LADE_INVALID);
    config.backend = "host";
    config.dtype = LADE_F64;
    cr_assert_eq(lade_converter_create(&converter, &config, &error), LADE_INVALID);
    config.dtype = LADE_F32;
    cr_assert_eq(lade_converter_create(&converter, &config, &error), LADE_OK);
    struct lade_tensor from = {.data = (void *)"abcde", .shape = &shape};
    cr_assert_eq(lade_converter_run(converter, &from, to, NULL, &error), LADE_INVALID);
    shape.dim[1] = 4;
    cr_assert_eq(lade_converter_run(converter, &from, to, NULL, &error), LADE_OK);
    cr_assert_eq(to[3], (float)'d');
    lade_converter_destroy(converter);
}
