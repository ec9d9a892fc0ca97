"""What is in an array is read as it lies in memory, or it is said that it cannot be."""

from array import array

from trio_debugmcp.engine.inside.recorder.array_memory import MOST_BYTES, base_of, memory_of


def test_the_numbers_of_a_table_stand_in_rows_and_have_their_index() -> None:
    memory = memory_of(memoryview(bytearray(array("d", [1, 2, 3, 4, 5, 6]))).cast("d", [3, 2]))
    assert memory is not None
    assert (memory.shape, memory.dtype, memory.size) == ((3, 2), "float64", 6)
    assert memory.nested(memory.numbers()) == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert [memory.index(place) for place in (0, 3, 4)] == [(0, 0), (1, 1), (2, 0)]


def test_every_second_number_is_what_is_seen_of_a_view_of_every_second() -> None:
    memory = memory_of(memoryview(bytearray(array("h", [1, 2, 3, 4]))).cast("h")[::2])
    assert memory is not None
    assert (memory.numbers(), memory.dtype, memory.index(1)) == ([1, 3], "int16", 1)


def test_an_empty_array_has_no_numbers() -> None:
    memory = memory_of(bytearray())
    assert memory is not None
    assert (memory.numbers(), memory.size, memory.nested([])) == ([], 0, [])


def test_an_array_of_which_one_bit_is_another_is_another() -> None:
    one, other = memory_of(array("f", [0.0])), memory_of(array("f", [-0.0]))
    assert one is not None
    assert other is not None
    assert one.is_as(one)
    assert not one.is_as(other)


def test_what_differs_is_found_in_any_part_up_to_as_much_as_is_asked() -> None:
    numbers = array("d", [float(number) for number in range(500)])
    old = memory_of(numbers)
    numbers[3], numbers[499], numbers[100] = -0.0, -1.0, float("nan")
    new = memory_of(numbers)
    numbers[100] = -float("nan")
    other = memory_of(numbers)
    assert old is not None
    assert new is not None
    assert other is not None
    assert [place for place, _ in new.differing(old, 20)] == [3, 100, 499]
    assert len(new.differing(old, 1)) == 2
    assert other.differing(new, 20) == [], "a NaN is as another"


def test_large_arrays_and_others_than_of_numbers_are_not_read() -> None:
    assert memory_of(bytearray(MOST_BYTES)) is not None
    assert memory_of(bytearray(MOST_BYTES + 1)) is None
    assert memory_of(array("b", bytes(MOST_BYTES + 1))) is None
    assert memory_of(array("u", "ab")) is None
    assert memory_of([1, 2]) is None


def test_a_byte_array_that_is_read_may_grow_at_once() -> None:
    data = bytearray(b"ab")
    memory = memory_of(data)
    data.append(3)
    assert memory is not None
    assert (memory.numbers(), memory.dtype) == ([97, 98], "uint8")


def test_a_view_of_what_other_code_may_write_unseen_is_not_known() -> None:
    assert memory_of(memoryview(array("d", [1, 2]))) is None
    released = memoryview(bytearray(b"abc"))
    released.release()
    assert memory_of(released) is None
    assert base_of(released) is None


def test_views_of_views_have_the_memory_of_the_first() -> None:
    first = bytearray(b"abcd")
    assert base_of(memoryview(first)[1:].cast("B")) is first
    assert base_of(first) is None
