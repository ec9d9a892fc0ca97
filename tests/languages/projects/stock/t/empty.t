use strict;
use Test::More tests => 1;
use Stock;
my $stock = Stock->new;
is($stock->count, 0, 'nothing is in a new one');
