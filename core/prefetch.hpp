// Asks for memory some steps before it is used, so that a loop over scattered places need not wait for each of them.
//
// It changes the time and never the answer. An address past the end of an array is harmless.
#pragma once

#include "words.hpp"

namespace roughly {

// How many steps ahead: about as many as take the time of one access to memory.
inline constexpr i64 PREFETCH_DISTANCE = 8;

inline void prefetch(const void* address) { __builtin_prefetch(address, 0, 3); }

inline void prefetch_to_write(const void* address) { __builtin_prefetch(address, 1, 3); }

}  // namespace roughly
