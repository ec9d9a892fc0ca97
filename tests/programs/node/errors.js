class OutOfStock extends Error {}
class Sold extends OutOfStock {}

function take(count) {
  throw new Sold(`${count} left`, { cause: new RangeError("too few") });
}

try {
  take(0);
} catch (error) {
  console.error("caught", error.message);
}
Promise.reject(new TypeError("not handled"));
