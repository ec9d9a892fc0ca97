// The output that the page has: the end of it from the resource, and what was before when it was asked for.

/** Characters that are kept: as many as the server keeps. */
const KEPT_CHARACTERS = 4 * 1024 * 1024;

/** Of one question for what was before: a connection on which nothing else comes for seconds is taken for a dead one. */
const EARLIER_BYTES = 250_000;

/** @typedef {{seq: number, stream: string, text: string, time: string}} Entry */
/** @typedef {{entries: Entry[], nextSeq: number, dropped: number, whole?: boolean}} Output  `whole`: nothing is before it. */

/** Before the end of an entry of which the resource has no more. */
const CUT = '…';

/** How many entries the server has that are not here, or the end of which is. @param {Output} output */
export const earlierIn = ({entries, nextSeq, dropped, whole}) =>
  whole ? 0 : Math.max(0, (entries[0]?.seq ?? nextSeq) - (entries[0]?.text.startsWith(CUT) ? 0 : 1) - dropped);

/** Join what the resource has to what is known. @param {Output} known @param {Output} payload @returns {Output} */
export function joined(known, payload) {
  const restarted = payload.nextSeq < known.nextSeq;
  const first = payload.entries[0]?.seq ?? payload.nextSeq;
  // After a hole there would be output that seems to follow what it does not follow.
  const follows = first <= known.nextSeq;
  const kept = restarted || !follows ? [] : known.entries;
  const before = kept.filter(({seq}) => seq < first);
  const all = [...before, ...payload.entries];
  // An entry that has been read does not grow: what is longer has more of it.
  const same = kept.find(({seq, time}) => seq === first && time === payload.entries[0]?.time);
  if (same && same.text.length > all[before.length].text.length) all[before.length] = same;
  const entries = lastOf(all);
  return {...payload, entries, whole: Boolean(known.whole && before.length && entries.length === all.length)};
}

/**
 * Fetch what was before the first entry, as far as the server still has it.
 *
 * @param {(name: string, args: object) => Promise<any>} ask
 * @param {() => Output} known
 * @param {(output: Output) => void} onFound
 */
export async function fetchEarlier(ask, known, onFound) {
  const {entries, nextSeq, dropped} = known();
  // With the first one that is here, of which the resource may have the end only.
  const begun = entries[0]?.seq ?? nextSeq;
  const first = entries[1]?.seq ?? nextSeq;
  /** @type {Entry[]} */
  const pieces = [];
  for (let since = dropped + 1; since !== first; ) {
    const found = await ask('process_read_output', {since_seq: since, until_seq: first, max_bytes: EARLIER_BYTES});
    if (!found || found.nextSeq === since) return;
    // What tracepoints wrote is on the timeline, not here. A long entry comes in parts, which have one number.
    for (const entry of found.entries.filter(({stream}) => stream !== 'tracepoint')) {
      const before = pieces.at(-1)?.seq === entry.seq ? pieces.pop() : undefined;
      pieces.push({...entry, text: (before?.text ?? '') + entry.text});
    }
    since = found.nextSeq;
  }
  const now = known();
  if ((now.entries[0]?.seq ?? now.nextSeq) !== begun) return; // it is other output by now
  onFound({...now, whole: true, entries: [...pieces, ...now.entries.filter(({seq}) => seq >= first)]});
}

/** @param {Entry[]} entries */
function lastOf(entries) {
  let size = 0;
  let from = entries.length;
  while (from > 0 && (size += entries[from - 1].text.length) <= KEPT_CHARACTERS) from -= 1;
  return from === 0 ? entries : entries.slice(from);
}
