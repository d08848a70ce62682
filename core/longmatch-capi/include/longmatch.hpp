// longmatch.h for C++17: handles that free themselves, exceptions, optional answers. Header only.
//
// A lookup throws only on misuse. The rules for threads are those of longmatch.h.
#ifndef LONGMATCH_HPP
#define LONGMATCH_HPP

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "longmatch.h"

namespace longmatch {

/// An error with its status; what() says what is wrong.
class error : public std::runtime_error {
public:
    explicit error(lm_status status) : std::runtime_error(lm_last_error()), status_(status) {}
    lm_status status() const noexcept { return status_; }

private:
    lm_status status_;
};

namespace detail {
inline lm_status check(lm_status status) {
    if (status >= LM_E_NULL) throw error(status);
    return status;
}
struct freed {
    void operator()(lm_table *table) const noexcept { lm_free(table); }
    void operator()(lm_writer *writer) const noexcept { lm_writer_free(writer); }
    void operator()(lm_reader *reader) const noexcept { lm_reader_free(reader); }
};
} // namespace detail

/// A borrowed array, as std::span of C++20: of a pointer and a count, or of anything with data() and size().
template <typename T> class span {
public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <typename C, typename = std::enable_if_t<
                              std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &&items) noexcept : data_(items.data()), size_(items.size()) {}
    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/// A cell of a row: nothing, text that lives as long as its table, or a number.
using cell = std::variant<std::monostate, std::string_view, std::uint64_t, std::int64_t, double>;

/// The lookups of a table that something else owns.
class view {
public:
    explicit view(const lm_table *table) noexcept : table_(table) {}

    /// The id of an IPv4 address in host order.
    std::optional<std::uint32_t> lookup(std::uint32_t address) const {
        return answer(lm_lookup4(table_, address));
    }
    /// The id of an IPv6 address in network order.
    std::optional<std::uint32_t> lookup(const std::array<std::uint8_t, 16> &address) const {
        return answer(lm_lookup6(table_, address.data()));
    }
    /// The ids of IPv4 addresses in host order; 0 is no match.
    void lookup(span<const std::uint32_t> addresses, span<std::uint32_t> ids) const {
        fits(addresses.size(), ids.size());
        detail::check(lm_lookup_bulk4(table_, addresses.data(), 4, addresses.size(), ids.data()));
    }
    /// The ids of IPv6 addresses in network order; 0 is no match.
    void lookup(span<const std::array<std::uint8_t, 16>> addresses, span<std::uint32_t> ids) const {
        fits(addresses.size(), ids.size());
        detail::check(lm_lookup_bulk6(table_, addresses.data(), 16, addresses.size(), ids.data()));
    }
    /// The longest prefix that covers an IPv4 address in host order.
    std::optional<lm_match> prefix(std::uint32_t address) const {
        lm_match match;
        bool found = detail::check(lm_lookup_prefix4(table_, address, &match, sizeof match)) == LM_OK;
        return found ? std::optional(match) : std::nullopt;
    }
    /// The longest prefix that covers an IPv6 address in network order.
    std::optional<lm_match> prefix(const std::array<std::uint8_t, 16> &address) const {
        lm_match match;
        bool found = detail::check(lm_lookup_prefix6(table_, address.data(), &match, sizeof match)) == LM_OK;
        return found ? std::optional(match) : std::nullopt;
    }
    /// The numbers of the table.
    lm_info info() const {
        lm_info info;
        detail::check(lm_table_info(table_, &info, sizeof info));
        return info;
    }
    /// The number of a column.
    std::uint32_t column(const std::string &name) const {
        std::uint32_t number;
        detail::check(lm_column_find(table_, name.c_str(), &number));
        return number;
    }
    /// The cell of a column in the row that an id leads to.
    longmatch::cell cell(std::uint32_t id, std::uint32_t column) const {
        lm_cell found;
        detail::check(lm_cell_of(table_, id, column, &found, sizeof found));
        switch (found.kind) {
        case LM_TEXT: return std::string_view(found.text, found.size);
        case LM_U64: return found.u64;
        case LM_I64: return found.i64;
        case LM_F64: return found.f64;
        default: return std::monostate();
        }
    }
    const lm_table *get() const noexcept { return table_; }

private:
    static std::optional<std::uint32_t> answer(std::uint32_t id) {
        // Each misuse of a single lookup is one of the handle or its thread.
        if (id == LM_ERROR) throw error(LM_E_HANDLE);
        return id == LM_NONE ? std::nullopt : std::optional(id);
    }
    static void fits(std::size_t addresses, std::size_t ids) {
        if (ids < addresses) throw std::invalid_argument("there are fewer places for ids than addresses");
    }
    const lm_table *table_;
};

/// Routes of a family for tables of arrays: N is 4 or 16, the bytes of an address.
template <std::size_t N> class routes {
public:
    void add(const std::array<std::uint8_t, N> &prefix, std::uint8_t length, std::uint32_t id) {
        prefixes_.push_back(prefix);
        lengths_.push_back(length);
        ids_.push_back(id);
    }
    lm_routes get() const noexcept { return {prefixes_.data(), lengths_.data(), ids_.data(), ids_.size()}; }

private:
    std::vector<std::array<std::uint8_t, N>> prefixes_;
    std::vector<std::uint8_t> lengths_;
    std::vector<std::uint32_t> ids_;
};

/// A table that frees itself.
class table : public view {
public:
    /// Takes a handle over.
    explicit table(lm_table *handle) noexcept : view(handle), handle_(handle) {}

