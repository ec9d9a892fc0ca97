// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
class Item(val name: String, val price: Int)

fun add(total: Int, item: Item): Int {
    val sum = total + item.price // add
    return sum // return
}

fun main(args: Array<String>) {
    val items = arrayOf(Item("pear", 2), Item("fig", 3), Item("kiwi", 4))
    var total = 0
    for (i in 0..2) {
        val item = items[i]
        total = add(total, item) // loop
        println("item $i $total") // print
    }
    if (args.contains("sleep")) Thread.sleep(60_000)
    if (args.isNotEmpty()) {
        throw IllegalStateException("bad plum") // crash
    }
    val line = readLine() ?: System.exit(1)
    System.err.println("read $line")
    System.exit(7)
}
