// The pieces that pages are made of.
import { html, useEffect, useRef, useState } from "./lib/preact.js";
import uPlot from "./lib/uplot.js";
import { wordsOf } from "./api.js";

/** What all pages know; set once the node has answered (app.js). */
export const network = { symbol: "", blocktime: 8, isLoaded: false };

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
  const text = String(amount ?? 0);
  const [sign, number] = text.startsWith("-") ? ["−", text.slice(1)] : ["", text];
  const padded = number.padStart(places + 1, "0");
  const whole = padded.slice(0, -places).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const fraction = padded.slice(-places).slice(0, digits).replace(/0+$/, "");
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
};
export const Amount = ({ of, digits }) => html`<span class="amount">${amountText(of, digits)} <small>${network.symbol}</small></span>`;

export const count = (number) => Number(number).toLocaleString("en").replaceAll(",", "\u202f");

/** A length of time as people say it. */
export const lengthText = (seconds) => {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${count(Math.round(seconds / 86_400))} days`;
};

const units = ["bytes", "kB", "MB", "GB", "TB"];
export const bytesText = (bytes) => {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power < 2 ? 0 : 1)} ${units[power]}`;
};

/** JSON with whole numbers of any size. */
export const jsonText = (value) => JSON.stringify(value, (_name, part) => (typeof part === "bigint" ? String(part) : part), 2);

/** Seconds after which a date says more. */
const longAgo = 60 * 86_400;

const distance = (seconds) => {
  if (Math.abs(seconds) < 2) return "now";
  return seconds < 0 ? `in ${lengthText(-seconds)}` : `${lengthText(seconds)} ago`;
};

/** A moment in Unix seconds, and how far it is, which grows while no block comes, too. `short`: of today, without the date. */
export const Time = ({ unix, short: isShort = false }) => {
  const [, renew] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => renew((times) => times + 1), 2000);
    return () => clearInterval(timer);
  }, []);
  const iso = new Date(unix * 1000).toISOString();
  const seconds = Date.now() / 1000 - unix;
  const isToday = iso.slice(0, 10) === new Date().toISOString().slice(0, 10);
  return html`<time datetime=${iso}>${iso.slice(isShort && isToday ? 11 : 0, 19).replace("T", " ")} UTC</time>${Math.abs(seconds) < longAgo && html` <small class="distance">${distance(seconds)}</small>`}`;
};

export const link = (...path) => `#/${path.map((part) => encodeURIComponent(part)).join("/")}`;
const short = (text) => (text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text);
export const WalletLink = ({ address, full }) => html`<a class="id" href=${link("wallets", address)} title=${address}>${full ? address : short(address)}</a>`;
export const BlockLink = ({ id, children }) => html`<a class=${children === undefined || children === id ? "id" : undefined} href=${link("blocks", id)}>${children ?? short(id)}</a>`;
export const TransactionLink = ({ id }) => html`<a class="id" href=${link("transactions", id)} title=${id}>${short(id)}</a>`;
export const DelegateLink = ({ name }) => html`<a href=${link("delegates", name)}>${name}</a>`;

export const Notice = ({ kind = "quiet", children }) => html`<p class="notice ${kind}" role=${kind === "bad" ? "alert" : undefined}>${children}</p>`;
export const Failure = ({ error }) => error && html`<${Notice} kind="bad">${wordsOf(error)}<//>`;
export const Missing = ({ what, error }) =>
  html`<h1 tabindex="-1">Not found</h1>${error ? html`<${Failure} error=${error} />` : html`<${Notice}>There is no such ${what} on this chain.<//>`}`;
export const Waiting = () => html`<h1 tabindex="-1">…</h1>`;

export const Card = ({ title, wide, children }) => html`<section class="card ${wide ? "wide" : ""}"><h2>${title}</h2>${children}</section>`;

/** Rows of what is known of one thing: [name, value]. Those without a value are left out. */
export const Facts = ({ rows }) => html`<dl class="facts">${rows
  .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
  .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/** Whether what is in an element is wider than itself. */
const useIsWide = (place) => {
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWide(place.current.scrollWidth > place.current.clientWidth));
    for (const element of [place.current, place.current.firstChild]) watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return isWide;
};

const Rows = ({ caption, columns, rows, keyOf }) => {
  const place = useRef();
  const isWide = useIsWide(place);
  return html`${isWide && html`<p class="notice">The table is wider than the page: scroll it sideways.</p>`}
    <div class="scroll" ref=${place} tabindex="0" role="region" aria-label=${caption}><table>
      <caption class="hidden">${caption}</caption>
      <thead><tr>${columns.map(([heading, , kind]) => html`<th scope="col" class=${kind}>${heading}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map(([heading, cell, kind]) => html`<td class=${kind} data-heading=${heading}>${cell(row)}</td>`)}</tr>`)}</tbody>
    </table></div>`;
};

/** A table that turns into a list of cards on a narrow screen. `columns`: [heading, cell of a row, class]. */
export const Table = ({ caption, columns, rows, keyOf = (row) => row.id, empty = "There is nothing here." }) =>
  rows.length === 0 ? html`<p class="notice">${empty}</p>` : html`<${Rows} caption=${caption} columns=${columns} rows=${rows} keyOf=${keyOf} />`;

/** A list that is walked page by page: `list` takes the page as a query. A list with another `name` is another. */
export const Paged = ({ name, list, tip, show }) => {
  const [page, setPage] = useState(1);
  useEffect(() => setPage(1), [name]);
  const { value, error } = useLoaded((signal) => list({ page, limit: 25 }, { signal }), [name, page, page === 1 ? tip : 0]);
  if (value === undefined) return html`<${Failure} error=${error} />`;
  const pages = Math.max(1, value.meta.pageCount ?? 1);
  return html`<${Failure} error=${error} />${show(value.data)}
    ${pages > 1 && html`<div class="row">
      <button class="plain" disabled=${page === 1} onClick=${() => setPage(page - 1)}>Newer</button>
      <span>page ${count(page)} of ${count(pages)}</span>
      <button class="plain" disabled=${page >= pages} onClick=${() => setPage(page + 1)}>Older</button>
    </div>`}`;
};

/** A colour of the style sheet, as a canvas takes it. */
const colour = (name) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};
const dark = matchMedia("(prefers-color-scheme: dark)");

const day = 86_400;
/** How an axis of time names its ticks, in UTC as all times here: [seconds between ticks, text, below it where a year, month, day, hour, minute begins, …]. */
const times = [
  [365 * day, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * day, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [day, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
];
const inUtc = (unix) => uPlot.tzDate(new Date(unix * 1000), "Etc/UTC");

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
        tzDate: inUtc,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time, range: (_, low, high) => [low - beside, high + beside] }, y: { range: (_, low, high) => [Math.min(0, low), Math.max(1, high) * 1.1] } },
        axes: [
          { ...axis, grid: { show: false }, size: time ? 44 : 28, ...(time ? { values: times } : heights) },
          { ...axis, ...(bars ? { incrs: wholeSteps } : {}), size: (_, texts) => 14 + 7 * Math.max(1, ...(texts ?? []).map(({ length }) => length)), values: (_, ticks) => ticks.map(format) },
        ],
        series: [{}, { stroke: colour("--accent"), fill: colour(bars ? "--accent" : "--accent-soft"), width: bars ? 0 : 2, paths, points: { show: false } }],
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
