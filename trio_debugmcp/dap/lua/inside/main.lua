-- Runs a program of Lua under the debugger: lua main.lua DIRECTORY CWD PROGRAM ARGUMENTS…
-- It is run as `lua PROGRAM ARGUMENTS…` would run it, and ends as that would.

local here = arg[0]:match("^(.*)/[^/]*$")
local words, interpreter = arg, arg[-1]
local count = #words - 3
local D = { home = "@" .. here .. "/", directory = words[1], cwd = words[2] }
-- The names of our files in a traceback, in which Lua cuts off the start of a long one.
D.short_names = { [debug.getinfo(1, "S").short_src] = true }

arg = { [-1] = interpreter, [0] = words[3] }
for number = 1, count do
  arg[number] = words[number + 3]
end

if jit then
  jit.off() -- compiled code calls no hooks
  jit.flush()
end
for _, name in ipairs({ "channel", "values", "frames", "safe", "looking", "coroutines", "stops", "judging", "errors" }) do
  local chunk = assert(loadfile(here .. "/" .. name .. ".lua"))
  D.short_names[debug.getinfo(chunk, "S").short_src] = true
  chunk(D)
end
io.stdout:setvbuf("line") -- as on a terminal: what is written comes in order

local exit, stderr = os.exit, io.stderr
D.begin()
local ok, problem = true, nil
local chunk, mistake = loadfile(arg[0])
if chunk == nil then
  ok, problem = false, mistake
else
  ok, problem = D.run(chunk, count, (table.unpack or unpack)(arg, 1, count))
end
D.busy = true
if not ok then
  stderr:write(interpreter, ": ", problem, "\n")
  exit(1, true)
end