    static table open(const std::string &path, std::uint32_t flags = 0) {
        lm_table *made;
        detail::check(lm_open_file(path.c_str(), flags, &made));
        return table(made);
    }
    static table of_memory(span<const std::uint8_t> bytes, std::uint32_t flags = 0) {
        lm_table *made;
        detail::check(lm_open_memory(bytes.data(), bytes.size(), flags, &made));
        return table(made);
    }
    static table build(const routes<4> &ipv4, const routes<16> &ipv6, std::uint32_t flags = 0) {
        lm_table *made;
        const lm_routes four = ipv4.get(), six = ipv6.get();
        detail::check(lm_build(&four, &six, sizeof four, flags, &made));
        return table(made);
    }
    /// The file that has the table's name now, if it is another one.
    std::optional<table> reopened() const {
        lm_table *made;
        bool fresh = detail::check(lm_reopen(get(), &made)) == LM_OK;
        return fresh ? std::optional<table>(table(made)) : std::nullopt;
    }

private:
    std::unique_ptr<lm_table, detail::freed> handle_;
};

/// A reader of a live table, for one thread at a time.
class reader {
public:
    explicit reader(lm_reader *handle) noexcept : handle_(handle) {}
    /// Lookups, while the reader is online.
    view table() const noexcept { return view(lm_reader_table(handle_.get())); }
    void online() { detail::check(lm_reader_online(handle_.get())); }
    void quiescent() { detail::check(lm_reader_quiescent(handle_.get())); }
    void offline() { detail::check(lm_reader_offline(handle_.get())); }

private:
    std::unique_ptr<lm_reader, detail::freed> handle_;
};

/// The writer of a live table.
class writer {
public:
    explicit writer(const routes<4> &ipv4 = {}, const routes<16> &ipv6 = {}, std::uint32_t flags = 0) {
        lm_writer *made;
        const lm_routes four = ipv4.get(), six = ipv6.get();
        detail::check(lm_writer_new(&four, &six, sizeof four, flags, &made));
        handle_.reset(made);
    }
    template <std::size_t N>
    void add(const std::array<std::uint8_t, N> &prefix, std::uint8_t length, std::uint32_t id) {
        detail::check(lm_writer_add(handle_.get(), family<N>(), prefix.data(), length, id));
    }
    /// Whether the route was there.
    template <std::size_t N> bool remove(const std::array<std::uint8_t, N> &prefix, std::uint8_t length) {
        return detail::check(lm_writer_remove(handle_.get(), family<N>(), prefix.data(), length)) == LM_OK;
    }
    void commit() { detail::check(lm_writer_commit(handle_.get())); }
    void roll_back() { detail::check(lm_writer_roll_back(handle_.get())); }
    longmatch::reader reader() {
        lm_reader *made;
        detail::check(lm_reader_new(handle_.get(), &made));
        return longmatch::reader(made);
    }

private:
    template <std::size_t N> static constexpr std::uint8_t family() {
        static_assert(N == 4 || N == 16, "a prefix has 4 or 16 bytes");
        return N == 4 ? LM_IPV4 : LM_IPV6;
    }
    std::unique_ptr<lm_writer, detail::freed> handle_;
};

} // namespace longmatch

#endif
