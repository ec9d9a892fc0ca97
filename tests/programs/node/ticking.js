let n = 0;
function tick() {
  n += 1;
  console.log("tick", n);
}
setInterval(tick, 100);
