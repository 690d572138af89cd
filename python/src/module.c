/* SPDX-License-Identifier: MIT */
/* The extension lade._lade: its types and functions. lade/__init__.py is what users see. */
#include "package.h"

#include "container.h"

#include <lade/version.h>

static PyMethodDef functions[] = {
    {"open_source", package_open_source, METH_VARARGS, "open_source(text, /)\n--\n\nThe source that the text names."},
    {"array_source", package_array_source, METH_VARARGS,
     "array_source(samples, labels, classes, /)\n--\n\nA source of one array, and of integer labels or None."},
    {"arrays_source", package_arrays_source, METH_VARARGS,
     "arrays_source(columns, label, key, group, classes, /)\n--\n\nA source of triples (name, values, offsets or "
     "None)."},
    {"arrow_source", package_arrow_source, METH_VARARGS,
     "arrow_source(table, columns, label, key, group, classes, nulls, fill, memory, height, width, pixels, /)\n--\n\n"
     "A source of an Arrow stream."},
    {"custom_source", package_custom_source, METH_VARARGS,
     "custom_source(read, length, count, fields, label, key, group, classes, /)\n--\n\nA source of Python functions."},
    {"make_pipeline", package_make_pipeline, METH_VARARGS,
     "make_pipeline(image, steps, /)\n--\n\nTransforms of one form of image."},
    {"merge_states", package_merge_states, METH_VARARGS,
     "merge_states(*states)\n--\n\nOne state of those of all ranks, or of one rank where all are in step."},
    {0},
};

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, *type) : -1;
}

static int add_exchange_table(PyTypeObject *type)
{
    PyObject *table = package_exchange_table();
    const int status = table ? PyObject_SetAttrString((PyObject *)type, "__dlpack_c_exchange_api__", table) : -1;

    Py_XDECREF(table);
    return status;
}

/* The types are one per process: a second interpreter is refused. */
static int execute(PyObject *module)
{
    static PyTypeObject *loader_type;

    if (loader_type) {
        PyErr_SetString(PyExc_ImportError,
                        "lade is loaded in another interpreter of this process, and works in one only");
        return -1;
    }
    if (add_type(module, &package_source_spec, &package_source_type) != 0 ||
        add_type(module, &package_batch_spec, &package_batch_type) != 0 ||
        add_type(module, &package_tensor_spec, &package_tensor_type) != 0 ||
        add_exchange_table(package_tensor_type) != 0 ||
        add_type(module, &package_pipeline_spec, &package_pipeline_type) != 0 ||
        add_type(module, &package_loader_spec, &loader_type) != 0 || container_add_types(module) != 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", lade_version());
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, PACKAGE_SLOT(execute)},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_lade",
    .m_doc = "The C part of lade.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__lade(void);
PyMODINIT_FUNC PyInit__lade(void)
{
    return PyModuleDef_Init(&definition);
}
