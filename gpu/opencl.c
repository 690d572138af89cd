/* SPDX-License-Identifier: MIT */
#include "opencl.h"

#include <lade/fork.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

static const struct {
    cl_int code;
    const char *text;
} codes[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_DEVICE_PARTITION_FAILED, "CL_DEVICE_PARTITION_FAILED"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    {CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    {CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
    {CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    {CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR"},
};

const char *lade_opencl_text(cl_int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].text;
    return "a code without a name";
}

int lade_opencl_fail(struct lade_device_failure *failure, const char *call, cl_int code)
{
    failure->call = call;
    failure->code = code;
    (void)snprintf(failure->text, sizeof failure->text, "%s", lade_opencl_text(code));
    return LADE_DEVICE;
}

/* A driver used before fork() has its threads in the other process, and a call may wait for them forever. */
static bool driver_is_here(struct lade_device_failure *failure)
{
    static _Atomic uint64_t user; /* generation of the first process, + 1; 0: none yet */
    uint64_t mine = lade_fork_generation() + UINT64_C(1), first = 0;

    if (atomic_compare_exchange_strong_explicit(&user, &first, mine, memory_order_relaxed, memory_order_relaxed) ||
        first == mine)
        return true;
    (void)lade_opencl_fail(failure, "open", CL_INVALID_OPERATION);
    (void)snprintf(
        failure->text, sizeof failure->text,
        "OpenCL was used before fork(); its state belongs to the parent process: use it only in one of them");
    return false;
}

/* A context of the user. */
static int join(cl_context context, cl_device_id *device, struct lade_device_failure *failure)
{
    cl_device_id list[DEVICES_MAX];
    size_t size = 0;
    cl_int code = clRetainContext(context);

    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clRetainContext", code);
    if (*device)
        return LADE_OK;
    code = clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof list, list, &size);
    if (code == CL_SUCCESS && size >= sizeof *list) {
        *device = list[0];
        return LADE_OK;
    }
    clReleaseContext(context);
    return lade_opencl_fail(failure, "clGetContextInfo", code);
}

/* The device of this number. A platform without devices is skipped. */
static int find(unsigned number, cl_platform_id *platform, cl_device_id *device, struct lade_device_failure *failure)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0, before = 0;
    cl_int code = clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);

    count = count > PLATFORMS_MAX ? PLATFORMS_MAX : count;
    for (cl_uint p = 0; code == CL_SUCCESS && p < count; p++) {
        cl_device_id list[DEVICES_MAX];
        cl_uint here = 0;
        cl_int status = clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, list, &here);
        here = status != CL_SUCCESS ? 0 : here > DEVICES_MAX ? DEVICES_MAX : here;
        if (number - before < here) {
            *platform = platforms[p];
            *device = list[number - before];
            return LADE_OK;
        }
        before += here;
    }
    if (code == CL_SUCCESS)
        (void)lade_opencl_fail(failure, "clGetDeviceIDs", CL_DEVICE_NOT_FOUND);
    else
        (void)lade_opencl_fail(failure, "clGetPlatformIDs", code);
    return LADE_ABSENT;
}

int lade_opencl_open(cl_context *context, cl_device_id *device, unsigned number, void *const native[2],
                     struct lade_device_failure *failure)
{
    cl_platform_id platform = NULL;
    cl_int code;

    *context = native[0];
    *device = native[1];
    if (!driver_is_here(failure))
        return LADE_INVALID;
    if (!*context && *device) {
        (void)lade_opencl_fail(failure, "open", CL_INVALID_CONTEXT);
        return LADE_INVALID;
    }
    if (*context)
        return join(*context, device, failure);
    int status = find(number, &platform, device, failure);
    if (status != LADE_OK)
        return status;
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    *context = clCreateContext(properties, 1, device, NULL, NULL, &code);
    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clCreateContext", code);
}

int lade_opencl_build(cl_program *program, cl_context context, cl_device_id device, cl_uint lines,
                      const char *const *line, struct lade_device_failure *failure)
{
    cl_int code;

    /* The interface is older than const. */
    *program = clCreateProgramWithSource(context, lines, (const char **)(uintptr_t)line, NULL, &code);
    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clCreateProgramWithSource", code);
    code = clBuildProgram(*program, 1, &device, "", NULL, NULL);
    if (code == CL_SUCCESS)
        return LADE_OK;
    /* The compiler's first words are more useful than the name of the code. */
    int status = lade_opencl_fail(failure, "clBuildProgram", code);
    char log[sizeof failure->text] = "";
    if (clGetProgramBuildInfo(*program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL) == CL_SUCCESS && *log)
        (void)snprintf(failure->text, sizeof failure->text, "%s", log);
    clReleaseProgram(*program);
    *program = NULL;
    return status;
}

int lade_opencl_run(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *size,
                    const struct lade_opencl_argument *argument, cl_uint arguments, struct lade_device_failure *failure)
{
    cl_int code = CL_SUCCESS;

    for (cl_uint i = 0; code == CL_SUCCESS && i < arguments; i++)
        code = clSetKernelArg(kernel, i, argument[i].bytes, argument[i].value);
    if (code != CL_SUCCESS)
        return lade_opencl_fail(failure, "clSetKernelArg", code);
    code = clEnqueueNDRangeKernel(queue, kernel, axes, NULL, size, NULL, 0, NULL, NULL);
    return code == CL_SUCCESS ? LADE_OK : lade_opencl_fail(failure, "clEnqueueNDRangeKernel", code);
}
