// Loads the extension of Visual Studio Code with the part of `vscode` that it uses, and prints what it makes of each input.
//   node extension.cjs EXTENSION.js   reads {"configurations": […], "inputs": […]} from standard input

const Module = require('node:module');
const {readFileSync} = require('node:fs');

const {configurations, inputs} = JSON.parse(readFileSync(0, 'utf8'));
const registered = {};
const refused = [];
const started = [];

class DebugAdapterServer {
  constructor(port, host) {
    Object.assign(this, {port, host});
  }
}

class McpStdioServerDefinition {
  constructor(label, command, args) {
    Object.assign(this, {label, command, args});
  }
}

const vscode = {
  DebugAdapterServer,
  McpStdioServerDefinition,
  lm: {registerMcpServerDefinitionProvider: (id, provider) => (registered.servers = {id, provider})},
  workspace: {getConfiguration: () => ({get: () => undefined}), workspaceFolders: [{uri: '/project'}]},
  debug: {
    registerDebugAdapterDescriptorFactory: (type, factory) => (registered.factory = factory),
    registerDebugConfigurationProvider: (type, provider) => (registered.provider = provider),
    startDebugging: async (folder, configuration) => started.push(configuration),
  },
  commands: {registerCommand: (name, run) => (registered[name] = run)},
  window: {
    async showInputBox({validateInput}) {
      const typed = inputs.shift();
      if (typed !== undefined && validateInput?.(typed)) {
        refused.push(typed);
        return undefined;
      }
      return typed;
    },
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
require(process.argv[2]).activate({subscriptions: []});

(async () => {
  const resolved = [];
  for (const each of configurations) {
    const configuration = await registered.provider.resolveDebugConfiguration(undefined, each);
    const address = configuration && registered.factory.createDebugAdapterDescriptor({configuration});
    resolved.push({configuration, address});
  }
  while (inputs.length > 0) await registered['trio-debugmcp.join']();
  const {id, provider} = registered.servers;
  console.log(JSON.stringify({resolved, refused, started, servers: {id, list: provider.provideMcpServerDefinitions()}}));
})();
