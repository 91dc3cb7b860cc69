// The decoder: the same layers as in the package, on plain arrays.
export class Decoder {
  constructor({ header, weights }) {
    this.shape = header.shape;
    this.gate = 0;
    this.steps = [];
    let map = null; // [channels, height, width] once the code has become a picture
    let length = 0;
    for (const layer of header.layers) {
      const array = ([offset, count]) => weights.subarray(offset, offset + count);
      if (layer.op === "gate") {
        this.gate = layer.local;
      } else if (layer.op === "dense") {
        length = layer.outputs;
        this.steps.push(dense(layer, array(layer.weight), array(layer.bias)));
      } else if (layer.op === "elu") {
        this.steps.push(elu(map ? map[0] * map[1] * map[2] : length));
      } else if (layer.op === "silu") {
        this.steps.push(silu(map ? map[0] * map[1] * map[2] : length));
      } else if (layer.op === "map") {
        map = layer.shape;
      } else if (layer.op === "double") {
        this.steps.push(double(layer, map, array(layer.weight), array(layer.bias)));
        map = [layer.outputs, 2 * (map[1] - layer.crop), 2 * (map[2] - layer.crop)];
      } else {
        throw new Error(`unknown layer ${layer.op}`);
      }
    }
  }

  // code [inputs] -> image [channels * height * width]; the array is reused by the next call
  run(code) {
    let values = code;
    const local = this.gate;
    if (local) {
      const inputs = code.length;
      const styles = inputs - local;
      values = new Float64Array(inputs + local * styles);
      values.set(code);
      for (let j = 0, at = inputs; j < local; j++) {
        for (let g = local; g < inputs; g++) values[at++] = code[j] * code[g];
      }
    }
    for (const step of this.steps) values = step(values);
    return values;
  }
}

function dense({ inputs, outputs }, weight, bias) {
  const out = new Float64Array(outputs);
  return (x) => {
    for (let o = 0, at = 0; o < outputs; o++) {
      let a = bias[o];
      let b = 0;
      let i = 0;
      for (; i + 1 < inputs; i += 2, at += 2) {
        a += weight[at] * x[i];
        b += weight[at + 1] * x[i + 1];
      }
      if (i < inputs) a += weight[at++] * x[i];
      out[o] = a + b;
    }
    return out;
  };
}

function elu(length) {
  return (x) => {
    for (let i = 0; i < length; i++) if (x[i] < 0) x[i] = Math.expm1(x[i]);
    return x;
  };
}

function silu(length) {
  return (x) => {
    for (let i = 0; i < length; i++) x[i] /= 1 + Math.exp(-x[i]);
    return x;
  };
}

// Twice the size: large row 2m + p is made of the small rows m + p - 1 and m + p, columns alike, so
// each of the four phases (p, q) is a 2x2 convolution of the small map with a border of zeros.
function double({ inputs, outputs, crop }, [, height, width], weight, bias) {
  const wide = width + 2;
  const plane = (height + 2) * wide;
  const padded = new Float64Array(inputs * plane);
  const kernel = Float64Array.from(weight);
  const sum = new Float64Array((height - 1) * wide + width);
  const size = sum.length;
  const outHeight = 2 * (height - crop);
  const outWidth = 2 * (width - crop);
  const out = new Float64Array(outputs * outHeight * outWidth);
  return (small) => {
    for (let i = 0; i < inputs; i++) {
      for (let row = 0; row < height; row++) {
        const from = (i * height + row) * width;
        const to = i * plane + (row + 1) * wide + 1;
        for (let column = 0; column < width; column++) padded[to + column] = small[from + column];
      }
    }
    let at = 0;
    for (let p = 0; p < 2; p++) {
      for (let q = 0; q < 2; q++) {
        for (let o = 0; o < outputs; o++) {
          sum.fill(bias[o]);
          for (let i = 0; i < inputs; i++, at += 4) {
            const k00 = kernel[at];
            const k01 = kernel[at + 1];
            const k10 = kernel[at + 2];
            const k11 = kernel[at + 3];
            let top = i * plane + p * wide + q;
            let left = padded[top];
            let below = padded[top + wide];
            for (let n = 0; n < size; n++) {
              top++;
              const right = padded[top];
              const corner = padded[top + wide];
              sum[n] += k00 * left + k01 * right + k10 * below + k11 * corner;
              left = right;
              below = corner;
            }
          }
          for (let row = 0; row < height; row++) {
            const y = 2 * row + p - crop;
            if (y < 0 || y >= outHeight) continue;
            const to = (o * outHeight + y) * outWidth;
            for (let column = 0; column < width; column++) {
              const x = 2 * column + q - crop;
              if (x >= 0 && x < outWidth) out[to + x] = sum[row * wide + column];
            }
          }
        }
      }
    }
    return out;
  };
}
