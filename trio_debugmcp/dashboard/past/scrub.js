// Dragging over the timeline goes through the stops of the past, as one drags the head of a player.

const DRAG_PIXELS = 4;

/**
 * @param {HTMLElement} track
 * @param {(clientX: number) => number} stopAt  The number of the stop that is nearest there; 0 if there is none.
 * @param {import('./travel.js').Travel} history
 */
export function createScrub(track, stopAt, history) {
  let from = 0;
  let dragging = false;
  let shown = 0;

  track.addEventListener('pointerdown', (event) => {
    // A finger scrolls the timeline; on its marks it goes to their stops.
    if (event.button !== 0 || event.pointerType === 'touch') return;
    from = event.clientX;
    track.addEventListener('pointermove', moved);
  });
  track.addEventListener('pointerup', done);
  track.addEventListener('pointercancel', done);

  /** @param {PointerEvent} event */
  function moved(event) {
    if (!dragging && Math.abs(event.clientX - from) < DRAG_PIXELS) return;
    if (!dragging) {
      dragging = true;
      shown = 0;
      track.setPointerCapture(event.pointerId);
      track.classList.add('dragged');
    }
    const number = stopAt(event.clientX);
    if (number === 0 || number === shown) return;
    shown = number;
    history.go(number);
  }

  /** @param {PointerEvent} event */
  function done(event) {
    track.removeEventListener('pointermove', moved);
    if (!dragging) return;
    dragging = false;
    track.classList.remove('dragged');
    track.releasePointerCapture(event.pointerId);
    // The click that follows is the end of the drag, and chooses nothing.
    const swallow = (click) => click.stopPropagation();
    track.addEventListener('click', swallow, {capture: true, once: true});
    setTimeout(() => track.removeEventListener('click', swallow, {capture: true}));
  }
}
