-- Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.

local function add(total, item)
  local sum = total + item.price -- add
  return sum -- return
end

local function main(word)
  local items = { { name = "pear", price = 2 }, { name = "fig", price = 3 }, { name = "kiwi", price = 4 } }
  local total = 0
  for i = 0, 2 do
    total = add(total, items[i + 1]) -- loop
    print("item " .. i .. " " .. total) -- print
  end
  if word == "sleep" then
    os.execute("sleep 60")
  end
  if word then
    error("bad plum") -- crash
  end
  local line = io.read("*l") -- read
  if not line then
    os.exit(1)
  end
  io.stderr:write("read " .. line .. "\n")
  os.exit(7)
end

main(...)
