// longmatch.hpp. The argument is the compiled file of columns.c.
#include <cassert>

#include "longmatch.hpp"
#include "test.h"

template <typename F> static lm_status status_of(F call) {
    try {
        call();
    } catch (const longmatch::error &error) {
        CHECK(*error.what());
        return error.status();
    }
    return LM_OK;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    const std::array<std::uint8_t, 16> inside{0x20, 0x01, 0x0d, 0xb8, 0, 9};
    auto file = longmatch::table::open(argv[1]);
    auto id = file.lookup(HOST(10, 1, 1, 1));
    CHECK(id && !file.lookup(HOST(11, 1, 1, 1)) && file.lookup(inside));
    CHECK(std::get<std::string_view>(file.cell(*id, file.column("site"))) == "office");
    CHECK(std::get<std::uint64_t>(file.cell(*id, file.column("asn"))) == 64500);
    CHECK(file.prefix(inside)->length == 48 && !file.prefix(HOST(11, 1, 1, 1)));
    CHECK(status_of([&] { file.column("absent"); }) == LM_E_INDEX);
    CHECK(status_of([&] { longmatch::table::open("absent.lm"); }) == LM_E_IO);
    CHECK(!file.reopened());
    longmatch::table moved = std::move(file);
    CHECK(moved.info().columns == 4);

    longmatch::routes<4> ipv4;
    longmatch::routes<16> ipv6;
    ipv4.add({10, 0, 0, 0}, 8, 1);
    ipv6.add(inside, 48, 4);
    auto arrays = longmatch::table::build(ipv4, ipv6);
    std::vector<std::uint32_t> addresses{HOST(10, 1, 1, 1), HOST(11, 1, 1, 1)};
    std::array<std::uint32_t, 2> ids{};
    arrays.lookup(addresses, ids);
    CHECK(ids[0] == 1 && ids[1] == LM_NONE);
    std::array<std::array<std::uint8_t, 16>, 1> six{inside};
    arrays.lookup(six, ids);
    CHECK(ids[0] == 4);

    longmatch::writer writer(ipv4, ipv6);
    auto reader = writer.reader();
    CHECK(status_of([&] { reader.quiescent(); }) == LM_E_OFFLINE);
    reader.online();
    writer.add(std::array<std::uint8_t, 4>{10, 9, 0, 0}, 16, 2);
    writer.commit();
    CHECK(reader.table().lookup(HOST(10, 9, 1, 1)) == 2u);
    CHECK(writer.remove(std::array<std::uint8_t, 4>{10, 9, 0, 0}, 16));
    CHECK(!writer.remove(std::array<std::uint8_t, 4>{10, 9, 0, 0}, 16));
    writer.commit();
    reader.quiescent();
    CHECK(reader.table().lookup(HOST(10, 9, 1, 1)) == 1u);
    reader.offline();
    return 0;
}
