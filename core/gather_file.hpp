// Reads many ranges of files of 64-bit values together, on several threads.
//
// The tokens of all documents lie one after the other in a few files (threads that write to one file wait for each
// other); documents are wanted in another order. starts[d] is the number of the file, shifted by FILE_SHIFT, and where in
// it document d begins; it has lengths[d] values. Ranges that are neighbours in both orders are one read.
//
// Every range is checked against the size of the file before memory is taken. A file that shrinks meanwhile is noticed:
// reads are copies (pread), not a memory map, whose pages could disappear.
#pragma once

#include <cerrno>
#include <limits>
#include <span>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "buffer.hpp"
#include "pool.hpp"
#include "words.hpp"

namespace roughly {

// The file ends before a range does.
struct FileTooShort : std::runtime_error {
    FileTooShort() : std::runtime_error("the file is shorter than it was") {}
};

// Reads `count` values from position `start` on, counted in values.
inline void read_values(int file, i64 start, i64 count, u64* out) {
    auto* to = reinterpret_cast<char*>(out);
    for (i64 at = 8 * start, left = 8 * count; left > 0;) {
        const ssize_t got = ::pread(file, to, static_cast<std::size_t>(left), static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error(errno, std::generic_category());
        if (got == 0) throw FileTooShort();
        to += got;
        at += got;
        left -= got;
    }
}

inline constexpr int FILE_SHIFT = 48;
inline constexpr i64 PLACE = (i64{1} << FILE_SHIFT) - 1;

// The ranges of some documents, in the order in which they are wanted.
class FileRanges {
public:
    FileRanges(std::span<const i32> files, std::span<const i64> starts, std::span<const i64> lengths,
               std::span<const i64> docs)
        : files_(files), starts_(starts), docs_(docs), offsets_(docs.size() + 1) {
        std::vector<i64> sizes;
        for (const i32 file : files) {
            struct stat status;
            if (::fstat(file, &status) != 0) throw std::system_error(errno, std::generic_category());
            sizes.push_back(static_cast<i64>(status.st_size) / 8);
        }
        const auto known = static_cast<u64>(std::min(starts.size(), lengths.size()));
        offsets_[0] = 0;
        for (std::size_t i = 0; i < docs.size(); ++i) {
            const i64 d = docs[i];
            if (static_cast<u64>(d) >= known) throw std::invalid_argument("docs must be numbers of documents");
            if (starts[d] < 0 || lengths[d] < 0) throw std::invalid_argument("a range begins at 0 or later");
            if (lengths[d] > 0) {
                const auto file = static_cast<u64>(starts[d] >> FILE_SHIFT);
                const i64 place = starts[d] & PLACE, size = file < sizes.size() ? sizes[file] : 0;
                if (place > size || lengths[d] > size - place) throw FileTooShort();
            }
            if (lengths[d] > std::numeric_limits<i64>::max() / 8 - offsets_[i]) throw std::bad_alloc();
            offsets_[i + 1] = offsets_[i] + lengths[d];
        }
    }

    std::size_t size() const { return docs_.size(); }
    std::span<const i64> offsets() const { return offsets_.span(); }
    Buffer<i64>&& take_offsets() { return std::move(offsets_); }

    // Reads one range.
    void read_one(std::size_t i, u64* out) const {
        read_from(starts_[docs_[i]], offsets_[i + 1] - offsets_[i], out);
    }

    // Reads ranges begin … end − 1 to their places in `out`, where all ranges are stored one after the other.
    void read(std::size_t begin, std::size_t end, u64* out) const {
        while (begin < end) {
            const i64 start = starts_[docs_[begin]];
            std::size_t next = begin + 1;
            while (next < end && starts_[docs_[next]] == start + (offsets_[next] - offsets_[begin])) ++next;
            read_from(start, offsets_[next] - offsets_[begin], out + offsets_[begin]);
            begin = next;
        }
    }

private:
    void read_from(i64 start, i64 count, u64* out) const {
        if (count > 0) read_values(files_[static_cast<u64>(start >> FILE_SHIFT)], start & PLACE, count, out);
    }

    std::span<const i32> files_;
    std::span<const i64> starts_, docs_;
    Buffer<i64> offsets_;
};

// Documents per chunk of a parallel loop, such that a chunk has about this many values.
inline std::size_t documents_per_chunk(std::span<const i64> offsets, i64 values) {
    const auto documents = static_cast<i64>(offsets.size()) - 1;
    if (documents <= 0) return 1;
    const i64 mean = std::max<i64>(1, (offsets[documents] - offsets[0]) / documents);
    return static_cast<std::size_t>(std::clamp<i64>(values / mean, 1, documents));
}

// Values that a thread reads before it takes more: a quarter of a megabyte.
inline constexpr i64 VALUES_PER_CHUNK = 1 << 15;

// The values of all ranges, one after the other. `loop(n, chunk, body)` runs a body over 0 … n − 1 on all threads.
template <typename Loop>
Buffer<u64> gather_file(const FileRanges& ranges, Loop&& loop) {
    Buffer<u64> out(static_cast<std::size_t>(ranges.offsets().back()));
    loop(ranges.size(), documents_per_chunk(ranges.offsets(), VALUES_PER_CHUNK),
         [&](std::size_t begin, std::size_t end, unsigned) { ranges.read(begin, end, out.data()); });
    return out;
}

}  // namespace roughly
