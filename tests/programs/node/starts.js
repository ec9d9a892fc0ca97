const { fork } = require("child_process");
const { Worker } = require("worker_threads");
const w = new Worker("./worker.js");
w.on("message", (m) => { console.log("worker says", m);
  const c = fork("./child.js", ["x"]);
  c.on("exit", (code) => { console.log("child", code); process.exit(3); });
});
