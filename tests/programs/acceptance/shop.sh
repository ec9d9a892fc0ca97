# Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
add() {
  local total=$1 price=$2
  local sum=$((total + price)) # add
  result=$sum # return
}

main() {
  local prices=(2 3 4)
  local total=0 i
  for ((i = 0; i < 3; i++)); do
    add "$total" "${prices[i]}" # loop
    total=$result
    echo "item $i $total" # print
  done
  if [[ $1 == sleep ]]; then sleep 60; fi
  read -r line || exit 1 # read
  echo "read $line" >&2
  exit 7
}

main "$@"
