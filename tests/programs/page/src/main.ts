import { add, discount, type Item } from "./cart";

const items: Item[] = [
  { name: "fig", price: 2 },
  { name: "plum", price: 3 },
];

function onClick(id: string, act: () => void): void {
  document.querySelector<HTMLButtonElement>(`#${id}`)!.addEventListener("click", act);
}

onClick("buy", () => {
  const total = add(items, 0);
  document.querySelector("#cart")!.textContent = `total ${total}`;
  console.log("bought", total); // told
  discount(undefined);
});

onClick("load", async () => {
  const answer = await fetch("/prices.json?none");
  console.warn("prices", answer.status); // fetched
});

onClick("lose", () => {
  void Promise.reject(new RangeError("lost")); // lost
});

console.log("ready");
