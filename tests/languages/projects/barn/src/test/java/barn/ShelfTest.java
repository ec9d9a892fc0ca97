package barn;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShelfTest {
    @Test
    void countsAddUp() {
        int got = Shelf.total(2, 3);
        assertEquals(5, got);
    }

    @Test
    void emptyIsZero() {
        assertEquals(0, Shelf.total(0, 3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fig", "tea"})
    void namesAreShort(String name) {
        assertEquals(3, name.length());
    }
}
