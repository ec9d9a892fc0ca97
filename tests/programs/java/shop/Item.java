package shop;

class Item {
    final int price;

    Item(int price) {
        this.price = price * 2; // price
    }
}
