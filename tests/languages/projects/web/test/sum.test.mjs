import { test, describe, it } from "node:test";
import assert from "node:assert/strict";
import { sum } from "../sum.mjs";

test("adds up", () => {
  const prices = [1, 2, 3];
  const total = sum(prices);
  assert.equal(total, 6);
});

test("nothing is zero", () => {
  assert.equal(sum([]), 0);
});

describe("a basket", () => {
  it("is cheap", async () => {
    const cheap = sum([0, 1]);
    assert.ok(cheap < 2);
  });
});
