// A host of MCP Apps: an MCP client that calls tools and shows a card for each answer, as chats do. Built by esbuild.

import {Client} from '@modelcontextprotocol/client';
import {AppBridge, PostMessageTransport} from '@modelcontextprotocol/ext-apps/app-bridge';

const Anything = {'~standard': {version: 1, vendor: 'test', validate: (value) => ({value})}};

const ME = {name: 'chat', version: '1'};

class WebSocketTransport {
  constructor(url, token) {
    this.socket = new WebSocket(url, ['mcp', `bearer.${token}`]);
    this.socket.onmessage = (event) => this.onmessage?.(JSON.parse(event.data));
    this.socket.onclose = () => this.onclose?.();
  }

  start() {
    return new Promise((resolve, reject) => Object.assign(this.socket, {onopen: resolve, onerror: reject}));
  }

  async send(message) {
    this.socket.send(JSON.stringify(message));
  }

  async close() {
    this.socket.close();
  }
}

class Host {
  /** What the cards have asked for and sent, in order. */
  calls = [];
  contexts = [];
  bridges = [];
  /** What is answered to the cards instead of asking the server. */
  answers = {};

  async connect(token) {
    const extensions = {'io.modelcontextprotocol/ui': {mimeTypes: ['text/html;profile=mcp-app']}};
    this.client = new Client(ME, {capabilities: {extensions}});
    await this.client.connect(new WebSocketTransport(`ws://${location.host}/mcp`, token));
    this.tools = new Map((await this.client.listTools()).tools.map((tool) => [tool.name, tool]));
  }

  /** Call a tool as the model of the chat does, and show the card that it is linked with. */
  async call(name, args = {}, looks = {}) {
    const tool = this.tools.get(name);
    const show = await this.#card(tool, args, looks);
    const result = await this.client.callTool({name, arguments: args});
    await show(result);
    return result.structuredContent ?? result.content[0].text;
  }

  /** Show an answer that is made up, as if a tool had given it. */
  async pretend(result, {dropped = [], ...looks} = {}) {
    const show = await this.#card(this.tools.get('debug_wait'), {}, looks);
    await show(Object.fromEntries(Object.entries(result).filter(([key]) => !dropped.includes(key))));
  }

  setLooks(looks) {
    for (const bridge of this.bridges) bridge.setHostContext(looks);
  }

  /** Wait until what has been sent, and what was answered to it, has arrived: messages do not overtake each other. */
  async settle() {
    for (const bridge of [...this.bridges, ...this.bridges]) await bridge.request({method: 'ping'}, Anything);
  }

  async #card(tool, args, {capabilities, width, ...looks}) {
    const uri = tool._meta.ui.resourceUri;
    const {contents} = await this.client.readResource({uri});
    const frame = document.createElement('iframe');
    frame.title = `card ${this.bridges.length + 1}`;
    frame.sandbox = 'allow-scripts';
    frame.style.cssText = `width: ${width ?? 760}px; height: 60px; border: 0; display: block`;
    const can = capabilities ?? {serverTools: {}, updateModelContext: {text: {}}};
    const bridge = new AppBridge(this.client, ME, can, {hostContext: {theme: 'light', toolInfo: {tool}, ...looks}});
    this.bridges.push(bridge);
    document.body.append(frame);
    bridge.onsizechange = ({height}) => (frame.style.height = `${height}px`);
    bridge.onupdatemodelcontext = async ({content}) => this.contexts.push(content[0].text) && {};
    const ready = new Promise((resolve) => (bridge.oninitialized = resolve));
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    const forwarded = bridge.oncalltool;
    bridge.oncalltool = async (params, extra) => {
      this.calls.push(params);
      if (params.name in this.answers) return this.answers[params.name];
      const {visibility = ['model', 'app']} = this.tools.get(params.name)?._meta?.ui ?? {};
      if (!this.tools.has(params.name) || !visibility.includes('app')) throw new Error('not a tool for cards');
      return forwarded ? forwarded(params, extra) : this.client.callTool(params);
    };
    frame.srcdoc = contents[0].text;
    await ready;
    await bridge.sendToolInput({arguments: args});
    return (result) => bridge.sendToolResult(result);
  }
}

window.chat = new Host();
