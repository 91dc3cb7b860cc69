// Weights as fgpvae.browser.site writes them: whole numbers, deflated, and a scale for each row.
import { bytes, unpacked } from "../shared/numbers.js";

export async function weights({ sizes, scales }, text) {
  const inflated = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [all, scale] = [await new Response(inflated).arrayBuffer(), unpacked(scales)];
  const out = new Float32Array(sizes.reduce((sum, [rows, columns]) => sum + rows * columns, 0));
  let [from, to, at] = [0, 0, 0];
  for (const [rows, columns, size] of sizes) {
    const end = from + size * rows * columns;
    const levels = new (size === 1 ? Int8Array : Int16Array)(all.slice(from, end));
    levels.forEach((level, k) => (out[to + k] = level * scale[at + Math.floor(k / columns)]));
    [from, to, at] = [end, to + levels.length, at + rows];
  }
  return out;
}
