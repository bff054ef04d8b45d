// Lines of a file, read by ranges of bytes: every thread reads ranges of its own.
//
// The lines of a range start … stop are those that begin in it; the last one may end beyond it. So the ranges of a file
// share its lines out between them, whatever their size. A line without an end within `longest` bytes is too long: it is
// not read, but counted.
//
// | name   | meaning                                              |
// |--------|------------------------------------------------------|
// | begin  | where the first line of the range begins in the file |
// | data   | the lines, one after another                         |
// | ends   | where each line ends in `data`, its feed included    |
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.hpp"
#include "lines.hpp"
#include "line_block.hpp"
#include "words.hpp"

namespace roughly {

// A file that is open for reading, with its size and the time of its last change.
class InputFile {
public:
    explicit InputFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat status;
        if (file_ < 0) throw std::system_error(errno, std::generic_category());
        if (::fstat(file_, &status) != 0) {
            const int error = errno;
            ::close(file_);
            throw std::system_error(error, std::generic_category());
        }
        size_ = static_cast<u64>(status.st_size);
#if defined(__APPLE__)
        changed_ = i64{status.st_mtimespec.tv_sec} * 1'000'000'000 + status.st_mtimespec.tv_nsec;
#else
        changed_ = i64{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
#endif
    }
    ~InputFile() { ::close(file_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    u64 size() const { return size_; }
    i64 changed() const { return changed_; }

    // Up to `count` bytes from `at` on; fewer only at the end of the file.
    u64 read(u64 at, u64 count, u8* out) const {
        u64 done = 0;
        while (done < count) {
            const ssize_t got = ::pread(file_, out + done, count - done, static_cast<off_t>(at + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw std::system_error(errno, std::generic_category());
            if (got == 0) break;
            done += static_cast<u64>(got);
        }
        return done;
    }

private:
    int file_;
    u64 size_ = 0;
    i64 changed_ = 0;
};

struct LinesOfRange {
    Buffer<u8> data;
    std::vector<i64> ends;
    u64 begin = 0;
    bool too_long = false;  // whether one more line begins behind these
};

// The lines that begin in start … stop of the file. `first` is where the file's first line begins.
inline LinesOfRange read_line_range(const InputFile& file, u64 first, u64 start, u64 stop, u64 longest) {
    constexpr u64 STEP = u64{1} << 16;
    LinesOfRange lines;
    stop = std::min(stop, file.size());
    const u64 from = start > first ? start - 1 : start;  // a line that begins at `start` has a feed before it
    if (from >= stop) return lines;
    lines.data = Buffer<u8>(stop - from + STEP);
    u64 size = file.read(from, stop - from, lines.data.data());
    u64 skip = 0;
    if (from < start) {
        const void* feed = std::memchr(lines.data.data(), '\n', size);
        skip = feed == nullptr ? size : static_cast<u64>(static_cast<const u8*>(feed) - lines.data.data()) + 1;
    }
    lines.begin = from + skip;
    if (skip == size) {  // no line begins here
        lines.data.truncate(0);
        return lines;
    }
    u8* p = lines.data.data();
    lines.ends = line_ends({p + skip, size - skip});
    if (p[size - 1] != '\n') {  // the last line goes on
        const u64 last = lines.ends.size() > 1 ? skip + static_cast<u64>(lines.ends[lines.ends.size() - 2]) : skip;
        for (u64 step = STEP;; step *= 2) {
            if (lines.data.size() < size + step) lines.data.resize(size + step);
            p = lines.data.data();
            const u64 got = file.read(from + size, step, p + size);
            const void* feed = std::memchr(p + size, '\n', got);
            const u64 more = feed == nullptr ? got : static_cast<u64>(static_cast<const u8*>(feed) - (p + size)) + 1;
            size += more;
            if (size - last > longest) {
                lines.too_long = true;
                lines.ends.pop_back();
                size = last;
                break;
            }
            if (feed != nullptr || got < step) {
                lines.ends.back() = static_cast<i64>(size - skip);
                break;
            }
        }
    }
    size -= skip;
    if (skip > 0) std::memmove(p, p + skip, size);
    lines.data.truncate(size);
    return lines;
}

struct ChosenLines {
    Buffer<u8> data;
    Buffer<i64> ends;
    bool changed = false;  // whether a block is not what it was
};

// The lines with these row numbers, ascending, that lie in these blocks.
inline ChosenLines read_chosen_lines(const InputFile& file, std::span<const LineBlock> blocks,
                                     std::span<const i64> rows) {
    ChosenLines lines{Buffer<u8>(), Buffer<i64>(rows.size()), false};
    Buffer<u8> block;
    u64 kept = 0, next = 0;
    for (const auto& [first_row, count, offset, nbytes] : blocks) {
        block.resize(static_cast<u64>(nbytes));
        const u8* const p = block.data();
        const u64 size = file.read(static_cast<u64>(offset), static_cast<u64>(nbytes), block.data());
        if (kept + size > lines.data.size()) lines.data.resize(kept + size);
        i64 row = first_row;
        for (u64 at = 0; at < size; row++) {
            const void* feed = std::memchr(p + at, '\n', size - at);
            const u64 end = feed == nullptr ? size : static_cast<u64>(static_cast<const u8*>(feed) - p) + 1;
            if (next < rows.size() && rows[next] == row) {
                std::memcpy(lines.data.data() + kept, p + at, end - at);
                kept += end - at;
                lines.ends[next++] = static_cast<i64>(kept);
            }
            at = end;
        }
        lines.changed |= size != static_cast<u64>(nbytes) || row != first_row + count;
    }
    lines.changed |= next != rows.size();
    lines.data.truncate(kept);
    return lines;
}

}  // namespace roughly
