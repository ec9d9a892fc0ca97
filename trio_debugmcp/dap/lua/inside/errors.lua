-- Errors, where they are raised: what is protected by `pcall` or `xpcall` is called with a handler of ours while the
-- user wants to stop at every error, as handlers of errors run before the stack is gone. An error that ends a coroutine
-- is seen where that was resumed: the coroutine's stack is kept.

local D = ...
local type, rawequal, rawget = type, rawequal, rawget
local pcall, xpcall, select, unpack = pcall, xpcall, select, table.unpack or unpack
local getmetatable, traceback = debug.getmetatable, debug.traceback
local sub, find, format, gsub = string.sub, string.find, string.format, string.gsub
local match, gmatch = string.match, string.gmatch
local concat, tostring = table.concat, tostring

local seen = nil -- { value }: the error at which the last stop was made, until something catches it
local dead = nil -- { thread, value }: the last coroutine that an error has ended

-- Whether an error is that one, perhaps with the place in front at which it was passed on.
local function is_same(value, earlier)
  if type(value) == "string" and type(earlier) == "string" then
    return sub(value, -#earlier) == earlier
  end
  return rawequal(value, earlier)
end

-- An error's type and message, without the place where it is raised in front of that.
function D.failure_in_words(value)
  if type(value) ~= "string" then
    local text = type(value) == "table" and (rawget(value, "message") or rawget(value, "msg"))
    return { type = D.kind_of(value), message = type(text) == "string" and text or D.text_of(value) }
  end
  local top = D.top()
  local place = top and format("%s:%d: ", top.info.short_src, top.info.currentline)
  if place and sub(value, 1, #place) == place then
    value = sub(value, #place + 1)
  end
  return { type = "error", message = value }
end

local function stack_of(value)
  return dead and is_same(value, dead.value) and dead.thread or nil
end

local function is_seen(value)
  return D.busy or (seen ~= nil and is_same(value, seen.value))
end

-- The handler of what is protected.
local function raised(value)
  if D.stops_for_raised and not is_seen(value) then
    seen = { value = value }
    D.stop({ reason = "exception", mode = "always" }, seen, stack_of(value))
  end
  return value
end

-- Take note of an error that has ended a coroutine, and that is passed on, or caught. Called by what resumes it.
function D.coroutine_failed(thread, value, passed_on)
  if dead == nil or not is_same(value, dead.value) then
    dead = { thread = thread, value = value }
  end
  raised(value)
  if not passed_on then
    seen = nil
  end
end

local function report(value)
  if type(value) ~= "string" then
    local meta = getmetatable(value)
    if type(value) == "number" or (meta and rawget(meta, "__tostring")) then
      value = tostring(value)
    else
      return format("(error object is a %s value)", type(value))
    end
  end
  local kept = {}
  for line in gmatch(traceback(value, 3) .. "\n", "([^\n]*)\n") do
    if not D.short_names[match(line, "^%s*(.-):%d+: in ")] then
      kept[#kept + 1] = line
    end
  end
  for number = #kept, 1, -1 do
    if find(kept[number], "xpcall", 1, true) then
      table.remove(kept, number) -- ours, the last
      break
    end
  end
  return concat(kept, "\n")
end

-- The handler of the whole program: what comes here, nothing has caught.
local function uncaught(value)
  if (D.stops_for_uncaught or D.stops_for_raised) and not is_seen(value) then
    local thread = stack_of(value)
    D.stop({ reason = "exception", mode = "unhandled" }, { value = thread and dead.value or value }, thread)
  end
  D.busy = true
  local text = report(value) -- no tail call, as it counts levels from here
  return text
end

-- --- What the program has for these ----------------------------------------------------------------------------------

local takes_arguments = select(2, xpcall(function(...)
  return select("#", ...)
end, raised, 1)) == 1 -- not in Lua 5.1

-- Call the program; return whether it has ended well, or what lua would say.
function D.run(chunk, count, ...)
  if takes_arguments or count == 0 then
    return xpcall(chunk, uncaught, ...) -- from C, so that it has no other name than it has without a debugger
  end
  local arguments = { ... }
  return xpcall(function()
    chunk(unpack(arguments, 1, count))
  end, uncaught)
end

local function caught(...)
  seen = nil
  return ...
end

local function protected(called, handler, ...)
  if takes_arguments then
    return caught(xpcall(called, handler, ...))
  end
  local arguments, count = { ... }, select("#", ...)
  return caught(xpcall(function()
    return called(unpack(arguments, 1, count))
  end, handler))
end

function _G.pcall(...)
  if not D.stops_for_raised or D.busy or select("#", ...) == 0 then
    return pcall(...)
  end
  return protected((...), raised, select(2, ...))
end

function _G.xpcall(called, handler, ...)
  if not D.stops_for_raised or D.busy or type(handler) ~= "function" then
    return xpcall(called, handler, ...)
  end
  local function both(value)
    raised(value)
    return handler(value)
  end
  return protected(called, both, ...)
end
