-- test.lua TABLE OTHER ANSWERS: compares lookups with expected ones: lines `ADDRESS|PREFIX|SITE|ASN|BALANCE|LATITUDE`, a
-- prefix of `-` where none covers the address, empty cells where they are none. OTHER replaces TABLE.
local longmatch = require("longmatch")
local ffi = require("ffi")
local path, other, answers = arg[1], arg[2], arg[3]

local function fails(text, call, ...)
    local passed, message = pcall(call, ...)
    assert(not passed and tostring(message):find(text, 1, true), tostring(message))
end

local function shown(cell)
    if type(cell) == "number" then
        local short = ("%.15g"):format(cell)
        return tonumber(short) == cell and short or ("%.17g"):format(cell)
    end
    return cell == nil and "" or tostring(cell):gsub("U?LL$", "")
end

local function binary(address)
    local bytes = ffi.new("uint8_t[16]")
    if ffi.C.inet_pton(2, address, bytes) == 1 then
        return ffi.string(bytes, 4)
    end
    assert(ffi.C.inet_pton(10, address, bytes) == 1, address)
    return ffi.string(bytes, 16)
end

local opened = assert(longmatch.open(path))
local file = assert(io.open(path, "rb"))
local copy = assert(longmatch.from_string(file:read("*a")))
file:close()
local columns = {}
for _, name in ipairs({"site", "asn", "balance", "latitude"}) do
    columns[#columns + 1] = assert(opened:column(name))
end

local batches, count, found = {[4] = {}, [16] = {}}, 0, 0
for line in io.lines(answers) do
    local address, prefix, cells = line:match("^([^|]*)|([^|]*)|(.*)$")
    local id = opened:lookup(address)
    local bytes = binary(address)
    assert(id == opened:binary(bytes) and id == copy:lookup(address), address)
    assert((opened:prefix(address) or "-") == prefix, address)
    if id == nil then
        assert(prefix == "-" and opened:get(address) == nil, address)
    else
        local row, own = opened:get(address), {}
        for i, column in ipairs(columns) do
            own[i] = shown(opened:cell(id, column))
            assert(own[i] == shown(row[opened.columns[column + 1]]), address)
        end
        assert(table.concat(own, "|") == cells, address .. ": " .. table.concat(own, "|") .. ", not " .. cells)
        assert(opened:row(id) < opened.rows)
        found = found + 1
    end
    table.insert(batches[#bytes], {bytes, id or 0})
    count = count + 1
end
assert(count > 1000 and found > count / 4 and found < count, "the answers are a test")
for size, batch in pairs(batches) do
    local all = {}
    for i, item in ipairs(batch) do
        all[i] = item[1] .. "pad" -- Headers around addresses.
    end
    local ids = opened:batch(table.concat(all), size, #batch, size + 3)
    for i, item in ipairs(batch) do
        assert(ids[i - 1] == item[2], i)
    end
end

-- Wrong calls.
local none, message = longmatch.open(path .. ".none")
assert(none == nil and message:find(path .. ".none", 1, true), message)
none, message = longmatch.from_string("no table")
assert(none == nil and #message > 0)
for _, text in ipairs({"", "10.0.0", "10.0.0.0.1", "fe80::1%1", "10.0.0.1\0", ("1"):rep(99)}) do
    none, message = opened:lookup(text)
    assert(none == nil and message:find("not an IPv4 or IPv6 address", 1, true), text)
end
assert(select(2, opened:binary("123")):find("4 or 16 bytes", 1, true))
assert(select(2, opened:column("city")):find("site, asn", 1, true))
fails("an address is a string", opened.lookup, opened, 7)
fails("no column city", opened.get, opened, "10.0.0.1", "city")
fails("before address 3", opened.batch, opened, ("x"):rep(8), 4, 3)
fails("4 or 16 bytes", opened.batch, opened, ("x"):rep(10), 5, 2)
fails("shorter than 2", opened.batch, opened, ("x"):rep(8), 4, 2, 4, ffi.new("uint32_t[1]"))
fails("the id is none of the table", opened.cell, opened, 2 ^ 30 - 1, 0)

-- Another file under the name; the old table stays.
assert(opened:reopen() == nil)
local before = opened:get("10.1.2.3", "site")
assert(os.rename(other, path))
local fresh = assert(opened:reopen())
assert(opened:get("10.1.2.3", "site") == before and fresh:get("10.1.2.3", "site") == "other " .. before)

-- Tables that the collector frees, and one that is closed twice.
for _ = 1, 200 do
    assert(longmatch.open(path):get("10.1.2.3", "site") == "other " .. before)
end
collectgarbage()
collectgarbage()
fresh:close()
fresh:close()
fails("closed", fresh.lookup, fresh, "10.1.2.3")
print(count .. " addresses")
