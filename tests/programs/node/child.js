let z = 5;
console.log("in child", z);
process.exitCode = 4;
