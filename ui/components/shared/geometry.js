// Angles in degrees, counter-clockwise.
export const radians = (degrees) => (degrees * Math.PI) / 180;
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// an angle modulo 360
export const turned = (degrees) => ((degrees % 360) + 360) % 360;

// distance between two angles on the circle
export const apart = (a, b) => Math.abs(turned(a - b + 180) - 180);

// values of a slider after each key
export const sliderKeys = (value, step, page, start, end) => ({
  ArrowRight: value + step,
  ArrowUp: value + step,
  ArrowLeft: value - step,
  ArrowDown: value - step,
  PageUp: value + page,
  PageDown: value - page,
  Home: start,
  End: end,
});

// position of a pointer in an element, in shares of its width and height
export function within({ clientX, clientY }, element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [(clientX - left) / width, (clientY - top) / height];
}

// position of a pointer relative to the centre of a square element: angle from the top, distance in sides, and the
// side in pixels
export function around(event, element) {
  const [x, y] = within(event, element).map((share) => share - 0.5);
  return { angle: (Math.atan2(-x, -y) * 180) / Math.PI, radius: Math.hypot(x, y), side: element.clientWidth };
}
