// A program whose operators count how often they are called.
static int calls = 0;

struct Price {
  int cents;
  bool operator==(const Price& other) const { return ++calls && cents == other.cents; }
};

struct Basket {
  Price price;
  int counts[3];
  Basket* next;
  int operator[](int index) const { return ++calls + counts[index]; }
};

int main() {
  Basket basket{{5}, {7, 8, 9}, nullptr};
  basket.next = &basket;
  Price other{5};
  int used = (basket.price == other) + basket[1];
  return used == calls;  // used
}
