// Angles in degrees, counter-clockwise.
export const radians = (degrees) => (degrees * Math.PI) / 180;
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

// any angle as one from 0 to 360
export const turned = (degrees) => ((degrees % 360) + 360) % 360;

// how far apart two angles are, the shorter way round
export const apart = (a, b) => Math.abs(turned(a - b + 180) - 180);
