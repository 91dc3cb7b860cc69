// Receives a packed decoder and keeps it where every dial of the page finds it.
const hub = (globalThis.fgpvae ??= { networks: new Map(), rooms: new Map(), waiting: new Set() });
const mounted = new WeakMap();

function release(id) {
  const entry = hub.networks.get(id);
  if (entry && --entry.users === 0) hub.networks.delete(id);
}

export default function ({ data, parentElement }) {
  const before = mounted.get(parentElement);
  if (!(data instanceof Uint8Array)) return;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + length)));
  if (header.id !== before) {
    const weights = data.slice(4 + length).buffer; // a copy, so that floats are aligned
    const entry = hub.networks.get(header.id) ?? { header, weights: new Float32Array(weights), users: 0 };
    entry.users += 1;
    hub.networks.set(header.id, entry);
    mounted.set(parentElement, header.id);
    if (before) release(before);
    for (const tell of [...hub.waiting]) tell();
  }
  return () => {
    release(mounted.get(parentElement));
    mounted.delete(parentElement);
  };
}
