# Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
Item = Struct.new(:name, :price)

def add(total, item)
  sum = total + item.price # add
  sum # return
end

def main
  $stdout.sync = true
  items = [Item.new("pear", 2), Item.new("fig", 3), Item.new("kiwi", 4)]
  total = 0
  i = 0
  while i < 3
    total = add(total, items[i]) # loop
    puts "item #{i} #{total}" # print
    i += 1
  end
  sleep 60 if ARGV == ["sleep"]
  raise ArgumentError, "bad plum" unless ARGV.empty? # crash
  line = $stdin.gets # read
  exit 1 unless line
  warn "read #{line}"
  exit 7
end

main
