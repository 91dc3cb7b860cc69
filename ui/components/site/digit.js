// A drawing as a 28 x 28 digit, as fgpvae.images and orientation.picture_scores make it: the box of the
// upright digit has 20 pixels, its centre of mass lies half a pixel beside the middle.
const SIDE = 28;
const BOX = 20;
const BESIDE = 0.5; // pixels right of and below the middle, for an upright digit
const FOLD = 8; // a pixel is the mean of FOLD x FOLD samples
const MEASURE = 280; // side in pixels at which a drawing is measured
const [THINNEST, THICKEST, THIN_TO, THICK_TO] = [1.9, 4, 2.3, 3.3]; // widths of strokes, as in fgpvae.images

// ink [side * side] of strokes under x -> scale * (x - centre) + middle
function ink(side, strokes, width, scale, [cx, cy], [mx, my]) {
  const canvas = Object.assign(document.createElement("canvas"), { width: side, height: side });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  Object.assign(pen, { strokeStyle: "#fff", lineCap: "round", lineJoin: "round", lineWidth: width * scale });
  const at = ([x, y]) => [scale * (x - cx) + mx, scale * (y - cy) + my];
  for (const [first, ...rest] of strokes) {
    pen.beginPath();
    pen.moveTo(...at(first));
    for (const point of rest.length ? rest : [first]) pen.lineTo(...at(point));
    pen.stroke();
  }
  const { data } = pen.getImageData(0, 0, side, side);
  return Float32Array.from({ length: side * side }, (_, k) => data[4 * k + 3] / 255);
}

// the centre of mass, and the longer side of the box of the drawing rotated back by an angle
function measured(strokes, width, angle) {
  const level = ink(MEASURE, strokes, width, MEASURE / 2, [0.5, 0.5], [MEASURE / 2, MEASURE / 2]);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  let [total, sumX, sumY] = [0, 0, 0];
  level.forEach((value, k) => {
    if (!value) return;
    const [x, y] = [(k % MEASURE) + 0.5, Math.floor(k / MEASURE) + 0.5];
    [total, sumX, sumY] = [total + value, sumX + value * x, sumY + value * y];
    if (value < 0.5) return;
    [x * cos - y * sin, x * sin + y * cos].forEach((place, axis) => {
      low[axis] = Math.min(low[axis], place);
      high[axis] = Math.max(high[axis], place);
    });
  });
  const share = (pixels) => 2 * (pixels / MEASURE) - 0.5; // of the paper, which is half of what is measured
  const box = (2 * (Math.max(high[0] - low[0], high[1] - low[1]) + 1)) / MEASURE;
  return { centre: [share(sumX / total), share(sumY / total)], box };
}

// strokes in shares of the paper -> pixels [28 * 28] from 0 to 1; angle in radians, counter-clockwise
export function digit(strokes, width, angle) {
  let { centre, box } = measured(strokes, width, angle);
  const wide = (BOX * width) / box;
  if (wide < THINNEST || wide > THICKEST) {
    const to = wide < THINNEST ? THIN_TO : THICK_TO;
    width = (to * (box - width)) / (BOX - to);
    ({ centre, box } = measured(strokes, width, angle));
  }
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const middle = [BESIDE * (cos + sin), BESIDE * (cos - sin)].map((beside) => FOLD * (SIDE / 2 + beside));
  const fine = ink(FOLD * SIDE, strokes, width, (FOLD * BOX) / box, centre, middle);
  const out = new Float32Array(SIDE * SIDE);
  fine.forEach((value, k) => {
    const [row, column] = [Math.floor(k / (FOLD * SIDE)), k % (FOLD * SIDE)];
    out[Math.floor(row / FOLD) * SIDE + Math.floor(column / FOLD)] += value / FOLD ** 2;
  });
  const strong = [...out].filter((value) => value > 0.3 * Math.max(...out)).sort((a, b) => a - b);
  const full = Math.max(0.3, strong[Math.floor(0.8 * (strong.length - 1))] ?? 1); // the middle of a stroke is white
  return out.map((value) => Math.min(1, value / full));
}
