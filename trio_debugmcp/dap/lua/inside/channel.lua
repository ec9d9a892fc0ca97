-- The line to the debugger: messages as JSON out of the program, requests as tables of Lua into it.
-- Both go through FIFOs in a directory of the debugger's. Beside them, a file there says to a running program that
-- there is something to read: a hook looks for it from time to time.

local D = ...
local type, pairs, tostring, assert = type, pairs, tostring, assert
local format, gsub, byte, concat = string.format, string.gsub, string.byte, table.concat
local open, remove, exit, load = io.open, os.remove, os.exit, loadstring or load
local huge = math.huge

local requests = assert(open(D.directory .. "/requests", "r"))
local events = assert(open(D.directory .. "/events", "w"))
local marker, interrupted = D.directory .. "/wanted", D.directory .. "/interrupt"
local read, write, flush, close = requests.read, events.write, events.flush, requests.close

D.EMPTY = {} -- a list; other empty tables are objects

local function escaped(character)
  return format("\\u%04x", byte(character))
end

local encode

local function encoded_table(value)
  local parts = {}
  if value == D.EMPTY or value[1] ~= nil then
    for number = 1, #value do
      parts[number] = encode(value[number])
    end
    return "[" .. concat(parts, ",") .. "]"
  end
  for name, member in pairs(value) do
    parts[#parts + 1] = encode(name) .. ":" .. encode(member)
  end
  return "{" .. concat(parts, ",") .. "}"
end

function encode(value)
  local kind = type(value)
  if kind == "string" then
    return '"' .. gsub(value, '[%c"\\]', escaped) .. '"'
  elseif kind == "table" then
    return encoded_table(value)
  elseif kind == "number" then
    assert(value == value and value < huge and value > -huge)
    return format("%d", value)
  end
  return tostring(value)
end

-- Send a message; where the debugger is gone, the system ends the program.
function D.send(message)
  write(events, encode(message), "\n")
  flush(events)
end

-- Wait for a request. The debugger writes each as a table in a line of its own.
function D.receive()
  local line = read(requests, "*l")
  if line == nil then
    exit(1) -- the debugger is gone, and a program that it has launched ends with it
  end
  local request = load("return " .. line)()
  if request.announced then
    remove(marker)
  end
  return request
end

-- Whether what is evaluated for a request is to end: the debugger has written the number of the request into a file.
function D.is_interrupted(number)
  local file = open(interrupted, "r")
  if file == nil then
    return false
  end
  local meant = read(file, "*n")
  close(file)
  remove(interrupted)
  return meant == number
end

-- Whether the debugger has something for a program that runs, which the file said before it was written.
function D.is_wanted()
  local file = open(marker, "r")
  if file == nil then
    return false
  end
  close(file)
  return true
end
