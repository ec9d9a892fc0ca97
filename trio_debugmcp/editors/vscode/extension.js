// Connects Visual Studio Code to a trio_debugmcp server that speaks the Debug Adapter Protocol (`serve --dap`), and tells its
// agents of the server.

const vscode = require('vscode');

const TYPE = 'trio-debugmcp';
const HOST = '127.0.0.1';

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      createDebugAdapterDescriptor: ({configuration: {host, port}}) => new vscode.DebugAdapterServer(port, host ?? HOST),
    }),
    vscode.debug.registerDebugConfigurationProvider(TYPE, {resolveDebugConfiguration: resolved}),
    vscode.commands.registerCommand('trio-debugmcp.join', join),
  );
  // Since 1.101: the server for the agents of the editor, in the first folder of the window.
  const provide = vscode.lm?.registerMcpServerDefinitionProvider;
  if (provide) context.subscriptions.push(provide(TYPE, {provideMcpServerDefinitions: servers}));
};

function servers() {
  const {command, args} = vscode.workspace.getConfiguration(TYPE).get('server') ?? {};
  const server = new vscode.McpStdioServerDefinition('debugger', command ?? 'trio-debugmcp', args ?? ['serve']);
  server.cwd = vscode.workspace.workspaceFolders?.[0]?.uri;
  return [server];
}

/** A configuration is whole with a port; without launch.json, F5 asks where to join. */
async function resolved(folder, configuration) {
  if (configuration.port) return configuration;
  const asked = await ask();
  return asked && {request: 'attach', name: 'Join the agent', ...configuration, type: TYPE, ...asked};
}

async function join() {
  const asked = await ask();
  if (!asked) return;
  const configuration = {type: TYPE, request: 'attach', name: 'Join the agent', wait: true, ...asked};
  await vscode.debug.startDebugging(undefined, configuration);
}

/** Ask for the address and the token that the server printed; undefined if the person gives up. */
async function ask() {
  const address = await vscode.window.showInputBox({
    title: 'Join an agent: the address (1 of 2)',
    prompt: 'HOST:PORT, as `trio-debugmcp serve --dap` printed it',
    value: `${HOST}:`,
    ignoreFocusOut: true,
    validateInput: (text) => (parsed(text) ? null : 'A host and a port, such as 127.0.0.1:5678'),
  });
  if (address === undefined) return undefined;
  const token = await vscode.window.showInputBox({
    title: 'Join an agent: the token (2 of 2)',
    prompt: 'The control token, or the observe token to watch only',
    password: true,
    ignoreFocusOut: true,
  });
  return token === undefined ? undefined : {...parsed(address), token};
}

/** The host and port of `HOST:PORT`, `[::1]:PORT` or `PORT`; undefined if it is none of these. */
function parsed(text) {
  const found = /^(?:(.+):)?(\d{1,5})$/.exec(text.trim());
  const port = Number(found?.[2]);
  if (!found || port < 1 || port > 65535) return undefined;
  return {host: (found[1] ?? HOST).replace(/^\[(.*)\]$/, '$1'), port};
}
