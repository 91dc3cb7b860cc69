// Numbers as `packed` of fgpvae.browser.bundle sends them: float32 in base64. Numbers made in the browser are used
// as they are.
export function unpacked(text) {
  return typeof text === "string" ? new Float32Array(bytes(text).buffer) : text;
}

export function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// A buffer of half precision as float32.
export const floats = (buffer) => new Float32Array(new Float16Array(buffer));

// A standard normal number (Box-Muller).
export function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
