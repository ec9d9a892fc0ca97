package loft

class Shelf(boxes: Int) {
  def total(weight: Int): Int = boxes * weight
}
