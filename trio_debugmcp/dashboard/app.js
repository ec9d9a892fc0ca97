// Puts the page together: one connection, one store, and the parts that draw it.

import {Actions} from './actions.js';
import {keepArranged} from './view/arrange.js';
import {walkDisclosures} from './view/disclosures.js';
import {byId, isTyping} from './view/dom.js';
import {FleetLooks} from './fleet/fleet_looks.js';
import {Follow} from './program/follow.js';
import {frameArguments} from './program/frame.js';
import {History} from './past/history.js';
import {LateView} from './past/late_view.js';
import {Link} from './connection/link.js';
import {LiveSide} from './live_side.js';
import {ConnectionLost, Unanswered, untilAnswered} from './connection/mcp.js';
import {Mirror} from './connection/mirror.js';
import {createBreakpoints} from './source/breakpoints.js';
import {createClients} from './people/clients.js';
import {createConnection} from './connection/connection.js';
import {createControls} from './program/controls.js';
import {createCopyStack} from './program/copy_stack.js';
import {createEmpty} from './view/empty.js';
import {createFollow} from './program/follow_panel.js';
import {createMessage} from './program/message.js';
import {createLate} from './view/late_panel.js';
import {Now} from './program/now.js';
import {createNotice} from './view/notice.js';
import {createPast} from './past/past.js';
import {createEvaluate} from './values/evaluate.js';
import {createExceptions} from './source/exceptions.js';
import {createLineMenu} from './source/line_menu.js';
import {createKeys} from './view/keys.js';
import {createInput} from './output/input.js';
import {createOutput} from './output/output.js';
import {createOutputTools} from './output/output_tools.js';
import {createPeople} from './people/people_panel.js';
import {createProcesses} from './program/processes_panel.js';
import {Processor} from './program/processor.js';
import {createStack} from './program/stack.js';
import {createStatus} from './program/status.js';
import {createStory} from './story/story_panel.js';
import {createTheme} from './view/theme.js';
import {createThreads} from './program/threads.js';
import {createWhose} from './program/whose.js';
import {createValues} from './past/values_panel.js';
import {createLocals} from './values/variables.js';
import {createRun} from './runs/run_panel.js';
import {createRuns} from './runs/runs_panel.js';
import {showReferences} from './values/reference_graph.js';
import {createValueActions} from './values/value_actions.js';
import {createVariableMenu} from './values/variable_menu.js';
import {createWatches} from './values/watches.js';
import {createFind} from './view/find.js';
import {createGoTo} from './source/goto.js';
import {createHover} from './source/hover.js';
import {echoing} from './output/inputs.js';
import {watched} from './view/late.js';
import {People} from './people/people.js';
import {aboutShown, Chooser} from './program/processes.js';
import {KeptRuns} from './runs/kept_runs.js';
import {RunMoments} from './runs/run_moments.js';
import {RunSources} from './runs/run_sources.js';
import {Travel} from './past/travel.js';
import {inButtons} from './view/refusals.js';
import {blankProcess, initialState, SessionView, URIS} from './session.js';
import {createScrub} from './past/scrub.js';
import {createShare} from './people/share.js';
import {createPanes} from './view/panes.js';
import {createTasks} from './program/tasks.js';
import {createSource} from './source/source.js';
import {Store} from './store.js';
import {createTimeline} from './timeline/timeline.js';
import {createTimelineViews} from './pictures/timeline_views.js';
import {onNewToken, takeToken} from './connection/token.js';
import {sourceProblem} from './view/words.js';

const store = new Store(initialState());
/** @type {import('./connection/mcp.js').McpClient | null} */
let client = null;
/** @type {Mirror | null} */
let mirror = null;

/** @returns {Pick<import('./connection/mcp.js').McpClient, 'callTool' | 'readText' | 'readJson'>} */
const connected = () => client ?? {
  callTool: (_name, _args) => Promise.reject(new ConnectionLost('Not connected to the server.')),
  readText: (_uri) => Promise.reject(new ConnectionLost('Not connected to the server.')),
  readJson: (_uri) => Promise.reject(new ConnectionLost('Not connected to the server.')),
};
const call = (name, args = {}) =>
  watched(store, name, () => connected().callTool(name, aboutShown(name, args, store.state.chosen)).catch(inButtons));
const live = /** @type {LiveSide & Store} */ (new LiveSide(store));
const follow = new Follow(live);
const ask = (name, args) => connected().callTool(name, args);
const history = new History(live, follow, ask, (uri) => connected().readJson(uri));
const travel = new Travel(history, new RunMoments(live, follow, ask));
const late = new LateView(live, ask);
const runs = new KeptRuns(store);
const runSources = new RunSources(store, ask);
const session = new SessionView(live, call, follow, late.show);
const actions = new Actions(store, {call, refresh: () => mirror?.list(), follow, history: travel});
const chooser = new Chooser(live, follow, {address: (id) => mirror?.choose(id).catch(reported), blank: blankProcess});

