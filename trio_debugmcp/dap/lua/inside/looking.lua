-- What the debugger asks at a stop: scopes, variables, expressions. References to values last until the program runs.

local D = ...
local type, pairs, pcall, select, setmetatable = type, pairs, pcall, select, setmetatable
local gsub, find, match, format, concat = string.gsub, string.find, string.match, string.format, table.concat
local load, setfenv = loadstring or load, setfenv
local load_in = load
local getmetatable, setfield = debug.getmetatable, rawset
local min = math.min

local MAX_VALUES = 10 -- of one expression that are shown

local references = {} -- number → { value } or { scope, frame }
local baseline = {} -- the globals that every program has
for name in pairs(_G) do
  baseline[name] = true
end

local function reference(value, path)
  references[#references + 1] = { value = value, path = path }
  return #references
end

local function scope_reference(scope, frame)
  references[#references + 1] = { scope = scope, frame = frame }
  return #references
end

function D.forget_references()
  references = {}
end

-- --- Scopes and variables --------------------------------------------------------------------------------------------

function D.scopes(request)
  local frame = D.frame(request.frameId)
  if frame == nil then
    return nil, "there is no such frame now"
  end
  return {
    scopes = {
      { name = "Locals", presentationHint = "locals", variablesReference = scope_reference("locals", frame) },
      { name = "Globals", expensive = true, variablesReference = scope_reference("globals", frame) },
    },
  }
end

local function add_metatable(listed, held)
  local meta = getmetatable(held.value)
  if meta ~= nil then
    local path = held.path and format("debug.getmetatable(%s)", held.path)
    listed[#listed + 1] = D.variable("(metatable)", meta, path, reference)
  end
end

local function table_children(listed, held)
  local left, more = D.children(held.value, function(name, key, value)
    listed[#listed + 1] = D.variable(name, value, D.path_to(held.path, key), reference)
  end)
  if left > 0 or more then
    local text = format("%d more%s: evaluate them by their keys", left, more and " at least" or "")
    listed[#listed + 1] = { name = "(not listed)", value = text, type = "", variablesReference = 0 }
  end
  add_metatable(listed, held)
end

local function global_children(listed, frame)
  D.children(D.globals_of(frame), function(name, key, value)
    if type(key) ~= "string" or not baseline[key] then
      listed[#listed + 1] = D.variable(name, value, name, reference)
    end
  end)
end

function D.variables(request)
  local held = references[request.variablesReference]
  if held == nil then
    return nil, "what this refers to was of an earlier stop"
  end
  local listed = {}
  local function add(name, _, value)
    listed[#listed + 1] = D.variable(name, value, D.is_name(name) and name or nil, reference)
  end
  if held.scope == "locals" then
    local hidden = {}
    D.locals(held.frame, function(name, index, value)
      hidden[name] = true
      add(name, index, value)
    end)
    D.varargs(held.frame, add)
    D.upvalues(held.frame, function(name, index, value)
      if not hidden[name] then -- what the function uses of those around it
        add(name, index, value)
      end
    end)
  elseif held.scope == "globals" then
    global_children(listed, held.frame)
  else
    table_children(listed, held)
  end
  return { variables = #listed > 0 and listed or D.EMPTY }
end

-- --- Expressions -----------------------------------------------------------------------------------------------------

-- A table that stands for the names of a frame: reading and writing it reads and writes those.
local function names_of(frame)
  local known, opened = D.globals_of(frame), D.stop_number
  local function place(name)
    if frame ~= nil and opened == D.stop_number then
      return D.place_of(frame, name)
    end
  end
  return setmetatable({}, {
    __index = function(_, name)
      local kind, index = place(name)
      if kind then
        return D.read(frame, kind, index)
      end
      return known[name]
    end,
    __newindex = function(_, name, value)
      local kind, index = place(name)
      if kind == "local" then
        D.set_local(frame, index, value)
      elseif kind == "upvalue" then
        D.set_upvalue(frame, index, value)
      else
        known[name] = value
      end
    end,
  })
end

local function compiled(text, names)
  if setfenv then
    local code, problem = load(text, "=expression")
    return code and setfenv(code, names), problem
  end
  return load_in(text, "=expression", "t", names)
end

-- The function that an expression, or statements, are compiled to.
local function code_of(text, names)
  local code, problem = compiled("return " .. text, names)
  if code == nil then
    local statements, second = compiled(text, names)
    if statements then
      return statements
    end
    problem = find(text, "^%s*[%w_.:%[%]]+%s*=[^=]") and second or problem
  end
  return code, problem
end

-- What an error says, in the words of an evaluation. An error that is no text is shown as values are.
local function error_text(problem)
  if type(problem) ~= "string" then
    return D.text_of(problem)
  end
  local said = gsub(problem, "^expression:%d+: ", "")
  return said
end

D.error_text = error_text

-- Whether an expression could be evaluated, then how many values it has, and these; or the error.
function D.evaluate_in(frame, text)
  local code, problem = code_of(text, names_of(frame))
  if code == nil then
    return false, 1, problem
  end
  local function counted(ok, ...)
    return ok, select("#", ...), ...
  end
  return counted(D.call(code))
end

-- The values of an expression as text; or nil and the error. Then the first, in the words of the DAP.
local function values_text(path, ok, count, first, ...)
  if not ok then
    return nil, error_text(first)
  elseif count == 0 then
    return ""
  end
  local shown = D.variable("", first, path, reference)
  local texts = { shown.value }
  for number = 2, min(count, MAX_VALUES) do
    texts[number] = D.text_of((select(number - 1, ...)))
  end
  return concat(texts, ", "), nil, shown
end

function D.value_text(frame, text)
  local shown, problem = values_text(nil, D.evaluate_in(frame, text))
  return shown, problem
end

function D.evaluate(request)
  local frame = D.top()
  if request.frameId ~= nil then
    frame = D.frame(request.frameId)
    if frame == nil then
      return nil, "there is no such frame now"
    end
  end
  local safe = match(request.expression, "^%-%-%[%[safe%]%]%s*(.-)%s*$")
  if safe then
    local value, problem = D.safe_value(frame, safe)
    if problem then
      return nil, problem
    end
    local found = D.variable("", value, safe, reference)
    return { result = found.value, type = found.type, variablesReference = found.variablesReference }
  end
  local text, problem, first = values_text(request.expression, D.evaluate_in(frame, request.expression))
  if problem then
    return nil, problem
  end
  return { result = text, type = first and first.type, variablesReference = first and first.variablesReference or 0 }
end

-- --- Setting ---------------------------------------------------------------------------------------------------------

local function key_in(value, name)
  local found, key = false, nil
  D.children(value, function(each, each_key)
    if each == name then
      found, key = true, each_key
    end
  end)
  return found, key
end

local function set_in_scope(held, name, value)
  local kind, index = D.place_of(held.frame, name)
  if held.scope == "globals" then
    setfield(D.globals_of(held.frame), name, value)
  elseif kind == "local" then
    D.set_local(held.frame, index, value)
  elseif kind == "upvalue" then
    D.set_upvalue(held.frame, index, value)
  else
    return "there is no variable of that name"
  end
end

function D.set_variable(request)
  local held = references[request.variablesReference]
  if held == nil then
    return nil, "what this refers to was of an earlier stop"
  end
  local ok, count, value = D.evaluate_in(held.frame or D.top(), request.value)
  if not ok then
    return nil, error_text(value)
  elseif count == 0 then
    return nil, "this has no value"
  end
  if held.scope then
    local problem = set_in_scope(held, request.name, value)
    if problem then
      return nil, problem
    end
  else
    local found, key = key_in(held.value, request.name)
    if not found then
      return nil, "there is nothing of that name in it"
    end
    setfield(held.value, key, value) -- metamethods are not asked
  end
  return D.variable(request.name, value, nil, reference)
end
