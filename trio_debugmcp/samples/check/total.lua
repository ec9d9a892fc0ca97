local total = 40
total = total + 2
print("total " .. total) -- stop: total is 42
