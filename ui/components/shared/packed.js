// Numbers as `packed` of ui/components/shared sends them: float32 in base64.
export function unpacked(text) {
  return new Float32Array(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}
