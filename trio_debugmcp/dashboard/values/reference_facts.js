// What refers to an object and what it refers to, as the nodes of a graph. Pure.

/**
 * `way`: what the arrow says; `name`: an expression or a variable; `value`: what is there; `next`: what to ask about to go there,
 * null where no expression leads.
 *
 * @typedef {{way: string, name: string, value: string, where: string, next: {expression: string, where: object} | null}} ReferenceNode
 *
 * @typedef {object} ReferenceGraph
 * @property {string} value
 * @property {string} type
 * @property {ReferenceNode[]} inbound
 * @property {number} inboundTotal
 * @property {number} instances  Of a class: they all refer to it, and are only counted.
 * @property {ReferenceNode[]} outbound
 * @property {number} outboundTotal
 * @property {string[]} notes
 */

/**
 * @param {string} expression  The object that was asked about.
 * @param {object} where  The frame in which that is an expression.
 * @param {any} answer
 * @returns {ReferenceGraph}
 */
export function graphOf(expression, where, {value, type, inbound, inboundTotal, instances, outbound, outboundTotal, notes = []}) {
  return {
    value, type, inboundTotal, instances, outboundTotal, notes,
    inbound: inbound.map((each) => holderNode(each, where)),
    outbound: outbound.map(({way, value: part}) => ({
      way, name: '', value: part, where: '',
      next: /^[.[]/.test(way) ? {expression: `${expression}${way}`, where} : null,
    })),
  };
}

/** @param {any} holder @param {object} where @returns {ReferenceNode} */
function holderNode(holder, where) {
  const {way, of, path, under, variable} = holder;
  const isFrame = holder.frameIndex !== null && holder.task === null;
  const there = isFrame ? {...where, frame_index: holder.frameIndex, ...(holder.threadId === null ? {} : {thread_id: holder.threadId})} : where;
  const leads = of !== null && way !== '' && path?.endsWith(way) && holder.task === null;
  const whole = leads ? path.slice(0, -way.length) : null;
  return {
    way: of === null ? '' : way,
    name: of === null ? path ?? variable ?? 'a variable' : whole ?? (under ? `under ${under}` : ''),
    value: of ?? '',
    where: placeOf(holder),
    next: whole ? {expression: whole, where: there} : null,
  };
}

/** @param {any} holder */
function placeOf({module, frameIndex, task, location}) {
  if (frameIndex === null) return module ? `global of ${module}` : '';
  return `local in ${location?.functionName ?? 'a frame'}${task === null ? '' : `, task ${task}`}`;
}
