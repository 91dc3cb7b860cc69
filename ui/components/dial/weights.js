// Receives a packed decoder and keeps it where every dial of the page finds it.
import { hub } from "../shared/pose.js";
import { floats } from "./half.js";

const KEPT = 8; // decoders; the server sends one again if a dial misses it

export default function ({ data }) {
  if (!(data instanceof Uint8Array)) return; // the server knows that it is here
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  const known = hub.networks.get(header.id);
  const packed = data.slice(4 + length).buffer;
  const weights = known?.weights ?? (header.half ? floats(new Uint16Array(packed)) : new Float32Array(packed));
  hub.networks.delete(header.id); // to be the newest
  hub.networks.set(header.id, known ?? { header, weights });
  for (const id of hub.networks.keys()) if (hub.networks.size > KEPT) hub.networks.delete(id);
  for (const tell of Array.from(hub.waiting)) tell(); // a listener may leave the set
}
