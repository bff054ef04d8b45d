// A block of whole lines of a file, as an earlier reading found it.
#pragma once

#include "words.hpp"

namespace roughly {

// Lines first_row … first_row + count − 1 of the file are `nbytes` bytes from `offset` on.
struct LineBlock {
    i64 first_row, count, offset, nbytes;
};

}  // namespace roughly
