import { join } from "node:path";
import { written } from "./numbers.js";
import { benchFolder, type Curve } from "./results.js";

/** A plot of the growth of costs: each request relative to its own cost on the smallest chain, with the logarithm dashed. */

export const plotFile = join(benchFolder, "growth.svg");

const width = 980;
const height = 420;
const area = { left: 56, right: 560, top: 44, bottom: 372 };
const lineHeight = 17;
const colours = ["#1b6ca8", "#c4552d", "#3c8d40", "#8454a8", "#a8871b", "#2b8f8a", "#b23a6f", "#5a6b7b", "#7a4b2a", "#4257c9", "#94a51f", "#d0741f", "#6d2f8e", "#268054"];

type Scale = (value: number) => number;

const scaleX = (least: number, most: number): Scale => {
  const whole = Math.log(most / least) || 1;
  return (value) => area.left + ((area.right - area.left) * Math.log(value / least)) / whole;
};

const scaleY = (most: number): Scale => (value) => area.bottom - ((area.bottom - area.top) * value) / most;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const at = (value: number): string => value.toFixed(1);

const path = (points: readonly (readonly [number, number])[]): string => points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${at(x)} ${at(y)}`).join(" ");

const countText = (count: number): string => (count >= 1e6 ? `${count / 1e6} million` : `${count / 1e3} thousand`);

/** Heights of labels, close to those wanted but without overlap; both in order from the top. */
const apart = (wanted: readonly number[]): number[] => {
  const placed: number[] = [];
  for (const y of wanted) placed.push(Math.max(y, (placed.at(-1) ?? -Infinity) + lineHeight));
  const overflow = Math.max(0, (placed.at(-1) ?? 0) - area.bottom);
  // Labels that went too far down push those above them up again.
  for (let index = placed.length - 1, limit = (placed.at(-1) ?? 0) - overflow; index >= 0; index--) {
    placed[index] = Math.min(placed[index] ?? 0, limit);
    limit = (placed[index] ?? 0) - lineHeight;
  }
  return placed;
};

const axes = (sizes: readonly number[], x: Scale, y: Scale, most: number): string[] => [
  ...Array.from({ length: Math.floor(most / 0.5) + 1 }, (_, index) => index * 0.5).flatMap((value) => [
    `<line x1="${area.left}" y1="${at(y(value))}" x2="${area.right}" y2="${at(y(value))}" stroke="#d8dde2"/>`,
    `<text x="${area.left - 8}" y="${at(y(value) + 4)}" text-anchor="end">${value}</text>`,
  ]),
  ...sizes.map((size) => `<text x="${at(x(size))}" y="${area.bottom + 20}" text-anchor="middle">${countText(size)}</text>`),
  `<text x="${(area.left + area.right) / 2}" y="${area.bottom + 40}" text-anchor="middle">transactions of the chain</text>`,
];

const relative = ({ points }: Curve): { transactions: number; cost: number }[] =>
  points.map(({ transactions, cost }) => ({ transactions, cost: cost / (points[0]?.cost ?? NaN) }));

/** SVG of the curves. */
export const growthPlot = (curves: readonly Curve[]): string => {
  const sizes = curves[0]?.points.map(({ transactions }) => transactions) ?? [];
  const [least, largest] = [sizes[0] ?? 1, sizes.at(-1) ?? 10];
  const drawn = curves
    .map((curve, index) => ({ ...curve, points: relative(curve), last: curve.points.at(-1)?.cost ?? NaN, colour: colours[index % colours.length] ?? "#000" }))
    .sort((a, b) => (b.points.at(-1)?.cost ?? 0) - (a.points.at(-1)?.cost ?? 0));
  const most = Math.ceil(Math.max(2, ...drawn.flatMap(({ points }) => points.map(({ cost }) => cost))) * 2) / 2;
  const [x, y] = [scaleX(least, largest), scaleY(most)];
  const logarithm = sizes.map((size) => [x(size), y(Math.log(size) / Math.log(least))] as const);
  const labels = apart(drawn.map(({ points }) => y(points.at(-1)?.cost ?? 0)));
  const lines = drawn.flatMap(({ what, points, last, colour }, index) => {
    const label = labels[index] ?? 0;
    return [
      `<path d="${path(points.map(({ transactions, cost }) => [x(transactions), y(cost)]))}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<line x1="${area.right + 3}" y1="${at(y(points.at(-1)?.cost ?? 0))}" x2="${area.right + 20}" y2="${at(label)}" stroke="${colour}"/>`,
      `<text x="${area.right + 24}" y="${at(label + 4)}" fill="${colour}">${escaped(what)}, ${written(last)} µs</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#3a444d">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${area.left - 40}" y="22" font-size="14">Processor time of a request, as a multiple of that on the smallest chain; dashed: the logarithm</text>`,
    ...axes(sizes, x, y, most),
    `<path d="${path(logarithm)}" fill="none" stroke="#3a444d" stroke-dasharray="6 5"/>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
};
