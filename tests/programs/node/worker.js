const { parentPort } = require("worker_threads");
let q = 1;
parentPort.postMessage(q + 1);
