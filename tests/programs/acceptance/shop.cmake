# Adds up what is in a shop.
function(add total price)
  math(EXPR sum "${total} + ${price}") # add
  set(result "${sum}" PARENT_SCOPE) # return
endfunction()

set(total 0)
set(i 0)
foreach(price 2 3 4)
  add("${total}" "${price}") # loop
  set(total "${result}")
  message("item ${i} ${total}") # print
  math(EXPR i "${i} + 1")
endforeach()
if(DEFINED CRASH)
  message(FATAL_ERROR "bad plum") # crash
endif()
