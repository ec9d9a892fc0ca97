class Trunk
  def initialize; @items = Hash.new(0); end
  def put(name, count) = @items[name] = count
  def total = @items.values.sum
end
