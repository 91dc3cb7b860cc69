// The closed form of the posterior (gp/posterior.py): a Gaussian process for each local channel, one
// Gaussian for each global one. B = I + S^½ K S^½ = LLᵀ with S the precisions of the views.
const CORRELATION = {
  periodic: (delta, r) => Math.exp(-2 * (Math.sin(delta / 2) / r) ** 2),
  "squared-exponential": (delta, r) => Math.exp(-0.5 * (delta / r) ** 2),
};
const JITTER = 1e-9; // of the prior variance, for samples at points close to each other

// the lower factor of a positive definite matrix [n][n]
function cholesky(matrix) {
  const lower = matrix.map((row) => new Float64Array(row.length));
  for (let i = 0; i < matrix.length; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j];
      for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k];
      lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j];
    }
  }
  return lower;
}

// L⁻¹x
function forward(lower, x) {
  const out = Float64Array.from(x);
  for (let i = 0; i < out.length; i++) {
    for (let k = 0; k < i; k++) out[i] -= lower[i][k] * out[k];
    out[i] /= lower[i][i];
  }
  return out;
}

const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);

export class Posterior {
  // views: [{ w, mean, variance }] with numbers [L]; mean: the prior mean of the local channels
  constructor({ kernel, local, latents, mean = null }, views) {
    const { kind, amplitude, lengthScale } = kernel;
    this.kernel = (a, b) => amplitude ** 2 * CORRELATION[kind](a - b, lengthScale);
    this.prior = amplitude ** 2;
    Object.assign(this, { mean, views });
    this.w = views.map(({ w }) => w);
    const before = views.map(({ w }) => (mean ? mean.at(w).slice() : new Float64Array(local)));
    this.local = Array.from({ length: local }, (_, j) => {
      const root = views.map(({ variance }) => 1 / Math.sqrt(variance[j]));
      const gram = this.w.map((a, p) => this.w.map((b, q) => root[p] * root[q] * this.kernel(a, b) + (p === q)));
      const lower = cholesky(gram);
      const white = forward(lower, views.map((view, q) => root[q] * (view.mean[j] - before[q][j])));
      return { root, lower, white };
    });
    this.style = [];
    this.styleVariance = [];
    for (let g = local; g < latents; g++) {
      const variance = 1 / (1 + views.reduce((sum, view) => sum + 1 / view.variance[g], 0));
      this.style.push(variance * views.reduce((sum, view) => sum + view.mean[g] / view.variance[g], 0));
      this.styleVariance.push(variance);
    }
  }

  // the mean of all channels at w: [L]
  at(w) {
    const before = this.mean?.at(w);
    const local = this.local.map((channel, j) => dot(this.cross(channel, w), channel.white) + (before?.[j] ?? 0));
    return Float64Array.of(...local, ...this.style);
  }

  // L⁻¹S^½k(w) of a local channel
  cross({ root, lower }, w) {
    return forward(lower, this.w.map((each, q) => root[q] * this.kernel(w, each)));
  }

  // the variance of all channels at w: [L]
  variance(w) {
    const local = this.local.map((channel) => {
      const cross = this.cross(channel, w);
      return Math.max(0, this.prior - dot(cross, cross));
    });
    return Float64Array.of(...local, ...this.styleVariance);
  }

  // the share of the prior variance that is left at w
  unknown(w) {
    const left = this.variance(w).slice(0, this.local.length);
    return left.reduce((sum, each) => sum + each, 0) / (left.length * this.prior);
  }

  // returns a function that draws the local channels at places [S]: standard normal numbers [J][S] -> [S][J]
  sampler(places) {
    const means = places.map((w) => this.at(w));
    const factors = this.local.map((channel) => {
      const cross = places.map((w) => this.cross(channel, w));
      return cholesky(
        places.map((a, p) =>
          places.map((b, q) => this.kernel(a, b) - dot(cross[p], cross[q]) + (p === q) * JITTER * this.prior),
        ),
      );
    });
    return (normals) => means.map((mean, p) => factors.map((lower, j) => mean[j] + dot(lower[p], normals[j])));
  }

  // log Z = -½ (zᵀ(K + S)⁻¹z + log|K + S| + n log 2π), summed over the local channels
  evidence() {
    const terms = this.local.map(({ root, lower, white }) => {
      const log = lower.reduce((sum, row, q) => sum + 2 * Math.log(row[q] / root[q]), 0);
      return dot(white, white) + log + white.length * Math.log(2 * Math.PI);
    });
    return -0.5 * terms.reduce((sum, term) => sum + term, 0);
  }
}
