// Angles in degrees, counter-clockwise.
export const radians = (degrees) => (degrees * Math.PI) / 180;
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// an angle modulo 360
export const turned = (degrees) => ((degrees % 360) + 360) % 360;

// distance between two angles on the circle
export const apart = (a, b) => Math.abs(turned(a - b + 180) - 180);

// where the arrow keys lead
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

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

// Numbers as `packed` of fgpvae.browser.bundle sends them: float32 in base64. Numbers made in the browser are used
// as they are.
export function unpacked(text) {
  return typeof text === "string" ? new Float32Array(bytes(text).buffer) : text;
}

export function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

let values; // of all 65,536 numbers of half precision; a decoder has a million weights

// A buffer of half precision as float32. Float16Array is in browsers since 2025 only.
export function floats(buffer) {
  values ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    return (bits & 0x8000 ? -1 : 1) * 2 ** (Math.max(exponent, 1) - 25) * (fraction + (exponent ? 1024 : 0));
  });
  return Float32Array.from(new Uint16Array(buffer), (bits) => values[bits]);
}

// A standard normal number (Box-Muller).
export function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
