-- Lookups in tables of longmatch through LuaJIT's FFI: LuaJIT, OpenResty, and other hosts of LuaJIT.
--
--   local longmatch = require("longmatch")
--   local table = assert(longmatch.open("sites.lm"))
--   table:get("10.1.2.3")                --> {site = "office", asn = 64500}, or nil
--   table:get("10.1.2.3", "site")        --> "office"
--   local id = table:lookup("10.1.2.3")  --> an id, or nil; it can be kept
--   table:cell(id, table:column("site")) --> "office"
--
-- A table is freed by the collector, or by close(). Numbers of 64 bits beyond 2^53 are cdata.
local ffi = require("ffi")
local bit = require("bit")

ffi.cdef [[
typedef struct lm_table lm_table;
typedef struct { uint32_t answers, columns; uint64_t rows, routes, bytes; } lm_info;
typedef struct { uint8_t prefix[16]; uint32_t id; uint8_t length, family, reserved[2]; } lm_match;
typedef struct { const char *name; size_t size; uint32_t kind, reserved; } lm_column;
typedef struct {
    uint32_t kind, reserved; uint64_t u64; int64_t i64; double f64; const char *text; size_t size;
} lm_cell;
const char *lm_strerror(int32_t status);
const char *lm_last_error(void);
const char *lm_version(void);
int32_t lm_open_file(const char *path, uint32_t flags, lm_table **table);
int32_t lm_open_memory(const void *bytes, size_t size, uint32_t flags, lm_table **table);
int32_t lm_reopen(const lm_table *table, lm_table **fresh);
int32_t lm_free(lm_table *table);
int32_t lm_table_info(const lm_table *table, lm_info *info, size_t size);
uint32_t lm_lookup4(const lm_table *table, uint32_t address);
uint32_t lm_lookup6(const lm_table *table, const void *address);
int32_t lm_lookup_bulk4n(const lm_table *table, const void *addresses, size_t stride, size_t count, uint32_t *ids);
int32_t lm_lookup_bulk6(const lm_table *table, const void *addresses, size_t stride, size_t count, uint32_t *ids);
int32_t lm_lookup_prefix4(const lm_table *table, uint32_t address, lm_match *match, size_t size);
int32_t lm_lookup_prefix6(const lm_table *table, const void *address, lm_match *match, size_t size);
int32_t lm_column_at(const lm_table *table, uint32_t number, lm_column *column, size_t size);
int32_t lm_column_find(const lm_table *table, const char *name, uint32_t *number);
int32_t lm_row(const lm_table *table, uint32_t id, uint32_t *row);
int32_t lm_cell_of(const lm_table *table, uint32_t id, uint32_t column, lm_cell *cell, size_t size);
int inet_pton(int family, const char *text, void *address);
const char *inet_ntop(int family, const void *address, char *text, uint32_t size);
]]

-- The soname: without the links of a development package.
local loaded, C = pcall(ffi.load, os.getenv("LONGMATCH_LIBRARY") or "liblongmatch.so.0", false)
if not loaded then
    error("liblongmatch is not installed, or not in the loader's path (LONGMATCH_LIBRARY names a file): " .. C)
end

local OK, NO_MATCH, UNCHANGED = 0, 1, 2
local NONE, ERROR = 0, 0xffffffff
local NULL_CELL, TEXT, U64, I64 = 0, 1, 2, 3
local AF_INET, AF_INET6 = 2, ({Linux = 10, OSX = 30, BSD = 28})[ffi.os] or 10
local EXACT = 2 ^ 53

local handle = ffi.typeof("lm_table *[1]")
local ids_type = ffi.typeof("uint32_t[?]")
-- Calls fill these in, and nothing between yields: each Lua state has its own.
local bytes = ffi.new("uint8_t[16]")
local name = ffi.new("char[46]")
local match, cell, number = ffi.new("lm_match[1]"), ffi.new("lm_cell[1]"), ffi.new("uint32_t[1]")

local function message()
    return ffi.string(C.lm_last_error())
end

-- A function of Lua: it keeps the library loaded until the last table is freed.
local function free(pointer)
    C.lm_free(pointer)
end

local Table = {}
Table.__index = Table

local function wrap(pointer)
    local own = setmetatable({handle = ffi.gc(pointer, free), columns = {}, numbers = {}}, Table)
    local info = ffi.new("lm_info[1]")
    if C.lm_table_info(pointer, info, ffi.sizeof("lm_info")) ~= OK then
        return nil, message()
    end
    own.rows, own.routes = tonumber(info[0].rows), tonumber(info[0].routes)
    local column = ffi.new("lm_column[1]")
    for i = 1, info[0].columns do
        if C.lm_column_at(pointer, i - 1, column, ffi.sizeof("lm_column")) ~= OK then
            return nil, message()
        end
        local found = ffi.string(column[0].name, column[0].size)
        own.columns[i] = found
        own.numbers[found] = i - 1
    end
    return own
end

local function opened(status, place)
    if status ~= OK then
        return nil, message()
    end
    return wrap(place[0])
end

local longmatch = {version = ffi.string(C.lm_version())}

-- Maps a compiled file; or nil and a message.
function longmatch.open(path)
    local place = handle()
    return opened(C.lm_open_file(path, 0, place), place)
end

