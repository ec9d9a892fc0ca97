// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.

function add(total, item) {
  const sum = total + item.price; // add
  return sum; // return
}

class Item {
  constructor(name, price) {
    this.name = name;
    this.price = price;
  }
}

const items = [new Item("pear", 2), new Item("fig", 3), new Item("kiwi", 4)];

function main(words) {
  let total = 0;
  for (let i = 0; i < 3; i++) {
    total = add(total, items[i]); // loop
    console.log("item", i, total); // print
  }
  if (words[0] === "sleep") {
    return setTimeout(() => {}, 60000);
  }
  if (words[0] === "crash") {
    throw new RangeError("bad plum"); // crash
  }
  process.stdin.once("data", (line) => {
    process.stderr.write(`read ${line}`);
    process.exit(7);
  });
}

main(process.argv.slice(2));
