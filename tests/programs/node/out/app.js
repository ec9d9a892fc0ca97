function sum(items) {
    let total = 0;
    for (const item of items) {
        total += item.price; // loop
    }
    return total;
}
const items = [{ name: "pear", price: 2 }, { name: "fig", price: 3 }]; // first
console.log("sum", sum(items));
//# sourceMappingURL=app.js.map