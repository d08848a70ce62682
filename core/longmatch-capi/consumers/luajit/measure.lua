-- measure.lua TABLE MMDB COLUMN ADDRESSES [ROUNDS]: lookups a second of the same field in a table of longmatch and in an
-- mmdb file of the same routes, with libmaxminddb through the FFI. ADDRESSES has an IPv4 or IPv6 address on each line.
--
-- `id` ends with the id of the row (an mmdb file: with the entry's offset); `cell` reads the field, and makes a Lua
-- value of it; `text` begins with the text of an address, the others with its bytes. Passes of both alternate, and all
-- fields are compared first.
local longmatch = require("longmatch")
local ffi = require("ffi")
ffi.cdef [[
typedef struct { void *mmdb; uint32_t offset; } MMDB_entry;
typedef struct { bool found; MMDB_entry entry; uint16_t netmask; } MMDB_result;
// Of libmaxminddb 1.x: values of 16 bytes, aligned.
typedef struct __attribute__((aligned(16))) {
    bool has_data; uint8_t pad[15];
    union { uint32_t u32; uint64_t u64; double f64; const char *text; uint8_t bytes[16]; };
    uint32_t offset, next, size, kind;
} MMDB_data;
int MMDB_open(const char *path, uint32_t flags, void *mmdb);
MMDB_result MMDB_lookup_sockaddr(const void *mmdb, const void *address, int *error);
int MMDB_aget_value(const MMDB_entry *start, MMDB_data *data, const char *const *path);
const char *MMDB_strerror(int error);
struct address4 { uint16_t family, port; uint8_t address[4], zero[8]; };
struct address6 { uint16_t family, port; uint32_t flow; uint8_t address[16]; uint32_t scope; };
]]
local M = ffi.load("libmaxminddb.so.0")
local path, mmdb_path, column, list = arg[1], arg[2], arg[3], arg[4]
local rounds = tonumber(arg[5] or "7")

local lm = assert(longmatch.open(path))
local number = assert(lm:column(column))
local mmdb = ffi.new("uint8_t[4096]")
local status = M.MMDB_open(mmdb_path, 1, mmdb)
assert(status == 0, mmdb_path .. ": " .. ffi.string(M.MMDB_strerror(status)))
local texts, binaries = {}, {}
for line in io.lines(list) do
    local bytes = ffi.new("uint8_t[16]")
    local size = ffi.C.inet_pton(2, line, bytes) == 1 and 4 or ffi.C.inet_pton(10, line, bytes) == 1 and 16 or error(line)
    texts[#texts + 1], binaries[#binaries + 1] = line, ffi.string(bytes, size)
end

local a4, a6 = ffi.new("struct address4", {family = 2}), ffi.new("struct address6", {family = 10})
local failed, data = ffi.new("int[1]"), ffi.new("MMDB_data[1]")
local keys = ffi.new("const char *[2]")
keys[0] = column
local scratch = ffi.new("uint8_t[16]")

local function mmdb_find(bytes)
    if #bytes == 4 then
        ffi.copy(a4.address, bytes, 4)
        return M.MMDB_lookup_sockaddr(mmdb, a4, failed)
    end
    ffi.copy(a6.address, bytes, 16)
    return M.MMDB_lookup_sockaddr(mmdb, a6, failed)
end

local function mmdb_cell(result)
    if not result.found or M.MMDB_aget_value(result.entry, data, keys) ~= 0 or not data[0].has_data then
        return nil
    end
    local kind = data[0].kind
    if kind == 2 then
        return ffi.string(data[0].text, data[0].size)
    end
    return kind == 3 and data[0].f64 or kind == 9 and tonumber(data[0].u64) or data[0].u32
end

local function mmdb_text(text)
    if ffi.C.inet_pton(2, text, scratch) == 1 then
        return mmdb_cell(mmdb_find(ffi.string(scratch, 4)))
    end
    ffi.C.inet_pton(10, text, scratch)
    return mmdb_cell(mmdb_find(ffi.string(scratch, 16)))
end

local cases = {
    {"id", binaries, function(bytes) return lm:binary(bytes) end,
        function(bytes) return mmdb_find(bytes).entry.offset end},
    {"cell", binaries, function(bytes)
        local id = lm:binary(bytes)
        return id and lm:cell(id, number)
    end, function(bytes) return mmdb_cell(mmdb_find(bytes)) end},
    {"text", texts, function(text) return lm:get(text, column) end, mmdb_text},
}
for case = 2, 3 do
    local _, items, ours, theirs = unpack(cases[case])
    for i, item in ipairs(items) do
        assert(ours(item) == theirs(item), texts[i] .. ": " .. tostring(ours(item)) .. ", mmdb " .. tostring(theirs(item)))
    end
end
print(#texts .. " addresses: equal fields")

local function pass(items, call)
    local start, sink = os.clock(), nil
    for i = 1, #items do
        sink = call(items[i]) or sink
    end
    return #items / (os.clock() - start) / 1e6, sink
end

local function median(values)
    table.sort(values)
    return ("%.2f (%.2f-%.2f)"):format(values[math.floor(#values / 2) + 1], values[1], values[#values])
end

for _, case in ipairs(cases) do
    local ours, theirs, ratios = {}, {}, {}
    for round = 1, rounds do
        ours[round], theirs[round] = (pass(case[2], case[3])), (pass(case[2], case[4]))
        ratios[round] = ours[round] / theirs[round]
    end
    print(("%s: longmatch %s, mmdb %s M/s, ratio %s"):format(case[1], median(ours), median(theirs), median(ratios)))
end
local joined = {[4] = {}, [16] = {}}
for _, bytes in ipairs(binaries) do
    table.insert(joined[#bytes], bytes)
end
for size, parts in pairs(joined) do
    local all, rates, ids = table.concat(parts), {}, ffi.new("uint32_t[?]", #parts + 1)
    for round = 1, #parts > 0 and rounds or 0 do
        local start = os.clock()
        lm:batch(all, size, #parts, size, ids)
        rates[round] = #parts / (os.clock() - start) / 1e6
    end
    if #parts > 0 then
        print(("batch of %d addresses of %d bytes: longmatch %s M/s"):format(#parts, size, median(rates)))
    end
end
