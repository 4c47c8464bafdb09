// SPDX-License-Identifier: Apache-2.0
#include "interpreter.h"

#include <dlfcn.h>

namespace osc_torch
{

Interpreter py;

namespace
{

template <class F> bool find(F *f, const char *name)
{
    *f = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
    return *f != nullptr;
}

} // namespace

bool find_interpreter()
{
    (void)find(&py.set_profile_of, "_PyEval_SetProfile"); // some versions lack it
    return find(&py.set_profile, "PyEval_SetProfile") &&
           find(&py.innermost, "PyThreadState_GetFrame") && find(&py.back, "PyFrame_GetBack") &&
           find(&py.code, "PyFrame_GetCode") && find(&py.locals, "PyFrame_GetLocals") &&
           find(&py.line, "PyFrame_GetLineNumber") &&
           find(&py.attribute, "PyObject_GetAttrString") &&
           find(&py.item, "PyMapping_GetItemString") && find(&py.repr, "PyObject_Repr") &&
           find(&py.module, "PyImport_ImportModule") && find(&py.utf8, "PyUnicode_AsUTF8") &&
           find(&py.take, "Py_IncRef") && find(&py.release, "Py_DecRef") &&
           find(&py.fetch, "PyErr_Fetch") && find(&py.restore, "PyErr_Restore") &&
           find(&py.clear, "PyErr_Clear") && find(&py.thread, "PyThreadState_Get") &&
           find(&py.interpreter, "PyThreadState_GetInterpreter") &&
           find(&py.first_thread, "PyInterpreterState_ThreadHead") &&
           find(&py.next_thread, "PyThreadState_Next") && find(&py.next_of, "PyDict_Next") &&
           find(&py.length, "PySequence_Size") && find(&py.element, "PySequence_GetItem") &&
           find(&py.pointer, "PyLong_AsVoidPtr") && find(&py.swap, "PyThreadState_Swap") &&
           find(&py.stop_collecting, "PyGC_Disable") && find(&py.collect, "PyGC_Enable");
}

bool find_interpreter_places()
{
    return (find(&py.instruction, "PyFrame_GetLasti") ||
            find(&py.instruction, "PyFrame_GetLineNumber")) &&
           find(&py.own_thread, "PyGILState_GetThisThreadState") &&
           find(&py.new_reference, "PyWeakref_NewRef") &&
           find(&py.referent, "PyWeakref_GetObject");
}

} // namespace osc_torch
