// The bearer token comes in the URL's fragment, which browsers never send. It is moved from the address bar, where
// it would be seen on a shared screen, to this tab's storage, where a reload finds it again.

const KEY = 'trio-debugmcp.token';

export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return given || sessionStorage.getItem(KEY);
}

/** A new URL with another token was pasted: the browser changes the fragment without loading the page again. */
export function onNewToken(callback) {
  window.addEventListener('hashchange', () => {
    const before = sessionStorage.getItem(KEY);
    const token = takeToken();
    if (token !== before) callback(token);
  });
}

/** The token in a text: a URL with one in its fragment, or the token itself. */
export function tokenIn(text) {
  const [, fragment] = /#(.*)$/.exec(text.trim()) ?? [];
  return fragment === undefined ? text.trim() : new URLSearchParams(fragment).get('token') ?? '';
}
