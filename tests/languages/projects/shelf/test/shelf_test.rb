require "minitest/autorun"
require "shelf"

class ShelfTest < Minitest::Test
  def test_counts_add_up
    shelf = Shelf.new
    shelf.put("tea", 2)
    shelf.put("tea", 3)
    assert_equal 5, shelf.total
  end

  def test_empty
    assert_equal 0, Shelf.new.total
  end
end
