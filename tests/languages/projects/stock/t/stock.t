use strict;
use Test::More tests => 1;
use Stock;
my $stock = Stock->new;
$stock->add(2);
$stock->add(3);
is($stock->count, 5, 'counts add up');
