// The decoder: the same layers as in the package, on plain arrays. The array that a layer returns is reused by its
// next call.
export class Decoder {
  constructor({ header: { shape, layers }, weights }) {
    this.shape = shape;
    this.steps = chain(layers, weights);
  }

  // code [inputs] -> image [channels * height * width]
  run(code) {
    return run(this.steps, code);
  }
}

export const run = (steps, values) => steps.reduce((now, step) => step(now), values);

// one function per layer, called in order
export function chain(layers, weights) {
  const array = ([offset, count]) => weights.subarray(offset, offset + count);
  let map = null; // [channels, height, width] of a feature map; null for a vector
  const make = {
    gate: ({ local }) => gate(local),
    dense: (layer) => dense(layer, array(layer.weight), array(layer.bias)),
    product: ({ local, style, turn }) => product(local, chain(style, weights), chain(turn, weights)),
    move: (layer) => move(layer, chain(layer.look, weights), array(layer.centre), array(layer.log_reach)),
    elu: () => each((value) => (value < 0 ? Math.expm1(value) : value)),
    silu: () => each((value) => value / (1 + Math.exp(-value))),
    tanh: () => each(Math.tanh),
    map: ({ shape }) => {
      map = shape;
      return (values) => values;
    },
    double: (layer) => {
      const step = double(layer, map, array(layer.weight), array(layer.bias));
      map = [layer.outputs, 2 * (map[1] - layer.crop), 2 * (map[2] - layer.crop)];
      return step;
    },
  };
  return layers.map((layer) => make[layer.op](layer));
}

function each(change) {
  return (values) => {
    for (let i = 0; i < values.length; i++) values[i] = change(values[i]);
    return values;
  };
}

// The code, and each of its local channels times each of its styles.
function gate(local) {
  return (code) => {
    const styles = code.subarray(local);
    const products = Array.from(code.subarray(0, local), (value) => Array.from(styles, (style) => value * style));
    return Float64Array.of(...code, ...products.flat());
  };
}

// Cache the result of layers for a style, which is constant while a digit turns.
function kept(steps) {
  let known = [];
  let made;
  return (style) => {
    if (style.length !== known.length || style.some((value, i) => value !== known[i])) {
      known = style.slice();
      made = run(steps, style).slice();
    }
    return made;
  };
}

// Complex numbers times others, real parts first.
export function times(a, b) {
  const half = a.length / 2;
  const out = new Float64Array(a.length);
  for (let k = 0; k < half; k++) {
    out[k] = a[k] * b[k] - a[half + k] * b[half + k];
    out[half + k] = a[k] * b[half + k] + a[half + k] * b[k];
  }
  return out;
}

// Complex features of the style times complex features of the local channels.
function product(local, styleSteps, turnSteps) {
  const features = kept(styleSteps);
  return (code) => times(features(code.subarray(local)), run(turnSteps, code.subarray(0, local)));
}

// A look from the style, shifted to the place that the first two channels stand for: D · look · Rᵀ, with
// D_ij = Σ_k weight_k cos(mode_k (i - j - p)) a shift by p samples along one side (networks/moving.py).
function move({ shape, margin }, lookSteps, centre, logReach) {
  const [channels, height, width] = shape;
  const [h, w] = [height - 2 * margin, width - 2 * margin];
  const out = new Float64Array(channels * height * width);
  const across = new Float64Array(width * h);
  const lookOf = kept(lookSteps);
  return (code) => {
    const look = lookOf(code.subarray(2));
    const [x, y] = [0, 1].map((k) => centre[k] + Math.exp(logReach[k]) * Math.tanh(code[k]));
    const [down, right] = [shift(height, margin, y), shift(width, margin, x)];
    for (let c = 0; c < channels; c++) {
      multiply(right, look.subarray(c * h * w, (c + 1) * h * w), w, across);
      multiply(down, across, h, out.subarray(c * height * width));
    }
    return out;
  };
}

// A · Bᵀ for rows of the same length
function multiply(a, b, length, out) {
  const columns = b.length / length;
  for (let row = 0, to = 0; row < a.length; row += length) {
    for (let column = 0; column < columns; column++) {
      const other = column * length;
      let [one, two] = [0, 0]; // two sums, for instruction-level parallelism
      let k = 0;
      for (; k + 1 < length; k += 2) {
        one += a[row + k] * b[other + k];
        two += a[row + k + 1] * b[other + k + 1];
      }
      if (k < length) one += a[row + k] * b[other + k];
      out[to++] = one + two;
    }
  }
}

// the matrix [n, n - 2 margin] that shifts n samples by p: a sum of cosines of the distance
function shift(n, margin, p) {
  const columns = n - 2 * margin;
  const kernel = Float64Array.from({ length: n + columns }, (_, at) => {
    const distance = at - (n - margin - 1) - p;
    let sum = 1 / n;
    for (let k = 1; k <= n / 2; k++) {
      sum += ((k === n / 2 ? 1 : 2) / n) * Math.cos(((2 * Math.PI) / n) * k * distance);
    }
    return sum;
  });
  return Float64Array.from({ length: n * columns }, (_, at) => {
    const [i, j] = [Math.floor(at / columns), at % columns];
    return kernel[i - j + columns - 1];
  });
}

function dense({ inputs, outputs }, weight, bias) {
  const out = new Float64Array(outputs);
  return (x) => {
    multiply(weight, x, inputs, out);
    for (let o = 0; o < outputs; o++) out[o] += bias[o];
    return out;
  };
}

// Twice the size: large row 2m + p is made of the small rows m + p - 1 and m + p, columns alike, so
// each of the four phases (p, q) is a 2x2 convolution of the small map with a border of zeros.
function double({ inputs, outputs, crop }, [, height, width], weight, bias) {
  const wide = width + 2;
  const plane = (height + 2) * wide;
  const padded = new Float64Array(inputs * plane);
  const sum = new Float64Array((height - 1) * wide + width);
  const outHeight = 2 * (height - crop);
  const outWidth = 2 * (width - crop);
  const out = new Float64Array(outputs * outHeight * outWidth);

  return (small) => {
    for (let row = 0; row < inputs * height; row++) {
      const to = Math.floor(row / height) * plane + ((row % height) + 1) * wide + 1;
      padded.set(small.subarray(row * width, (row + 1) * width), to);
    }
    for (let part = 0; part < 4 * outputs; part++) {
      const [p, q, o] = [Math.floor(part / outputs) >> 1, Math.floor(part / outputs) & 1, part % outputs];
      sum.fill(bias[o]);
      for (let i = 0; i < inputs; i++) {
        const from = 4 * (inputs * part + i);
        const [k00, k01, k10, k11] = weight.subarray(from, from + 4);
        const start = i * plane + p * wide + q;
        for (let n = 0; n < sum.length; n++) {
          const top = start + n;
          const below = top + wide;
          sum[n] += k00 * padded[top] + k01 * padded[top + 1] + k10 * padded[below] + k11 * padded[below + 1];
        }
      }
      for (let row = 0; row < height; row++) {
        const y = 2 * row + p - crop;
        if (y < 0 || y >= outHeight) continue;
        for (let column = 0; column < width; column++) {
          const x = 2 * column + q - crop;
          if (x >= 0 && x < outWidth) out[(o * outHeight + y) * outWidth + x] = sum[row * wide + column];
        }
      }
    }
    return out;
  };
}
