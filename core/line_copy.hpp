// Copies the lines of a file that are kept into another file, on several threads.
//
// The file is given as blocks of whole lines. Each block is read once. Where its kept lines go depends on how many bytes
// are kept of the blocks before it; blocks begin in order, so a thread waits for the sizes of blocks that others are
// reading already, never for their writing. A block that is kept or removed as a whole need not be read to know its size.
//
// A file that no longer has these lines is noticed, as far as its blocks have to be cut into lines.
#pragma once

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "buffer.hpp"
#include "line_block.hpp"
#include "words.hpp"

namespace roughly {

// A block is not what it was.
struct FileChanged : std::runtime_error {
    FileChanged() : std::runtime_error("the file has changed") {}
};

namespace detail {

// Calls transfer(at, left) → bytes done, until all are.
template <typename Transfer>
void transfer_all(i64 at, std::size_t left, Transfer&& transfer) {
    while (left > 0) {
        const ssize_t done = transfer(static_cast<off_t>(at), left);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw std::system_error(errno, std::generic_category());
        if (done == 0) throw FileChanged();
        at += done;
        left -= static_cast<std::size_t>(done);
    }
}

// Where each block's bytes go: right after those of the blocks before it.
class Places {
public:
    explicit Places(i64 at) : at_(at) {}

    // The place of a block of this size, once all blocks before it have theirs; -1 where one of them failed.
    i64 take(std::size_t block, i64 size) {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [&] { return next_ == block || failed_; });
        if (failed_) return -1;
        const i64 place = at_;
        at_ += size;
        next_++;
        changed_.notify_all();
        return place;
    }

    void fail() {
        const std::lock_guard guard(mutex_);
        failed_ = true;
        changed_.notify_all();
    }

    i64 end() const { return at_; }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t next_ = 0;
    i64 at_;
    bool failed_ = false;
};

}  // namespace detail

// Moves the kept lines of a block to its beginning; returns their bytes. Lines beyond the end of `keep` are not kept.
inline std::size_t keep_lines(std::span<u8> block, std::span<const bool> keep, i64 count) {
    u8* const first = block.data();
    u8* const last = first + block.size();
    u8* to = first;
    u8* run = first;  // where the kept lines begin that are still to be moved
    u8* p = first;
    i64 line = 0;
    const auto move_run = [&](const u8* end) {
        const auto bytes = static_cast<std::size_t>(end - run);
        if (to != run) std::memmove(to, run, bytes);
        to += bytes;
    };
    for (; p < last && line < count; ++line) {
        void* const feed = std::memchr(p, '\n', static_cast<std::size_t>(last - p));
        u8* const end = feed == nullptr ? last : static_cast<u8*>(feed) + 1;
        if (line >= static_cast<i64>(keep.size()) || !keep[static_cast<std::size_t>(line)]) {
            move_run(p);
            run = end;
        }
        p = end;
    }
    if (line != count || p != last) throw FileChanged();
    move_run(last);
    return static_cast<std::size_t>(to - first);
}

// Copies the lines that are kept from file `from` to file `to`, from byte `at` of it on; returns where they end.
// `loop(n, chunk, body)` runs a body over 0 … n − 1 on all threads.
template <typename Loop>
i64 copy_lines(int from, int to, std::span<const LineBlock> blocks, std::span<const bool> keep, i64 at, unsigned threads,
               Loop&& loop) {
    detail::Places places(at);
    std::vector<Buffer<u8>> rooms(threads);

    const auto copy_block = [&](std::size_t b, Buffer<u8>& room) {
        const LineBlock& block = blocks[b];
        const auto size = static_cast<std::size_t>(block.nbytes);
        const auto first = std::min(keep.size(), static_cast<std::size_t>(block.first_row));
        const auto own = keep.subspan(first, std::min(keep.size() - first, static_cast<std::size_t>(block.count)));
        const auto kept = std::count(own.begin(), own.end(), true);
        const bool is_cut = kept > 0 && kept < block.count;
        i64 place = is_cut ? 0 : places.take(b, kept == 0 ? 0 : block.nbytes);
        if (kept == 0 || place < 0) return;
        if (room.size() < size) room = Buffer<u8>(size);
        detail::transfer_all(block.offset, size, [&](off_t offset, std::size_t left) {
            return ::pread(from, room.data() + (size - left), left, offset);
        });
        std::size_t bytes = size;
        if (is_cut) {
            bytes = keep_lines({room.data(), size}, own, block.count);
            place = places.take(b, static_cast<i64>(bytes));
            if (place < 0) return;
        }
        detail::transfer_all(place, bytes, [&](off_t offset, std::size_t left) {
            return ::pwrite(to, room.data() + (bytes - left), left, offset);
        });
    };
    loop(blocks.size(), 1, [&](std::size_t begin, std::size_t end, unsigned worker) {
        for (std::size_t b = begin; b < end; ++b) {
            try {
                copy_block(b, rooms[worker]);
            } catch (...) {
                places.fail();
                throw;
            }
        }
    });
    return places.end();
}

}  // namespace roughly