const looks = new FleetLooks(store, ask);

const people = new People(store, call);

/** Sessions that were shown. With each that is new the server may have forgotten what was on the timeline. */
const begun = new Set();
store.watch(['session'], ({session: now}) => {
  const key = now && `${now.sessionId} ${now.attachedAt}`;
  if (!key || begun.has(key)) return;
  begun.add(key);
  history.learn().catch(reported);
});

/** `version`: as the file ran at the stop of the past that is shown, or at the last one of a session that is over. */
const fetchSource = async (path, version) => {
  try {
    if (version && runSources.has(version)) return await runSources.text(path, version);
    if (version) return await history.text(path, version, store.state.past?.stop ?? late.stop);
    if (!store.state.active) return await late.text(path);
    return await connected().readText(`debugger://source/${path.split('/').map(encodeURIComponent).join('/')}`);
  } catch (error) {
    throw new Error(sourceProblem(error.message));
  }
};

async function opened(newClient, server) {
  client = newClient;
  history.forget();
  session.connected();
  const newMirror = new Mirror(newClient, Object.values(URIS), {
    onPayload: (uri, payload) => session.payload(uri, payload),
    onActive: (active) => session.active(active),
    onError: reported,
  });
  mirror = newMirror;
  store.update({server: server.serverInfo});
  const joined = roleOf(newClient).then((role) => people.opened(newClient, role));
  await Promise.all([newMirror.start(), joined, history.learn(), runs.opened(newClient)].map((each) => each.catch(reported)));
}

/** @param {import('./connection/mcp.js').McpClient} newClient */
async function roleOf(newClient) {
  const {tools} = await untilAnswered(() => newClient.request('tools/list'));
  newClient.acting = new Set(tools.filter(({annotations}) => annotations?.readOnlyHint === false).map(({name}) => name));
  const role = tools.some(({name}) => name === 'debug_continue') ? 'control' : 'observe';
  if (role !== store.state.role) store.update({role});
  return role;
}

function reported(error) {
  if (error instanceof Unanswered || !(error instanceof ConnectionLost)) console.error(error);
}

const link = new Link({
  token: takeToken(),
  onStatus: (status) => store.update({link: status}),
  onOpen: opened,
  onNotification: (method, params) => {
    mirror?.notified(method, params);
    people.notified(method, params);
    runs.notified(method, params);
  },
});

/** @param {string} id */
const openRun = (id) => store.update({run: {id, process: null}});

keepArranged();
createTheme();
createPanes();
createShare(store, call);
createKeys(store);
createConnection(store);
createStatus(store);
createWhose(store);
createPeople(store, people);
createMessage(store);
createFollow(store, follow, chooser);
createControls(store, actions);
createNotice(store, actions);
createLate(store);
createStory(store, actions, (uri) => connected().readJson(uri));
createStack(store, actions);
createCopyStack(store, call);
createThreads(store, actions);
createTasks(store, actions);
createProcesses(store, (id) => {
  if (travel.away) travel.now(); // it is chosen to be seen as it is now
  chooser.choose(id);
}, () => looks.look().catch(reported));
createBreakpoints(store, actions);
createExceptions(store, actions);
const run = createRun(store, travel, ask);
createLineMenu(store, actions, run);
const source = createSource(store, actions, fetchSource);
byId('source-tools').append(createFind({label: 'Find in the source', keys: '/', view: byId('source'), ...source}).node);
createHover(store, call);
createGoTo(store, actions);
createEmpty(store, openRun);
createInput(store, call);
createOutput(echoing(store), () => session.earlierOutput());
createOutputTools();
createLocals(store, actions, (variable, sessionId) =>
  ask('stop_get', {variable, session_id: sessionId}).then(({points = []}) => points, () => []));
createWatches(store, actions);
for (const id of ['locals', 'watches']) walkDisclosures(byId(id));
createEvaluate(store, actions);
const showRow = createValueActions(store, actions);
createClients(store);
const {stopAt} = createTimeline(store, actions);
createTimelineViews(store, actions);
createPast(store, travel);
const overStops = createValues(store, history, call, run);
createVariableMenu(store, actions, {
  show: showRow,
  overStops,
  references: (path) => showReferences(call, {expression: path, where: frameArguments(store.state)}),
  why: (question) => run.why(question),
});
createScrub(byId('timeline'), stopAt, travel);
createRuns(store, openRun);

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing || document.querySelector('dialog[open]')) return;
  if (isTyping(event.target)) {
    /** @type {HTMLElement} */ (event.target).blur(); // what is typed stays, and the other keys are the page's again
  } else if (travel.away) {
    travel.now();
  } else {
    chooser.choose(null);
    follow.back();
  }
});

onNewToken((token) => link.restart(token));
new Now(store, call);
new Processor(store, (uri) => connected().readJson(uri));
link.start();
