! Ends in the way that its first argument says.
module prices
  implicit none
contains
  integer function total_of(numbers)
    integer, intent(in) :: numbers(:)
    total_of = sum(numbers)
  end function total_of
end module prices

program stock
  use prices
  implicit none
  integer :: numbers(3) = [1, 2, 3]
  real(8) :: grid(2, 2) = 1.5d0
  integer :: n
  character(len=10) :: how
  call get_command_argument(1, how)
  n = total_of(numbers)
  if (how == "bounds") print *, numbers(n) ! bounds
  if (how == "divide") print *, grid / (n - 6) ! divide
end program stock
