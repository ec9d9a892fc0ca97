// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
import java.io.BufferedReader;
import java.io.InputStreamReader;

public class Shop {
    static class Item {
        String name;
        int price;

        Item(String name, int price) {
            this.name = name;
            this.price = price;
        }
    }

    static int add(int total, Item item) {
        int sum = total + item.price; // add
        return sum; // return
    }

    public static void main(String[] args) throws Exception {
        Item[] items = {new Item("pear", 2), new Item("fig", 3), new Item("kiwi", 4)};
        int total = 0;
        for (int i = 0; i < 3; i++) {
            total = add(total, items[i]); // loop
            System.out.println("item " + i + " " + total); // print
        }
        if (args.length > 0 && args[0].equals("sleep")) {
            Thread.sleep(60000);
        }
        if (args.length > 0) {
            throw new IllegalStateException("bad plum"); // crash
        }
        String line = new BufferedReader(new InputStreamReader(System.in)).readLine(); // read
        if (line == null) {
            System.exit(1);
        }
        System.err.println("read " + line);
        System.exit(7);
    }
}
