package Stock;
use strict;
sub new { my ($class) = @_; return bless { count => 0 }, $class; }
sub add { my ($self, $n) = @_; $self->{count} = $n; return $self; }
sub count { return $_[0]{count}; }
1;
