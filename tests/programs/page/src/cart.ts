export interface Item {
  name: string;
  price: number;
}

export function add(items: readonly Item[], total: number): number {
  let sum: number = total;
  for (const item of items) {
    sum += item.price; // loop
  }
  return sum;
}

export function discount(item: Item | undefined): number {
  return item!.price / 2; // crash
}
