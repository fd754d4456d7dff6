// The colours of verdicts, for eyes that lack a kind of cone. Shapes tell verdicts apart as well; this keeps the colours from lying.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const STYLE = readFileSync(new URL('../../src/tools/chart/chart.css', import.meta.url), 'utf8');
const [LIGHT, DARK] = STYLE.split('@media screen and (prefers-color-scheme: dark)');

// Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB: https://doi.org/10.1109/TVCG.2009.113
const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
// CIE76; about 2 is the least that can be seen side by side.
const LEAST = 20;

const linear = (hex) => [1, 3, 5].map((i) => {
  const part = parseInt(hex.slice(i, i + 2), 16) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});

/** CIE L*a*b*, white point D65. */
function lab(rgb) {
  const [r, g, b] = rgb.map((part) => Math.min(1, Math.max(0, part)));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
  const y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const times = (matrix, rgb) => matrix.map((row) => row.reduce((sum, factor, i) => sum + factor * rgb[i], 0));

for (const [name, style] of Object.entries({ light: LIGHT, dark: DARK }))
  for (const [eye, matrix] of Object.entries(EYES))
    test(`${name}, ${eye}: no two colours of verdicts are alike`, () => {
      const colors = [...style.matchAll(/\n\.(\w+) \{ color: (#\w{6}); \}/g)];
      assert.equal(colors.length, 7);
      const seen = colors.map(([, verdict, hex]) => [verdict, lab(times(matrix, linear(hex)))]);
      for (const [i, [one, a]] of seen.entries())
        for (const [other, b] of seen.slice(i + 1)) {
          const distance = Math.hypot(...a.map((value, k) => value - b[k]));
          assert.ok(distance >= LEAST, `${one} and ${other}: ${distance.toFixed(1)}`);
        }
    });
