// What the bindings that read files share: errors of the system as OSError.
#pragma once

#include <cerrno>
#include <system_error>

#include "bind.hpp"
#include "gather_file.hpp"

namespace roughly {

// Runs f() without the GIL; what the system refused becomes an OSError.
template <typename F>
auto with_files(F&& f) {
    try {
        return without_gil(f);
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
    } catch (const FileTooShort& error) {
        PyErr_SetString(PyExc_OSError, error.what());
    }
    throw nb::python_error();
}

}  // namespace roughly
