total = 40
total += 2
puts "total #{total}" # stop: total is 42
