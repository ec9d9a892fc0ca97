-- Compiles a file, without running it, and writes the code as this interpreter keeps it: lua dump.lua FILE

local code, problem = loadfile(arg[1])
if code == nil then
  io.stderr:write(problem)
  os.exit(1)
end
io.stdout:write(string.dump(code))
