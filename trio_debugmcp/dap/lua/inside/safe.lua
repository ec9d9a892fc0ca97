-- Expressions without calls: names, members, constant indices, and one comparison of these. What they lead to is read
-- as Lua would read it, through metatables too, but where that would call a function of the program it is refused.

local D = ...
local type, rawget, rawequal, tonumber = type, rawget, rawequal, tonumber
local match, sub, format = string.match, string.sub, string.format
local getmetatable = debug.getmetatable

local MAX_STEPS = 100 -- from one `__index` to the next

local CONSTANTS = { ["nil"] = { n = 0 }, ["true"] = { value = true }, ["false"] = { value = false } }

local function metamethod(value, name)
  local meta = getmetatable(value)
  return meta and rawget(meta, name)
end

-- What is under a key; or nil and why not.
local function member(value, key)
  for _ = 1, MAX_STEPS do
    if type(value) == "table" then
      local found = rawget(value, key)
      if found ~= nil then
        return found
      end
    end
    local index = metamethod(value, "__index")
    if index == nil then
      if type(value) == "table" then
        return nil
      end
      return nil, format("attempt to index a %s value", type(value))
    elseif type(index) == "function" then
      return nil, "it needs a call of __index"
    end
    value = index
  end
  return nil, "its __index has no end"
end

local function name_value(frame, name)
  local kind, index = D.place_of(frame, name)
  if kind then
    return D.read(frame, kind, index)
  end
  return member(D.globals_of(frame), name)
end

-- The first key in a text that follows a name, and the text behind it.
local function next_key(text)
  local name, rest = match(text, "^%s*%.%s*([%a_][%w_]*)%s*(.*)$")
  if name then
    return name, rest
  end
  local digits, behind = match(text, "^%s*%[%s*(%d+)%s*%]%s*(.*)$")
  if digits then
    return tonumber(digits), behind
  end
  local _, quoted, left = match(text, "^%s*%[%s*(['\"])([^'\"\\]*)%1%s*%]%s*(.*)$")
  return quoted, left
end

-- The value of one operand, the text behind it, and what is wrong.
local function operand(frame, text)
  local digits, behind = match(text, "^%s*(%-?%d+%.?%d*)%s*(.*)$")
  if digits then
    return tonumber(digits), behind
  end
  local _, quoted, left = match(text, "^%s*(['\"])([^'\"\\]*)%1%s*(.*)$")
  if quoted then
    return quoted, left
  end
  local name, rest = match(text, "^%s*([%a_][%w_]*)%s*(.*)$")
  if name == nil then
    return nil, text, "this is no expression without calls"
  elseif CONSTANTS[name] then
    return CONSTANTS[name].value, rest
  end
  local value, problem = name_value(frame, name)
  local key, further = next_key(rest)
  while key ~= nil and problem == nil do
    rest = further
    value, problem = member(value, key)
    key, further = next_key(rest)
  end
  return value, rest, problem
end

local function equal(one, other)
  if rawequal(one, other) then
    return true
  elseif type(one) == type(other) and (metamethod(one, "__eq") or metamethod(other, "__eq")) and type(one) ~= "string" then
    return nil, "it needs a call of __eq"
  end
  return false
end

local function ordered(one, operator, other)
  local kind = type(one)
  if kind ~= type(other) or (kind ~= "number" and kind ~= "string") then
    return nil, "only two numbers or two texts are compared without a call"
  elseif operator == "<" then
    return one < other
  elseif operator == "<=" then
    return one <= other
  elseif operator == ">" then
    return one > other
  end
  return one >= other
end

-- The value of an expression; or nil and what is wrong.
function D.safe_value(frame, text)
  local one, rest, problem = operand(frame, text)
  if problem then
    return nil, problem
  elseif rest == "" then
    return one
  end
  local operator, behind = match(rest, "^([<>=~]=?)%s*(.*)$")
  local other, left, second = operand(frame, behind or "")
  if operator == nil or operator == "=" or operator == "~" or second or left ~= "" then
    return nil, second or "this is no expression without calls"
  elseif operator == "==" or operator == "~=" then
    local same, why = equal(one, other)
    if why then
      return nil, why
    end
    return same == (operator == "==")
  end
  return ordered(one, operator, other)
end
