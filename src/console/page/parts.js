// The pieces that pages are made of.
import { html, useEffect, useRef, useState } from "./lib/preact.js";
import uPlot from "./lib/uplot.js";

/** What all pages know; set once the node has answered (app.js). */
export const network = { symbol: "", blocktime: 8 };

/** Loads something now and whenever `keys` change. Until the next answer, the last one stays. */
export const useLoaded = (load, keys) => {
  const [found, setFound] = useState({ value: undefined, error: undefined, isLoading: true });
  useEffect(() => {
    const ending = new AbortController();
    load(ending.signal).then(
      (value) => !ending.signal.aborted && setFound({ value, error: undefined, isLoading: false }),
      (error) => !ending.signal.aborted && setFound((before) => ({ ...before, error, isLoading: false })),
    );
    return () => ending.abort();
  }, keys);
  return found;
};

const places = 8;

/** A whole number of the smallest unit, as people write it: 1 234.5 for 123450000000. */
export const amountText = (amount, digits = places) => {
  const text = String(amount ?? "0");
  const [sign, number] = text.startsWith("-") ? ["−", text.slice(1)] : ["", text];
  const padded = number.padStart(places + 1, "0");
  const whole = padded.slice(0, -places).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const fraction = padded.slice(-places).slice(0, digits).replace(/0+$/, "");
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
};
export const Amount = ({ of, digits }) => html`<span class="amount">${amountText(of, digits)} <small>${network.symbol}</small></span>`;

export const count = (number) => Number(number).toLocaleString("en").replaceAll(",", "\u202f");

const ago = (seconds) => {
  if (seconds < 2) return "now";
  if (seconds < 100) return `${Math.round(seconds)} s ago`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
};

/** Seconds after which a date says more. */
const longAgo = 60 * 86_400;

/** A moment in Unix seconds. The chain's clock may run ahead. */
export const Time = ({ unix }) => {
  const date = new Date(unix * 1000);
  const seconds = Date.now() / 1000 - unix;
  return html`<time datetime=${date.toISOString()} title=${date.toISOString()}>${seconds < -60 || seconds > longAgo ? date.toISOString().slice(0, 16).replace("T", " ") : ago(seconds)}</time>`;
};

export const link = (...path) => `#/${path.map((part) => encodeURIComponent(part)).join("/")}`;
const short = (text) => (text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text);
export const WalletLink = ({ address, full }) => html`<a class="id" href=${link("wallets", address)} title=${address}>${full ? address : short(address)}</a>`;
export const BlockLink = ({ id, children }) => html`<a class=${children === undefined || children === id ? "id" : undefined} href=${link("blocks", id)}>${children ?? short(id)}</a>`;
export const TransactionLink = ({ id }) => html`<a class="id" href=${link("transactions", id)} title=${id}>${short(id)}</a>`;
export const DelegateLink = ({ name }) => html`<a href=${link("delegates", name)}>${name}</a>`;

export const Notice = ({ kind = "quiet", children }) => html`<p class="notice ${kind}" role=${kind === "bad" ? "alert" : undefined}>${children}</p>`;
export const Failure = ({ error }) => error && html`<${Notice} kind="bad">${error.message}<//>`;

export const Card = ({ title, wide, children }) => html`<section class="card ${wide ? "wide" : ""}"><h2>${title}</h2>${children}</section>`;

/** Rows of what is known of one thing: [name, value]. Those without a value are left out. */
export const Facts = ({ rows }) => html`<dl class="facts">${rows
  .filter(([, value]) => value !== undefined && value !== null && value !== "")
  .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** A table that turns into a list of cards on a narrow screen. `columns`: [heading, cell of a row, class]. */
export const Table = ({ caption, columns, rows, keyOf = (row) => row.id, empty = "There is nothing here." }) =>
  rows.length === 0
    ? html`<p class="notice">${empty}</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table>
        <caption class="hidden">${caption}</caption>
        <thead><tr>${columns.map(([heading, , kind]) => html`<th scope="col" class=${kind}>${heading}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map(([heading, cell, kind]) => html`<td class=${kind} data-heading=${heading}>${cell(row)}</td>`)}</tr>`)}</tbody>
      </table></div>`;

/** A colour of the style sheet, as a canvas takes it. */
const colour = (name) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Steps of an axis of whole numbers. */
const wholeSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** A plot of one series. `bars`: one for each value, a whole number; otherwise a line. `time`: whether x is Unix time, not a height. */
export const Plot = ({ label, x, y, bars = false, time = false, format = String }) => {
  const place = useRef();
  const plot = useRef();
  const [scheme, setScheme] = useState(dark.matches);
  useEffect(() => {
    const change = () => setScheme(dark.matches);
    dark.addEventListener("change", change);
    return () => dark.removeEventListener("change", change);
  }, []);
  useEffect(() => {
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const paths = bars ? uPlot.paths.bars({ size: [0.7, 24] }) : uPlot.paths.stepped({ align: 1 });
    const size = () => ({ width: place.current.clientWidth, height: 180 });
    const beside = bars ? 0.5 : 0;
    const heights = { label: "height", labelSize: 18, labelFont: axis.font, labelGap: 0, incrs: wholeSteps, values: (_, ticks) => ticks.map(count) };
    plot.current = new uPlot(
      {
        ...size(),
        padding: [10, 8, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time, range: (_, low, high) => [low - beside, high + beside] }, y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high) * 1.1] } },
        axes: [
          { ...axis, grid: { show: false }, size: time ? 44 : 28, ...(time ? {} : heights) },
          { ...axis, ...(bars ? { incrs: wholeSteps } : {}), size: (_, texts) => 14 + 7 * Math.max(1, ...(texts ?? []).map(({ length }) => length)), values: (_, ticks) => ticks.map(format) },
        ],
        series: [{}, { stroke: colour("--accent"), fill: colour("--accent-soft"), width: 2, paths, points: { show: false } }],
      },
      [x, y],
      place.current,
    );
    const watch = new ResizeObserver(() => plot.current.setSize(size()));
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      plot.current.destroy();
    };
  }, [scheme]);
  useEffect(() => plot.current?.setData([x, y]), [x, y]);
  return html`<div class="plot" role="img" aria-label=${label} ref=${place}></div>`;
};