-- A compiled table in a string, which is copied; or nil and a message.
function longmatch.from_string(content)
    local place = handle()
    return opened(C.lm_open_memory(content, #content, 0, place), place)
end

-- The table of the file that has the name of this one now, or nil where it is the same: `nil, message` after an error.
function Table:reopen()
    local place = handle()
    local status = C.lm_reopen(self:pointer(), place)
    if status == UNCHANGED then
        return nil
    end
    return opened(status, place)
end

-- Frees the table now; the collector does it otherwise. Its ids and texts stay: they are values of Lua.
function Table:close()
    if self.handle ~= nil then
        free(ffi.gc(self.handle, nil))
        self.handle = nil
    end
end

function Table:pointer()
    return self.handle or error("this table is closed", 3)
end

-- Reads the text of an address into `bytes`: its size, or nil.
local function parse(address)
    if type(address) ~= "string" then
        error("an address is a string, not a " .. type(address), 3)
    elseif #address > 45 or address:find("\0", 1, true) then
        return nil
    elseif C.inet_pton(AF_INET, address, bytes) == 1 then
        return 4
    elseif C.inet_pton(AF_INET6, address, bytes) == 1 then
        return 16
    end
    return nil
end

local function host()
    return bit.bor(bit.lshift(bytes[0], 24), bit.lshift(bytes[1], 16), bit.lshift(bytes[2], 8), bytes[3])
end

local function answer(id)
    if id == NONE then
        return nil
    elseif id == ERROR then
        error(message(), 3)
    end
    return id
end

-- The id of an address as text; nil where no prefix covers it, `nil, message` where the text is no address.
function Table:lookup(address)
    local size = parse(address)
    if size == 4 then
        return answer(C.lm_lookup4(self:pointer(), host()))
    elseif size == 16 then
        return answer(C.lm_lookup6(self:pointer(), bytes))
    end
    return nil, "not an IPv4 or IPv6 address: " .. address
end

-- The id of an address of 4 or 16 bytes in network order, such as ngx.var.binary_remote_addr.
function Table:binary(address)
    if #address == 4 then
        ffi.copy(bytes, address, 4)
        return answer(C.lm_lookup4(self:pointer(), host()))
    elseif #address == 16 then
        return answer(C.lm_lookup6(self:pointer(), address))
    end
    return nil, "a binary address has 4 or 16 bytes, not " .. #address
end

-- The id of an IPv4 address in host order: a number.
function Table:ipv4(address)
    return answer(C.lm_lookup4(self:pointer(), bit.tobit(address)))
end

-- The ids of `count` addresses of `size` bytes (4 or 16) in network order, one each `stride` bytes from a string or
-- cdata: a uint32_t array from 0 on, 0 where no prefix covers one. `ids` is such an array to use again.
function Table:batch(addresses, size, count, stride, ids)
    stride = stride or size
    if type(addresses) == "string" and count > 0 and (count - 1) * stride + size > #addresses then
        error("the string ends before address " .. count, 2)
    end
    ids = ids or ids_type(count)
    if ffi.sizeof(ids) < 4 * count then
        error("the array of ids is shorter than " .. count, 2)
    end
    local call = size == 4 and C.lm_lookup_bulk4n or size == 16 and C.lm_lookup_bulk6
        or error("addresses have 4 or 16 bytes", 2)
    if call(self:pointer(), addresses, stride, count, ids) ~= OK then
        error(message(), 2)
    end
    return ids
end

-- The longest prefix that covers an address as text, such as "10.0.0.0/8", and its id.
function Table:prefix(address)
    local size = parse(address)
    if size == nil then
        return nil, "not an IPv4 or IPv6 address: " .. address
    end
    local status
    if size == 4 then
        status = C.lm_lookup_prefix4(self:pointer(), host(), match, ffi.sizeof("lm_match"))
    else
        status = C.lm_lookup_prefix6(self:pointer(), bytes, match, ffi.sizeof("lm_match"))
    end
    if status == NO_MATCH then
        return nil
    elseif status ~= OK then
        error(message(), 2)
    end
    local found = match[0]
    local text = C.inet_ntop(found.family == 4 and AF_INET or AF_INET6, found.prefix, name, 46)
    return ffi.string(text) .. "/" .. found.length, found.id
end

-- The number of a column by its name, from 0 on; or nil and a message.
function Table:column(column)
    local found = self.numbers[column]
    if found == nil then
        return nil, "no column " .. tostring(column) .. " in: " .. table.concat(self.columns, ", ")
    end
    return found
end

-- The number of the row of an id: equal rows have one number, under which a program keeps what it makes of a row.
function Table:row(id)
    if C.lm_row(self:pointer(), id, number) ~= OK then
        error(message(), 2)
    end
    return number[0]
end

-- The cell of an id in a column by its number: a string, a number, cdata of 64 bits, or nil.
function Table:cell(id, column)
    if C.lm_cell_of(self:pointer(), id, column, cell, ffi.sizeof("lm_cell")) ~= OK then
        error(message(), 2)
    end
    local found = cell[0]
    local kind = found.kind
    if kind == NULL_CELL then
        return nil
    elseif kind == TEXT then
        return ffi.string(found.text, found.size)
    elseif kind ~= U64 and kind ~= I64 then
        return found.f64
    end
    local whole = kind == U64 and found.u64 or found.i64
    local float = tonumber(whole)
    return float < EXACT and float > -EXACT and float or whole
end

-- The cells of an address as text by the names of columns, or the cell of one; nil where no prefix covers it.
function Table:get(address, column)
    local id, refused = self:lookup(address)
    if id == nil then
        return nil, refused
    elseif column ~= nil then
        return self:cell(id, self.numbers[column] or error("no column " .. tostring(column), 2))
    end
    local row = {}
    for i, found in ipairs(self.columns) do
        row[found] = self:cell(id, i - 1)
    end
    return row
end

return longmatch
