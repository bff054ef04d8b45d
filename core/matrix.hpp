// Rows of equal width in one contiguous block: bitmaps of documents, for instance.
#pragma once

#include "words.hpp"

namespace roughly {

template <typename T>
struct Matrix {
    T* data = nullptr;
    i64 rows = 0;
    i64 width = 0;

    T* row(i64 i) const { return data + i * width; }
};

}  // namespace roughly
