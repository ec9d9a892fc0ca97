-- Values as text, and what is inside of them. Nothing here runs code of the program: tables are read without their
-- metamethods, and what is long or has many items is shown in part, with the number of what is left out.

local D = ...
local type, next, rawget, rawequal, pairs = type, next, rawget, rawequal, pairs
local format, sub, gsub, byte, find, match = string.format, string.sub, string.gsub, string.byte, string.find, string.match
local concat, sort, floor, min = table.concat, table.sort, math.floor, math.min
local getmetatable, getinfo = debug.getmetatable, debug.getinfo
local math_type, status = math.type, coroutine.status
local rawlen = rawlen or function(value)
  return #value -- Lua 5.1 asks no metamethod of a table
end

local MAX_TEXT, MAX_BRIEF_TEXT = 2000, 100 -- bytes of a string
local PREVIEW, PREVIEW_SCAN = 8, 200 -- items of a table in its text, and keys that are looked at for them
local MAX_CHILDREN, MAX_SCAN = 1000, 1000000 -- the same for what is listed
local MAX_KEYS = 10000 -- that are put in order

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ['"'] = '\\"', ["\\"] = "\\\\" }

local KEYWORDS = {}
for word in
  ("and break do else elseif end false for function goto if in local nil not or repeat return then true until while")
    :gmatch("%a+")
do
  KEYWORDS[word] = true
end

local function escaped(character)
  return ESCAPES[character] or format("\\%03d", byte(character))
end

local function quoted(text, limit)
  local shown = text
  if #text > limit then
    while limit > 0 and byte(text, limit + 1) >= 0x80 and byte(text, limit + 1) < 0xC0 do
      limit = limit - 1 -- not within a character
    end
    shown = sub(text, 1, limit)
  end
  local whole = '"' .. gsub(shown, '[%c"\\]', escaped) .. '"'
  return #shown < #text and format("%s… (%d bytes)", whole, #text) or whole
end

local function number_text(value)
  if value ~= value then
    return "nan"
  end
  local whole = format("%.14g", value)
  if math_type == nil then
    return whole
  elseif math_type(value) == "integer" then
    return format("%d", value)
  end
  return find(whole, "^-?%d+$") and whole .. ".0" or whole
end

local function function_text(value)
  local info = getinfo(value, "S")
  if info.what == "C" then
    return "function: built-in"
  end
  return format("function: %s:%d", match(info.short_src, "[^/]*$"), info.linedefined)
end

-- The type of a value, which a metatable may have a name for.
local function kind_of(value)
  local kind = type(value)
  local meta = (kind == "table" or kind == "userdata") and getmetatable(value)
  local name = meta and rawget(meta, "__name")
  return type(name) == "string" and sub(name, 1, MAX_BRIEF_TEXT) or kind
end

local text_of

-- The text of a value within another one.
local function brief(value)
  if type(value) == "table" then
    return next(value) == nil and "{}" or "{…}"
  end
  return text_of(value, MAX_BRIEF_TEXT)
end

local function is_item(key, length)
  return type(key) == "number" and key >= 1 and key <= length and key == floor(key)
end

local RANKS = { string = 1, number = 2, boolean = 3 }

local function comes_first(one, other)
  local first, second = RANKS[type(one)] or 4, RANKS[type(other)] or 4
  if first ~= second then
    return first < second
  elseif first <= 2 then
    return one < other
  end
  return first == 3 and one and not other
end

-- The keys of a table that are not items of its sequence, in order; and whether there are more than were looked at.
local function keys_of(value, length, scan)
  local keys, seen = {}, 0
  for key in next, value do
    seen = seen + 1
    if seen > scan or #keys == MAX_KEYS then
      sort(keys, comes_first)
      return keys, true
    elseif not is_item(key, length) then
      keys[#keys + 1] = key
    end
  end
  sort(keys, comes_first)
  return keys, false
end

local function is_name(text)
  return find(text, "^[%a_][%w_]*$") ~= nil and not KEYWORDS[text]
end

local function key_text(key)
  if type(key) == "string" and is_name(key) then
    return key
  end
  return "[" .. brief(key) .. "]"
end

local function table_text(value)
  local parts, length = {}, rawlen(value)
  for number = 1, min(length, PREVIEW) do
    parts[number] = brief(rawget(value, number))
  end
  local left = length - #parts
  local keys, more = keys_of(value, length, PREVIEW_SCAN)
  for number = 1, #keys do
    if #parts < PREVIEW then
      parts[#parts + 1] = key_text(keys[number]) .. " = " .. brief(rawget(value, keys[number]))
    else
      left = left + 1
    end
  end
  if left > 0 or more then
    parts[#parts + 1] = more and left == 0 and "…" or format("… %d more%s", left, more and " or others" or "")
  end
  return "{" .. concat(parts, ", ") .. "}"
end

function text_of(value, limit)
  local kind = type(value)
  if kind == "string" then
    return quoted(value, limit or MAX_TEXT)
  elseif kind == "number" then
    return number_text(value)
  elseif kind == "table" then
    return table_text(value)
  elseif kind == "function" then
    return function_text(value)
  elseif kind == "thread" then
    return format("coroutine (%s)", status(value))
  elseif kind == "nil" then
    return "nil"
  elseif kind == "boolean" then
    return value and "true" or "false"
  end
  return kind_of(value)
end

-- --- What is inside --------------------------------------------------------------------------------------------------

-- The path of what a table has under a key; nil where no expression leads there.
local function path_to(parent, key)
  if parent == nil then
    return nil
  elseif type(key) == "string" then
    if is_name(key) then
      return parent .. "." .. key
    end
    return #key <= MAX_BRIEF_TEXT and format("%s[%s]", parent, quoted(key, MAX_BRIEF_TEXT)) or nil
  elseif type(key) == "number" or type(key) == "boolean" then
    return format("%s[%s]", parent, text_of(key))
  end
  return nil
end

local function has_children(value)
  return type(value) == "table" and (next(value) ~= nil or getmetatable(value) ~= nil)
end

-- A variable in the words of the DAP. `reference` gives a number to what has children.
function D.variable(name, value, path, reference)
  return {
    name = name,
    value = text_of(value),
    type = kind_of(value),
    evaluateName = path,
    variablesReference = has_children(value) and reference(value, path) or 0,
  }
end

-- Call `visit(name, key, value)` for what a table holds, items first; return how many were left out.
function D.children(value, visit)
  local length, seen = rawlen(value), 0
  for number = 1, min(length, MAX_CHILDREN) do
    visit(format("[%d]", number), number, rawget(value, number))
    seen = seen + 1
  end
  local keys, more = keys_of(value, length, MAX_SCAN)
  for number = 1, #keys do
    if seen == MAX_CHILDREN then
      break
    end
    visit(key_text(keys[number]), keys[number], rawget(value, keys[number]))
    seen = seen + 1
  end
  return length + #keys - seen, more
end

D.text_of, D.kind_of, D.path_to, D.is_name = text_of, kind_of, path_to, is_name
