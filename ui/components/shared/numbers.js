// Numbers as `packed` of fgpvae.browser.bundle sends them: float32 in base64. Numbers made in the browser are used
// as they are.
export function unpacked(text) {
  return typeof text === "string" ? new Float32Array(bytes(text).buffer) : text;
}

export function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// A number of half precision: a sign, five bits of exponent, ten of fraction.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

let values; // of all 65,536; a decoder has a million weights

// A buffer of half precision as float32. Float16Array is in browsers since 2025 only.
export function floats(buffer) {
  values ??= Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  return Float32Array.from(new Uint16Array(buffer), (bits) => values[bits]);
}

// A standard normal number (Box-Muller).
export function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
