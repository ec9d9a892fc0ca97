package loft

import org.junit.Assert.assertEquals
import org.junit.Test

class ShelfTest {
  @Test
  def countsAddUp(): Unit = {
    val got = new Shelf(2).total(3)
    assertEquals(5, got)
  }

  @Test def emptyIsZero(): Unit = {
    assertEquals(0, new Shelf(0).total(3))
  }
}
