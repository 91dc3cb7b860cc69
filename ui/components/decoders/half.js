// Numbers of half precision: a sign, five bits of exponent, ten of fraction.
function value(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

let values; // of all 65,536; a decoder has a million weights

export function floats(halves) {
  values ??= Float32Array.from({ length: 65536 }, (_, half) => value(half));
  return Float32Array.from(halves, (half) => values[half]);
}
