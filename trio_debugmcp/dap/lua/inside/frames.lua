-- The stack of a stop: its frames, and the variables of each, to be read and to be written.
--
-- A frame is known by the function at which the stop was made, `D.anchor`, and its distance from there, as the number
-- of calls above it differs from one place of this code to the next. A frame of another coroutine has a level of its own.

local D = ...
local type, pairs, rawget, rawset, rawequal, select, error = type, pairs, rawget, rawset, rawequal, select, error
local getinfo, getlocal, setlocal = debug.getinfo, debug.getlocal, debug.setlocal
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
local sub, find, format, match, gsub = string.sub, string.find, string.format, string.match, string.gsub
local globals = _G

local MAX_FRAMES = 1000
local MAX_LOCALS = 250 -- more than a function may have

local frames, total = {}, 0

-- --- Files -----------------------------------------------------------------------------------------------------------

local paths = {}

local function normalised(path)
  if sub(path, 1, 1) ~= "/" then
    path = D.cwd .. "/" .. path
  end
  local parts = {}
  for part in string.gmatch(path, "[^/]+") do
    if part == ".." then
      parts[#parts] = nil
    elseif part ~= "." then
      parts[#parts + 1] = part
    end
  end
  return "/" .. table.concat(parts, "/")
end

function D.is_own(source)
  return sub(source, 1, #D.home) == D.home
end

-- The absolute path of a chunk by its name; false for ours, and for what was not read from a file.
function D.path_of(source)
  local path = paths[source]
  if path == nil then
    path = sub(source, 1, 1) == "@" and not D.is_own(source) and normalised(sub(source, 2)) or false
    paths[source] = path
  end
  return path
end

-- --- Frames ----------------------------------------------------------------------------------------------------------

-- How far up `D.anchor` is, for the function that calls this.
local function anchor_level()
  local level, info = 2, getinfo(2, "f")
  while info and not rawequal(info.func, D.anchor) do
    level = level + 1
    info = getinfo(level, "f")
  end
  if info == nil then -- in Lua 5.1 and LuaJIT
    error("a coroutine within an expression does not see the variables of the frame", 0)
  end
  return level - 1
end

-- The thread and the level of a frame, for what is evaluated in a coroutine of its own; nil: the running one has it.
local function elsewhere(frame)
  if frame.thread or D.host == nil then
    return frame.thread, frame.level
  end
  local level = 0
  while not rawequal(getinfo(D.host, level, "f").func, D.anchor) do
    level = level + 1
  end
  return D.host, level + frame.level
end

local function get(frame, index)
  local thread, level = elsewhere(frame)
  if thread then
    return getlocal(thread, level, index)
  end
  local name, value = getlocal(anchor_level() + frame.level, index)
  return name, value
end

local function set(frame, index, value)
  local thread, level = elsewhere(frame)
  if thread then
    setlocal(thread, level, index, value)
  else
    local name = setlocal(anchor_level() + frame.level, index, value)
    return name
  end
end

local function frame_name(info)
  if info.what == "main" then
    return "main chunk"
  elseif info.name and info.name ~= "?" then
    return info.name
  end
  return format("function at line %d", info.linedefined)
end

local function add(thread, level, info)
  if info.what == "C" or info.what == "tail" or info.currentline < 0 then
    return
  end
  if D.is_own(info.source) then
    return
  end
  frames[#frames + 1] = { thread = thread, level = level, info = info, path = D.path_of(info.source) }
end

local function add_thread(thread)
  local level = 0
  while #frames < MAX_FRAMES do
    local info = getinfo(thread, level, "nSlf")
    if info == nil then
      return
    end
    add(thread, level, info)
    level = level + 1
  end
end

-- Take the stack of the function that has called the caller of `D.anchor`, below what has ended in `dead`; then those
-- of the coroutines that wait for it. `depth`: how many levels there are; not all of very many are listed.
function D.open_stack(dead, waiting, depth)
  frames = {}
  if dead then
    add_thread(dead)
  end
  local base = anchor_level()
  local distance = 2
  while #frames < MAX_FRAMES do
    local info = getinfo(base + distance, "nSlf")
    if info == nil then
      break
    end
    add(nil, distance, info)
    distance = distance + 1
  end
  for number = #waiting, 1, -1 do
    if waiting[number] then
      add_thread(waiting[number])
    end
  end
  total = #frames < MAX_FRAMES and #frames or math.max(#frames, depth)
end

function D.close_stack()
  frames, total = {}, 0
end

function D.frame(number)
  return frames[number]
end

function D.top()
  return frames[1]
end

local function as_message(frame, number)
  local source = { name = match(frame.info.short_src, "[^/]*$") }
  source.path = frame.path or nil
  return { id = number, name = frame_name(frame.info), line = frame.info.currentline, column = 1, source = source }
end

function D.stack_trace(request)
  local first = request.startFrame or 0
  local last = request.levels and request.levels > 0 and first + request.levels or total
  local listed = {}
  for number = first + 1, math.min(last, #frames) do
    listed[#listed + 1] = as_message(frames[number], number)
  end
  return { stackFrames = #listed > 0 and listed or D.EMPTY, totalFrames = total }
end

-- --- Variables -------------------------------------------------------------------------------------------------------

-- Call `visit(name, index, value)` for each local of a frame that is in scope; the last of a name is what it means.
function D.locals(frame, visit)
  local order, last = {}, {}
  for index = 1, MAX_LOCALS do
    local name = get(frame, index)
    if name == nil then
      break
    end
    if sub(name, 1, 1) ~= "(" then
      if last[name] == nil then
        order[#order + 1] = name
      end
      last[name] = index
    end
  end
  for number = 1, #order do
    local name = order[number]
    local _, value = get(frame, last[name])
    visit(name, last[name], value)
  end
end

-- The same for the arguments of a function that takes any number, from Lua 5.2 on.
function D.varargs(frame, visit)
  if _VERSION == "Lua 5.1" and not rawget(globals, "jit") then
    return
  end
  for index = 1, MAX_LOCALS do
    local name, value = get(frame, -index)
    if name == nil then
      return
    end
    visit(format("...[%d]", index), -index, value)
  end
end

-- And for the variables of functions around it, which it uses.
function D.upvalues(frame, visit)
  local index = 1
  while true do
    local name, value = getupvalue(frame.info.func, index)
    if name == nil then
      return
    end
    if name ~= "_ENV" and name ~= "" then
      visit(name, index, value)
    end
    index = index + 1
  end
end

function D.set_local(frame, index, value)
  set(frame, index, value)
end

function D.set_upvalue(frame, index, value)
  setupvalue(frame.info.func, index, value)
end

-- Where a name leads in a frame: a function that reads it, one that writes it; nil if it is a global.
function D.place_of(frame, name)
  local found, kind
  D.locals(frame, function(each, index)
    if each == name then
      found, kind = index, "local"
    end
  end)
  if found == nil then
    D.upvalues(frame, function(each, index)
      if each == name then
        found, kind = index, "upvalue"
      end
    end)
  end
  return kind, found
end

function D.read(frame, kind, index)
  local _, value
  if kind == "local" then
    _, value = get(frame, index)
  else
    _, value = getupvalue(frame.info.func, index)
  end
  return value
end

-- The table of the globals of a frame's function.
function D.globals_of(frame)
  if frame == nil then
    return globals
  end
  if debug.getfenv or getfenv then
    return (debug.getfenv or getfenv)(frame.info.func)
  end
  local index = 1
  while true do
    local name, value = getupvalue(frame.info.func, index)
    if name == nil then
      return globals
    elseif name == "_ENV" then
      return value
    end
    index = index + 1
  end
end
