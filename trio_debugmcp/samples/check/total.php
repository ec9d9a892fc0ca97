<?php
$total = 40;
$total += 2;
echo "total $total\n"; // stop: $total is 42
