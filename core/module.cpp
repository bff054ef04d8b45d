// The extension module `roughly._core`: calls the bind_NAME of every file core/bind_NAME.cpp.

#include <nanobind/nanobind.h>

#include "groups.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled loops of Roughly; see roughly.kernels for what each one does.";
    roughly::bind_groups(m);
}
