package barn;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class OldShelfTest {
    @Test
    public void countsAddUp() {
        int got = Shelf.total(2, 3);
        assertEquals(5, got);
    }

    @Test
    public void emptyIsZero() {
        assertEquals(0, Shelf.total(0, 3));
    }

    @Test(expected = IllegalArgumentException.class)
    public void refuses() {
        throw new IllegalArgumentException("no");
    }
}
