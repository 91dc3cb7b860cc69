// Packed decoders: loaded once and shared by all dials of the page.
import { floats } from "../shared/numbers.js";
import { hub } from "../shared/pose.js";

const KEPT = 8; // the newest; the browser's cache has the others
const BASE = import.meta.url.split("/scripts/")[0]; // address of the server, below any path of a proxy
const coming = new Map(); // decoders that are being loaded

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const packed = buffer.slice(4 + length);
  return { header, weights: header.half ? floats(packed) : new Float32Array(packed) };
}

async function fetched(id) {
  const answer = await fetch(`${BASE}/weights/${id}`);
  if (!answer.ok) return false; // the server was restarted or has dropped it
  hub.networks.set(id, unpack(await answer.arrayBuffer()));
  for (const each of hub.networks.keys()) if (hub.networks.size > KEPT) hub.networks.delete(each);
  return true;
}

// resolves to true when it is loaded, to false if the server does not have it
export async function load(id) {
  if (hub.networks.has(id)) return true;
  if (!coming.has(id)) coming.set(id, fetched(id).catch(() => false).finally(() => coming.delete(id)));
  return coming.get(id);
}
