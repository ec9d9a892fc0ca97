// Microsoft's DebugClient as a person's editor: `node editor.mjs PORT TOKEN PROGRAM LINE [launch]`.
//
// Joins the session that is there, looks at all of it, steps, sets a conditional breakpoint in LINE and continues.
// Then it reports the events that it gets, until it is killed. With `launch` it starts the program and stops in LINE.
// Each line on standard output is JSON: what was asked or what has happened, and what came of it. What `wire` names is a
// message as it was received.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [port, token, program, line, launch] = process.argv.slice(2);
const client = new DebugClient("node", "unused", "trio-debugmcp");
client.defaultTimeout = 20000;
const dispatch = client.dispatch.bind(client);
client.dispatch = (body) => {
  say("wire", JSON.parse(body));
  dispatch(body);
};

function say(what, result) {
  process.stdout.write(`${JSON.stringify([what, result])}\n`);
}

async function ask(command, args) {
  const response = await client.send(command, args);
  say(command, response.body ?? null);
  return response.body;
}

async function look() {
  const { threads } = await ask("threads");
  const { stackFrames } = await ask("stackTrace", { threadId: threads[0].id, startFrame: 0, levels: 20 });
  const frameId = stackFrames[0].id;
  const { scopes } = await ask("scopes", { frameId });
  const { variables } = await ask("variables", { variablesReference: scopes[0].variablesReference });
  return { threadId: threads[0].id, frameId, scope: scopes[0].variablesReference, variables };
}

async function move(command, threadId) {
  await Promise.all([client.waitForEvent("stopped"), ask(command, { threadId })]);
}

async function join() {
  await client.initializeRequest({ adapterID: "trio-debugmcp", clientName: "Test Studio", linesStartAt1: true });
  const stopped = client.waitForEvent("stopped");
  await Promise.all([client.waitForEvent("initialized"), client.attachRequest({ token })]);
  await client.configurationDoneRequest();
  say("stopped", (await stopped).body);
  const { threadId, frameId, scope, variables } = await look();
  const parent = variables.find((each) => each.variablesReference);
  if (parent) await ask("variables", { variablesReference: parent.variablesReference });
  await ask("evaluate", { expression: "[1, 2]", frameId, context: "repl" });
  await ask("evaluate", { expression: "1 + 1", frameId, context: "hover" });
  await ask("completions", { text: "pri", column: 4, frameId });
  await ask("modules", { startModule: 0, moduleCount: 5 });
  await ask("loadedSources");
  await ask("setVariable", { variablesReference: scope, name: "value", value: "8" });
  await move("next", threadId);
  await move("stepIn", threadId);
  await move("stepOut", threadId);
  await look();
  await ask("setBreakpoints", { source: { path: program }, breakpoints: [{ line: Number(line), condition: "i == 3" }] });
  for (const name of ["stopped", "continued", "breakpoint", "output", "exited", "terminated"]) {
    client.on(name, (event) => say(name, event.body ?? null));
  }
  await ask("continue", { threadId });
}

await client.start(Number(port));
try {
  if (launch) {
    await client.hitBreakpoint({ token, program, type: "debugpy" }, { path: program, line: Number(line), verified: false });
    say("launched", await look());
    client.on("terminated", () => process.exit(0));
    await client.disconnectRequest({ terminateDebuggee: true });
    process.exit(0);
  }
  await join();
} catch (error) {
  say("failed", String(error.stack ?? error));
  process.exit(1);
}
