# Adds up what is in a shop; with `crash` it crashes after the loop, with `sleep` it sleeps.
function(add total price)
  math(EXPR sum "${total} + ${price}") # add
  set(result "${sum}" PARENT_SCOPE) # return
endfunction()

function(main)
  set(total 0)
  foreach(i 0 1 2)
    math(EXPR price "${i} + 2")
    add("${total}" "${price}") # loop
    set(total "${result}")
    message("item ${i} ${total}") # print
  endforeach()
  if(SLEEP)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 60)
  endif()
  if(CRASH)
    message(FATAL_ERROR "bad plum") # crash
  endif()
endfunction()

main()
