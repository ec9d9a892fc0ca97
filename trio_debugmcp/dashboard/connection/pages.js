// Puts the pages of a resource together: the server sends 32 KB at a time, and names the next page.

/** Pages that are read of one resource; what they lack stands in its `…LeftOut`. */
const MOST_PAGES = 16;

const MOST_TRIES = 3;

/**
 * Read a resource of JSON, with the items of all its pages. One that changes meanwhile is read again.
 *
 * @param {(uri: string) => Promise<string>} readText
 * @param {string} uri
 * @returns {Promise<any>}
 */
export async function readWhole(readText, uri) {
  let whole = {};
  for (let tried = 0; tried < MOST_TRIES; tried++) {
    whole = JSON.parse(await readText(uri));
    let page = whole;
    for (let pages = 1; page.next && pages < MOST_PAGES; pages++) {
      page = JSON.parse(await readText(page.next));
      if (page.revision !== whole.revision) break;
      append(whole, page);
    }
    if (page.revision === whole.revision) return whole;
  }
  return whole; // it changes all the time: the next notification is on its way
}

/** @param {any} whole @param {any} page */
function append(whole, page) {
  for (const [name, items] of Object.entries(page)) if (Array.isArray(items)) whole[name].push(...items);
  for (const name of Object.keys(whole)) {
    if (name !== 'next' && !name.endsWith('LeftOut')) continue;
    if (name in page) whole[name] = page[name];
    else delete whole[name];
  }
}
