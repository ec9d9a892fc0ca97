my $total = 40;
$total += 2;
print "total $total\n"; # stop: $total is 42
