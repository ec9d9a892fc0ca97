-- Where the program stops: hooks, breakpoints, steps, and the requests that are answered while it is stopped.
--
-- Hooks belong to coroutines (of LuaJIT, to the program), so each coroutine gets its own when it is resumed, and again
-- when it runs on after they have changed. The hook of lines, which only a breakpoint or a step needs, compares a
-- number as long as no breakpoint is on a line of that number in any file.
--
-- Levels of the stack are counted from the function that asks: its caller is at 2. So `hook` has the program's frame at
-- 2, and what `hook` calls has it at 3.

local D = ...
local error, rawequal, pcall, setmetatable, next = error, rawequal, pcall, setmetatable, next
local getinfo, sethook = debug.getinfo, debug.sethook
local stdout, flush = io.stdout, io.stdout.flush
local floor, time = math.floor, os.time

local INSTRUCTIONS, LINES = 500, 10 -- between two polls
local INTERRUPTIBLE = 100000 -- between two looks whether an evaluation is to end: a millisecond
local POLLS = 100 -- of one second, of which the last looks for a request: a look takes microseconds

local lines = {} -- line → path → breakpoints
local step = nil -- { kind, thread, depth }
local returned = false -- the frame that a step out leaves has returned, and the next instruction is its caller's
local within = nil -- { line, code }: where the program was stopped at no beginning of a line
local lines_left, polls_left, second = LINES, POLLS, 0 -- until the next poll, until the next look; that of the last
local version, applied = 1, setmetatable({}, { __mode = "k" })

D.busy = false -- the debugger's own work, and what is evaluated, is not debugged
D.stop_number = 0
D.stops_for_raised, D.stops_for_uncaught = false, false

-- --- Hooks -----------------------------------------------------------------------------------------------------------

local hook

local function mask()
  if step == nil and next(lines) == nil then
    return ""
  end
  return (jit or (step and step.kind == "stepOut")) and "rl" or "l"
end

-- Give the running thread the hook that is needed now, or the coroutine that is about to run.
function D.apply_hook(thread)
  local whose = thread or D.running() or D
  if applied[whose] == version then
    return
  end
  applied[whose] = version
  local events = mask()
  -- Never both: where a count falls within a line, 5.2 to 5.4 report that line once more.
  local interval = returned and 1 or events == "" and INSTRUCTIONS or 0
  if thread then
    sethook(thread, hook, events, interval)
  else
    sethook(hook, events, interval)
  end
end

local function interrupt()
  if D.is_interrupted(D.evaluates_for) then
    error("it was interrupted", 0)
  end
end

-- Let the debugger end what runs in a coroutine for it.
function D.apply_interrupt(thread)
  if not jit then
    applied[thread] = nil
    sethook(thread, interrupt, "", INTERRUPTIBLE)
  end
end

local function renew_hooks()
  version = version + 1
  D.apply_hook()
end

-- Whether a step ends in the frame of a line. It does in another coroutine if its own has yielded, or has ended.
local function ends_step()
  if step.kind == "stepIn" then
    return true
  elseif not rawequal(D.running(), step.thread) then
    return not D.is_waiting(step.thread)
  end
  -- As the frame is at 3: none is as deep as the one where the step began, or none is deeper.
  return getinfo(step.depth + (step.kind == "stepOut" and 2 or 3), "l") == nil
end

local function breakpoints_at(line)
  local here = lines[line]
  local path = here and D.path_of(getinfo(3, "S").source)
  return path and here[path]
end

-- Look for a request if it is time for that, and answer it; return whether the program is to stop. A program that mostly
-- waits runs few instructions, so the clock is asked, too.
local function poll()
  local now = time()
  polls_left = polls_left - 1
  if polls_left > 0 and now == second then
    return false
  end
  polls_left, second = POLLS, now
  return D.is_wanted() and D.serve_running()
end

-- What a count is for: the caller of a frame that was left, or a poll. Returns why the program is to stop.
local function on_count()
  if returned then
    return not D.is_own(getinfo(3, "S").source) and "step"
  end
  return poll() and "pause"
end

local function on_line()
  lines_left = lines_left - 1
  if lines_left > 0 then
    return false
  end
  lines_left = LINES
  return poll()
end

-- Whether a line is the one within which the program was stopped, which some versions report once more.
local function is_within(line)
  local here = within
  within = nil
  return here ~= nil and here.line == line and rawequal(here.code, getinfo(3, "f").func)
end

