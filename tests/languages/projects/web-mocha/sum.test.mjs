import { expect } from "chai";
import { sum } from "./sum.mjs";
describe("a basket", function () {
  it("adds up", function () {
    const total = sum([1, 2, 3]);
    expect(total).to.equal(6);
  });
});

describe("an empty basket", function () {
  it("is free", function () {
    expect(sum([])).to.equal(0);
  });
});
