set(total 40)
math(EXPR total "${total} + 2")
message("total ${total}") # stop: total is 42
