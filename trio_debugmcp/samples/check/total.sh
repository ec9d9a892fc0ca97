total=40
((total += 2))
echo "total $total" # stop: $total is 42
