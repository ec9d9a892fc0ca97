/* A program of two classes in a package: class Not { static void main( */
package shop;

public class Shop {
    static String name = "class Other { static void main(";

    public static void main(String[] args) {
        int total = 0; // first
        for (int i = 0; i < 3; i++) {
            total += new Item(i).price;
        }
        System.out.println("total " + total);
    }
}
