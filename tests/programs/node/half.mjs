import { readFileSync } from "node:fs";
export function half(n) {
  return n / 2;
}
const four = half(8);
console.log("four", four, typeof readFileSync);
