package croft

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class ShelfTest {
    @Test
    fun `counts add up`() {
        val got = Shelf(2).total(3)
        assertEquals(5, got)
    }

    @Test
    fun emptyIsZero() {
        assertEquals(0, Shelf(0).total(3))
    }
}
