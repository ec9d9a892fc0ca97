// Microsoft's DebugClient as a test's editor: `node client.mjs PORT`.
//
// Each line of standard input is a message to send, each line of standard output one that was received, as JSON.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const client = new DebugClient("node", "unused", "trio-debugmcp");
const dispatch = client.dispatch.bind(client);
client.dispatch = (body) => {
  process.stdout.write(`${body}\n`);
  dispatch(body);
};
await client.start(Number(process.argv[2]));
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "request") {
    client.sequence = message.seq;
    client.send(message.command, message.arguments).catch(() => {}); // a refusal was written as it came
  } else {
    const body = Buffer.from(line); // the client has no answers to requests of a server
    client.outputStream.write(`Content-Length: ${body.length}\r\n\r\n${line}`);
  }
});
