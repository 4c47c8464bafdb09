// SPDX-License-Identifier: Apache-2.0
// Sizes on the screen: how many device pixels a canvas has, and when that changes. A window that is
// zoomed, or moved to another screen, changes the ratio and maybe no size.

/** Call CHANGED once and whenever the size of ELEMENT or the ratio does; the result ends it. */
export function watchSize(element: Element, changed: (ratio: number) => void): () => void {
  const tell = () => changed(window.devicePixelRatio || 1);
  const sizes = new ResizeObserver(tell);
  sizes.observe(element);
  let screens: MediaQueryList | null = null;
  // A query is of one ratio: each change needs the next one.
  const again = () => {
    follow();
    tell();
  };
  const follow = () => {
    screens?.removeEventListener("change", again);
    screens = window.matchMedia(`(resolution: ${window.devicePixelRatio || 1}dppx)`);
    screens.addEventListener("change", again);
  };
  follow();
  return () => {
    sizes.disconnect();
    screens?.removeEventListener("change", again);
  };
}

/** What puts back what CANVAS shows after its size has changed, stretched. */
export function keepPicture(canvas: HTMLCanvasElement): () => void {
  const { width, height } = canvas;
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const isEmpty = width === 0 || height === 0;
  if (!isEmpty) copy.getContext("2d")?.drawImage(canvas, 0, 0);
  return () => {
    if (!isEmpty) canvas.getContext("2d")?.drawImage(copy, 0, 0, canvas.width, canvas.height);
  };
}

/**
 * Let CANVAS be WIDTH x HEIGHT on the page, with RATIO device pixels for one: its own pixels are
 * those of the screen. Whether that changed it, which empties it.
 */
export function sizeCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): boolean {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  const isNew = canvas.width !== w || canvas.height !== h;
  if (isNew) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.style.width = `${w / ratio}px`;
  canvas.style.height = `${h / ratio}px`;
  return isNew;
}
