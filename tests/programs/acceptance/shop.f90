! Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
module shop
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none
  type item_type
    character(len=8) :: name
    integer :: price
  end type item_type
contains
  integer function add(total, item)
    integer, intent(in) :: total
    type(item_type), intent(in) :: item
    integer :: sum
    sum = total + item%price ! add
    add = sum ! return
  end function add
end module shop

program shop_main
  use shop
  implicit none
  type(item_type) :: items(3)
  integer :: i, total, status
  character(len=80) :: line
  items = [item_type("pear", 2), item_type("fig", 3), item_type("kiwi", 4)]
  total = 0
  do i = 0, 2
    total = add(total, items(i + 1)) ! loop
    write (output_unit, '(a, i0, a, i0)') "item ", i, " ", total ! print
    flush (output_unit)
  end do
  call get_command_argument(1, line)
  if (line == "sleep") call sleep(60)
  if (line == "crash") error stop "bad plum" ! crash
  read (*, '(a)', iostat=status) line
  if (status /= 0) stop 1
  write (error_unit, '(a, a)') "read ", trim(line)
  stop 7
end program shop_main
