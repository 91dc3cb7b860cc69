// What a code is at an angle or a place: the server's Fourier series, or its table on a line.

// Fourier series [rows, 2 H + 1] on 1, cos kw, sin kw, given flat and row by row
export class Series {
  constructor({ rows, values }) {
    this.rows = rows;
    this.values = Float64Array.from(values);
    this.columns = this.values.length / rows;
    this.basis = new Float64Array(this.columns);
    this.out = new Float64Array(rows);
  }

  at(w) {
    const { rows, columns, basis, values, out } = this;
    const harmonics = (columns - 1) / 2;
    basis[0] = 1;
    for (let k = 1; k <= harmonics; k++) {
      basis[k] = Math.cos(k * w);
      basis[harmonics + k] = Math.sin(k * w);
    }
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += values[at++] * basis[k];
      out[row] = sum;
    }
    return out;
  }
}

// Curves [rows, points] on an even grid from -1 to 1, with straight lines between its points
export class Table {
  constructor({ rows, values }) {
    this.rows = rows;
    this.values = Float64Array.from(values);
    this.columns = this.values.length / rows;
    this.out = new Float64Array(rows);
  }

  at(w) {
    const { rows, columns, values, out } = this;
    const place = ((Math.min(1, Math.max(-1, w)) + 1) / 2) * (columns - 1);
    const left = Math.min(Math.floor(place), columns - 2);
    const share = place - left;
    for (let row = 0, at = left; row < rows; row++, at += columns) {
      out[row] = (1 - share) * values[at] + share * values[at + 1];
    }
    return out;
  }
}
