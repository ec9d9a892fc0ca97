package croft

class Shelf(val boxes: Int) {
    fun total(weight: Int): Int {
        return boxes * weight
    }
}
