// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
class Item(val name: String, val price: Int)

object Shop {
  def add(total: Int, item: Item): Int = {
    val sum = total + item.price // add
    sum // return
  }

  def main(args: Array[String]): Unit = {
    val items = Array(new Item("pear", 2), new Item("fig", 3), new Item("kiwi", 4))
    var total = 0
    var i = 0
    while (i < 3) {
      val item = items(i)
      total = add(total, item) // loop
      println("item " + i + " " + total) // print
      i += 1
    }
    if (args.contains("sleep")) Thread.sleep(60000)
    if (args.nonEmpty)
      throw new IllegalStateException("bad plum") // crash
    val line = scala.io.StdIn.readLine()
    if (line == null) sys.exit(1)
    System.err.println("read " + line)
    sys.exit(7)
  }
}
