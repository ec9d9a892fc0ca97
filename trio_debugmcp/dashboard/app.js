// Puts the page together: one connection, one store, and the parts that draw it.

import {Actions} from './actions.js';
import {byId, isTyping} from './dom.js';
import {Link} from './link.js';
import {ConnectionLost} from './mcp.js';
import {Mirror} from './mirror.js';
import {createActivity} from './panels/activity.js';
import {createBreakpoints} from './panels/breakpoints.js';
import {createClients} from './panels/clients.js';
import {createConnection} from './panels/connection.js';
import {createControls} from './panels/controls.js';
import {createEmpty} from './panels/empty.js';
import {createNotice} from './panels/notice.js';
import {createOutput} from './panels/output.js';
import {createStack} from './panels/stack.js';
import {createStatus} from './panels/status.js';
import {createTheme} from './panels/theme.js';
import {createChildren, createThreads} from './panels/threads.js';
import {createLocals} from './panels/variables.js';
import {createWatches} from './panels/watches.js';
import {initialState, SessionView, URIS} from './session.js';
import {createSource} from './source.js';
import {Store} from './store.js';
import {createTimeline} from './timeline.js';
import {onNewToken, takeToken} from './token.js';

const store = new Store(initialState());
let client = null;
let mirror = null;

const connected = () => client ?? {
  callTool: () => Promise.reject(new ConnectionLost('Not connected to the server.')),
  readText: () => Promise.reject(new ConnectionLost('Not connected to the server.')),
};
const call = (name, args) => connected().callTool(name, args);
const session = new SessionView(store, call);
const actions = new Actions(store, {call, refresh: () => mirror?.list()});

const fetchSource = (path) =>
  connected().readText(`debugger://source/${path.split('/').map(encodeURIComponent).join('/')}`);

async function opened(newClient, server) {
  client = newClient;
  session.connected();
  mirror = new Mirror(client, Object.values(URIS), {
    onPayload: (uri, payload) => session.payload(uri, payload),
    onActive: (active) => session.active(active),
    onError: reported,
  });
  try {
    const {tools} = await client.request('tools/list');
    const role = tools.some(({name}) => name === 'debug_continue') ? 'control' : 'observe';
    store.update({server: server.serverInfo, ...(role === store.state.role ? {} : {role})});
    await mirror.start();
  } catch (error) {
    reported(error);
  }
}

function reported(error) {
  if (!(error instanceof ConnectionLost)) console.error(error);
}

const link = new Link({
  token: takeToken(),
  onStatus: (status) => store.update({link: status}),
  onOpen: opened,
  onNotification: (method, params) => mirror?.notified(method, params),
});

createTheme();
createConnection(store);
createStatus(store, actions);
createControls(store, actions);
createNotice(store, actions);
createStack(store, actions);
createThreads(store, actions);
createChildren(store);
createBreakpoints(store, actions);
createSource(store, actions, fetchSource);
createEmpty(store);
createOutput(store);
createLocals(store, actions);
createWatches(store, actions);
createActivity(store, actions);
createClients(store);
createTimeline(store, actions);

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !isTyping(event.target)) session.follow();
});

onNewToken((token) => link.restart(token));
link.start();
