let total = 40;
total += 2;
console.log("total", total); // stop: total is 42
