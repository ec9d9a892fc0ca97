// Which colour a function has in a flame. Pure.

/** Functions that are neighbours mostly differ in their colour. */
const COLOURS = 3;

/** @param {string} name  Of a function. */
export const flameKind = (name) => `flame${[...name].reduce((sum, sign) => sum + (sign.codePointAt(0) ?? 0), 0) % COLOURS}`;
