package barn;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class SpoiltTest {
    static class Lid implements AutoCloseable {
        @Override
        public void close() {}
    }

    private static int first(List<Integer> counts) {
        try (Lid lid = new Lid()) {
            return counts.iterator().next();
        } catch (IllegalStateException other) {
            return 0;
        } finally {
            counts.clear();
        }
    }

    @Test
    void firstOfNone() throws Exception {
        List<Integer> none = new ArrayList<>();
        assertThrows(NoSuchElementException.class, () -> first(none));
        assertThrows(RuntimeException.class, () -> List.of(1, 2).forEach(each -> first(none)));
        new FutureTask<>(() -> first(none)).run();
        try {
            getClass().getDeclaredMethod("refuse").invoke(this);
        } catch (ReflectiveOperationException expected) {
            none.clear();
        }
        try {
            first(none);
        } catch (RuntimeException expected) {
            none.add(Files.exists(Path.of("no such file")) ? 1 : 0);
        }
        List.of("fig").forEach(name -> first(new ArrayList<>(none.subList(1, 1))));
    }

    void refuse() {
        throw new IllegalArgumentException("no");
    }
}
