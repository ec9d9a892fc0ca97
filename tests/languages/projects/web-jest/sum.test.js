const { sum } = require("./sum.cjs");

describe("a basket", () => {
  test("adds up", () => {
    const prices = [1, 2, 3];
    const total = sum(prices);
    expect(total).toBe(6);
  });
  test("nothing is zero", () => {
    expect(sum([])).toEqual(0);
    try { throw new RangeError("caught"); } catch {}
  });
});
