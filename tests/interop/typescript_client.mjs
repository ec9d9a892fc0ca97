// An agent's way through a session with one of the TypeScript SDKs; prints what it saw as one line of JSON.
// Usage: node typescript_client.mjs SDK ERA TARGET PROGRAM
//   SDK     v1 (@modelcontextprotocol/sdk) or v2 (@modelcontextprotocol/client)
//   ERA     legacy or modern; v1 knows legacy only
//   TARGET  JSON: {"command", "args", "env"} or {"url", "token"}

const [sdk, era, target, program] = process.argv.slice(2);
const { command, args, env, url, token } = JSON.parse(target);

const SESSION = "debugger://session";
const UPDATED = "notifications/resources/updated";
const LIST_CHANGED = "notifications/resources/list_changed";
const MESSAGE = "notifications/message";
const PATIENCE = 300_000;

const { Client, Stdio, Http, named } = await (sdk === "v1" ? loadV1() : loadV2());

async function loadV1() {
  const base = "@modelcontextprotocol/sdk";
  const { Client } = await import(`${base}/client/index.js`);
  const { StdioClientTransport: Stdio } = await import(`${base}/client/stdio.js`);
  const { StreamableHTTPClientTransport: Http } = await import(`${base}/client/streamableHttp.js`);
  const types = await import(`${base}/types.js`);
  const named = {
    [UPDATED]: types.ResourceUpdatedNotificationSchema,
    [LIST_CHANGED]: types.ResourceListChangedNotificationSchema,
    [MESSAGE]: types.LoggingMessageNotificationSchema,
  };
  return { Client, Stdio, Http, named };
}

async function loadV2() {
  const base = "@modelcontextprotocol/client";
  const { Client, StreamableHTTPClientTransport: Http } = await import(base);
  const { StdioClientTransport: Stdio } = await import(`${base}/stdio`);
  return { Client, Stdio, Http, named: { [UPDATED]: UPDATED, [LIST_CHANGED]: LIST_CHANGED, [MESSAGE]: MESSAGE } };
}

const seen = { [UPDATED]: [], [LIST_CHANGED]: [], [MESSAGE]: [] };
let wake = () => {};

async function until(what, condition) {
  const deadline = Date.now() + PATIENCE;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not seen: ${what}`);
    await new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, 100);
    });
  }
}

async function call(name, given = {}) {
  const result = await client.callTool({ name, arguments: given });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
  return result;
}

async function lineOfSession() {
  const { contents } = await client.readResource({ uri: SESSION });
  const session = JSON.parse(contents[0].text);
  return [session.state, session.currentLocation.line];
}

const mode = era === "modern" ? "auto" : "legacy";
const client = new Client({ name: `typescript-${sdk}`, version: "1" }, { versionNegotiation: { mode } });
for (const method of Object.keys(seen)) {
  client.setNotificationHandler(named[method], (notification) => {
    seen[method].push(notification.params ?? {});
    wake();
  });
}
const transport = url
  ? new Http(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
  : new Stdio({ command, args, env });
await client.connect(transport);

const report = { server: client.getServerVersion().name, capabilities: client.getServerCapabilities() };
report.tools = (await client.listTools()).tools.map((tool) => tool.name);
report.prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
report.resourcesBefore = (await client.listResources()).resources.length;

let subscription;
if (era === "modern") {
  subscription = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [SESSION] });
  report.honored = subscription.honoredFilter;
} else {
  await client.setLoggingLevel("debug");
}

const launched = await call("debug_launch", { program });
report.launched = launched.structuredContent ?? JSON.parse(launched.content[0].text);
await until("the list change", () => seen[LIST_CHANGED].length);
report.resources = (await client.listResources()).resources.map((resource) => resource.uri);
report.templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
report.entry = await lineOfSession();

if (!subscription) await client.subscribeResource({ uri: SESSION });
await new Promise((resolve) => setTimeout(resolve, 1200)); // notifications about the launch
seen[UPDATED].length = 0;
await call("debug_step", { mode: "over" });
await until("the update after a step", () => seen[UPDATED].length);
report.updated = seen[UPDATED].map(({ uri }) => uri);
report.afterStep = await lineOfSession();

const ref = { type: "ref/prompt", name: "find_bug_source" };
report.completion = (await client.complete({ ref, argument: { name: "file", value: "ste" } })).completion.values;

if (subscription) await subscription.close();
else await client.unsubscribeResource({ uri: SESSION });
const lists = seen[LIST_CHANGED].length;
await call("debug_disconnect");
if (!subscription) await until("the list change at the end", () => seen[LIST_CHANGED].length > lists);
report.resourcesAfter = (await client.listResources()).resources.length;
if (url && !subscription) {
  await fetch(url); // without a token, which is nobody's business here
  await call("breakpoint_set_exception", { exception_type: "*", condition: "not_there" }); // fails, which the server logs
  await call("debug_launch", { program: program.replace("steps", "errors"), stop_at_entry: false });
  await until("a log message", () => seen[MESSAGE].length);
  await call("debug_disconnect");
}
report.logged = seen[MESSAGE];
if (era === "legacy" && url) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(report));
