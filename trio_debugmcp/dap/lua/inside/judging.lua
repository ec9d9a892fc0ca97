-- Breakpoints that a line has: which of them stop the program there. Conditions, counts and messages are judged here, so
-- that a pass that does not stop takes microseconds. One that cannot be judged stops, and says why.

local D = ...
local match, concat = string.match, table.concat
local tonumber, type = tonumber, type
local getinfo = debug.getinfo
local stdout, flush = io.stdout, io.stdout.flush

local hits = {} -- key of a breakpoint → passes at which its condition has held
local problem = nil -- that of the condition that was judged last

local TESTS = {
  [""] = function(count, number)
    return count == number
  end,
  [">="] = function(count, number)
    return count >= number
  end,
  [">"] = function(count, number)
    return count > number
  end,
  ["<="] = function(count, number)
    return count <= number
  end,
  ["<"] = function(count, number)
    return count < number
  end,
  ["%"] = function(count, number)
    return number > 0 and count % number == 0
  end,
}
TESTS["=="] = TESTS[""]

-- Whether a condition holds; one that cannot be judged does, so that the user sees it.
local function holds(frame, condition)
  local ok, _, value = D.evaluate_in(frame, "not not (" .. condition .. "\n)")
  problem = not ok and D.error_text(value) or nil
  if problem then
    D.send({ event = "failed", condition = condition, error = problem })
  end
  return problem ~= nil or value == true
end

local function counts(place)
  local count = (hits[place.key] or 0) + 1
  hits[place.key] = count
  local operator, number = match(place.hits or "", "^%s*([=<>%%]*)%s*(%d+)")
  return number == nil or TESTS[operator] == nil or TESTS[operator](count, tonumber(number))
end

local function message(frame, parts)
  local written = {}
  for number = 1, #parts do
    local part = parts[number]
    if type(part) == "table" then
      local text, wrong = D.value_text(frame, part.code)
      part = text or "<error: " .. wrong .. ">"
    end
    written[number] = part
  end
  return concat(written)
end

-- Whether a breakpoint stops the program in a frame.
local function stops(place, frame)
  problem = nil
  if place.condition and not holds(frame, place.condition) then
    return false
  elseif problem then
    return true
  elseif not counts(place) then
    return false
  elseif place.parts == nil then
    return true
  end
  flush(stdout)
  D.send({ event = "logged", text = message(frame, place.parts) })
  return false
end

-- The breakpoints among these that stop the function that has called the caller of this one, which is a hook: those on
-- its line, or else those on the function; nil if none does.
function D.judge(places)
  local frame = { level = 2, info = getinfo(3, "Slf") }
  local stopping = { {}, {} }
  D.busy, D.anchor, D.evaluates_for = true, D.judge, 0
  for number = 1, #places do
    local place = places[number]
    if stops(place, frame) then
      local kind = stopping[place.is_function and 2 or 1]
      kind[#kind + 1] = place.id
    end
  end
  D.busy, D.anchor = false, D.stop
  D.stop_number = D.stop_number + 1 -- what was evaluated does not reach into the frame any more
  D.forget_references()
  if stopping[1][1] then
    return stopping[1], "breakpoint"
  elseif stopping[2][1] then
    return stopping[2], "function breakpoint"
  end
end
