# Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
use strict;
use warnings;
$| = 1;

sub add {
    my ($total, $item) = @_;
    my $sum = $total + $item->{price}; # add
    return $sum; # return
}

sub main {
    my @items = ({name => "pear", price => 2}, {name => "fig", price => 3}, {name => "kiwi", price => 4});
    my $total = 0;
    for (my $i = 0; $i < 3; $i++) {
        $total = add($total, $items[$i]); # loop
        print "item $i $total\n"; # print
    }
    sleep 60 if @ARGV && $ARGV[0] eq "sleep";
    die "bad plum" if @ARGV; # crash
    my $line = <STDIN>; # read
    exit 1 unless defined $line;
    print STDERR "read $line";
    exit 7;
}

main();