-- LuaJIT reports a line once more when what it calls has returned.
local function on_return()
  if jit then
    local info = getinfo(4, "lf")
    within = info and { line = info.currentline, code = info.func }
  end
  if step and step.kind == "stepOut" and rawequal(D.running(), step.thread) and getinfo(step.depth + 3, "l") == nil then
    returned = true
    renew_hooks()
  end
end

function hook(event, line)
  if D.busy then
    return
  elseif event == "count" then
    local reason = on_count()
    if reason then
      local info = getinfo(2, "lf")
      D.stop({ reason = reason })
      within = { line = info.currentline, code = info.func }
    end
  elseif event == "line" then
    if within and is_within(line) then
      return
    end
    local places, ids, reason = breakpoints_at(line), nil, nil
    if places then
      ids, reason = D.judge(places)
    end
    if ids then
      D.stop({ reason = reason, hitBreakpointIds = ids })
    elseif step and ends_step() and D.path_of(getinfo(2, "S").source) then
      D.stop({ reason = step.reason or "step" })
    elseif on_line() then
      D.stop({ reason = "pause" })
    end
  else
    on_return()
  end
end

-- --- Requests --------------------------------------------------------------------------------------------------------

local requests = {
  stackTrace = D.stack_trace,
  scopes = D.scopes,
  variables = D.variables,
  evaluate = D.evaluate,
  setVariable = D.set_variable,
}

function requests.breakpoints(request)
  lines = request.lines
  return {}
end

function requests.exceptions(request)
  D.stops_for_raised, D.stops_for_uncaught = request.raised, request.uncaught
  return {}
end

-- What follows is done by who has read them.
function requests.pause()
  return {}
end

requests.detach = requests.pause

local MOVES = { ["continue"] = true, next = true, stepIn = true, stepOut = true, detach = true }

local function answer(request)
  D.evaluates_for = request.id
  local ok, body, problem = pcall(requests[request.command], request)
  if not ok then
    body, problem = nil, "the debugger in the program has failed: " .. D.text_of(body)
  end
  D.send({ id = request.id, body = body, error = problem })
end

-- Answer requests until one moves the program.
local function serve_until_moved()
  while true do
    local request = D.receive()
    if MOVES[request.command] then
      D.send({ id = request.id, body = {} })
      return request
    end
    answer(request)
  end
end

local function detach()
  D.busy = true
  debug.sethook = sethook
  sethook()
end

-- Answer the request that has come while the program runs; return whether it is to stop here.
function D.serve_running()
  D.busy = true
  local request = D.receive()
  answer(request)
  D.busy = false
  if request.command == "detach" then
    detach()
  elseif request.command ~= "pause" then
    renew_hooks()
  end
  return request.command == "pause"
end

-- --- Stops -----------------------------------------------------------------------------------------------------------

-- The depth of the stack where the caller of this one's caller was called.
local function depth_of_program()
  local some, beyond = 0, 1
  while getinfo(beyond + 3, "l") do
    some, beyond = beyond, beyond * 2
  end
  while beyond - some > 1 do -- as a look at a level takes the longer the deeper that is
    local middle = floor((some + beyond) / 2)
    if getinfo(middle + 3, "l") then
      some = middle
    else
      beyond = middle
    end
  end
  return some
end

local function move(request, depth)
  step, returned = nil, false
  if request.command ~= "continue" then
    step = { kind = request.command, thread = D.running(), depth = depth, reason = request.reason }
  end
end

-- Stop in the function that has called the caller of this one, a hook or a handler of errors, until something moves it.
-- `dead`: the coroutine that an error has ended, and of which only the stack is left.
function D.stop(message, failure, dead)
  D.busy = true
  local depth = depth_of_program()
  D.stop_number = D.stop_number + 1
  D.open_stack(dead, D.waiting_threads(), depth)
  if failure then
    message.exception = D.failure_in_words(failure.value)
  end
  flush(stdout)
  message.event = "stopped"
  D.send(message)
  local request = serve_until_moved()
  D.stop_number = D.stop_number + 1
  D.close_stack()
  D.forget_references()
  if request.command == "detach" then
    detach()
    return
  end
  D.busy = false
  move(request, depth)
  renew_hooks()
end

D.anchor = D.stop

-- Say that the program is there, take its breakpoints, and let it begin.
function D.begin()
  D.busy = true
  D.send({ event = "begun", version = jit and jit.version or _VERSION })
  move(serve_until_moved(), 0)
  D.busy = false
  renew_hooks()
end

local told = false

-- There is one hook: that of the program would take the debugger's place, and end its stops without a word.
function debug.sethook()
  if not told then
    told = true
    D.send({ event = "said", text = "debug.sethook of the program has no effect while it is debugged\n" })
  end
end
