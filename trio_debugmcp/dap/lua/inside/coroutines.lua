-- Coroutines: which one runs, and which wait for it. What resumes them is ours, so that each has its hook while it runs.

local D = ...
local type, rawequal, select = type, rawequal, select
local create, resume, wrap, close = coroutine.create, coroutine.resume, coroutine.wrap, coroutine.close
local running, status = coroutine.running, coroutine.status
local error, getinfo, pcall, xpcall = error, debug.getinfo, pcall, xpcall

local LEVEL = _VERSION == "Lua 5.1" and not jit and 3 or 2 -- of who calls what passes an error on: 5.1 counts tail calls
local MAX_LEVELS = 5000
local chain = {} -- { thread, passes_on }: those that have been resumed and have not come back, the running one last

local main, is_main = running()
D.main = is_main and main or false -- Lua 5.1 has no name for it

-- The coroutine that runs; nil: none does.
function D.running()
  return chain[#chain] and chain[#chain].thread
end

-- Call a function in a coroutine of its own, where hooks can interrupt it: within a hook none is called. Lua 5.1 has no
-- name for the main thread, whose variables could not be read from there; LuaJIT has one hook for all.
function D.call(called)
  if jit or not main then
    return pcall(called)
  end
  local outer = D.evaluator
  D.host, D.evaluator = D.host or running(), create(called)
  D.apply_interrupt(D.evaluator)
  local function ended(thread, ...)
    D.evaluator = outer
    if outer == nil then
      D.host = nil
    end
    if status(thread) == "suspended" then
      return false, "it yields, which an expression cannot"
    end
    return ...
  end
  return ended(D.evaluator, resume(D.evaluator))
end

if is_main then
  function coroutine.running()
    local thread = running()
    if D.host and rawequal(thread, D.evaluator) then
      thread = D.host
    end
    return thread, rawequal(thread, main)
  end
end

-- Those that wait for the running one, the first of the program first; false for the main one of Lua 5.1.
function D.waiting_threads()
  local waiting = {}
  for number = 1, #chain do
    waiting[number] = chain[number - 1] and chain[number - 1].thread or D.main
  end
  return waiting
end

function D.is_waiting(thread)
  for number = 1, #chain - 1 do
    if rawequal(chain[number].thread, thread) then
      return true
    end
  end
  return thread == nil and #chain > 0
end

-- How many calls of a thread are protected, as far as the last thousands tell.
local function protections(thread)
  local count, level = 0, 1
  while level < MAX_LEVELS do
    local info
    if thread then
      info = getinfo(thread, level, "f")
    else
      info = getinfo(level, "f")
    end
    if info == nil then
      return count
    elseif info.func == pcall or info.func == xpcall then
      count = count + 1
    end
    level = level + 1
  end
  return count
end

-- Whether something catches what is raised now: in the running coroutine, or in one to which it is passed on.
local function is_caught()
  for number = #chain, 1, -1 do
    local thread = number < #chain and chain[number].thread or nil
    if protections(thread) > 0 or not chain[number].passes_on then
      return true
    end
  end
  return protections(#chain > 0 and D.main or nil) > 1 -- one is that of the whole program
end

local function back(thread, passes_on, ok, ...)
  chain[#chain] = nil
  if not D.busy then
    D.apply_hook()
  end
  if not ok then
    D.coroutine_failed(thread, (...), passes_on)
  end
  return ok, ...
end

local function resumed(thread, passes_on, ...)
  chain[#chain + 1] = { thread = thread, passes_on = passes_on }
  if D.busy then
    D.apply_interrupt(thread)
  else
    D.apply_hook(thread)
  end
  return back(thread, passes_on, resume(thread, ...))
end

function coroutine.resume(thread, ...)
  if type(thread) ~= "thread" then
    return resume(thread, ...)
  end
  return resumed(thread, false, ...)
end

local function passed_on(thread, ok, ...)
  if ok then
    return ...
  end
  if close and is_caught() then
    close(thread) -- what it has to close; else its stack is still to be shown
  end
  error((...), LEVEL)
end

function coroutine.wrap(body)
  if type(body) ~= "function" then
    return wrap(body)
  end
  local thread = create(body)
  return function(...)
    return passed_on(thread, resumed(thread, true, ...))
  end
end
