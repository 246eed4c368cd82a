import { parseArgs } from "node:util";
import { didYouMean } from "../../../src/text/known-names.js";
import { messageOf, UsageError } from "../program/host-error.js";
import { readJson } from "../files/json-file.js";
import { conflicts, flagOf, memberOf, type Name, rows, variableOf } from "./option-table.js";

/** One option as somebody has set it: `label` is how they wrote its name. */
export interface Given {
  value: string | true;
  label: string;
}

export type GivenOptions = ReadonlyMap<Name, Given>;

/** What follows the sentence that an option does not exist: the nearest one, if one is near, and all there are. */
const options = (name: string, nameOf: (name: Name) => string, listed = rows): string => {
  const names = listed.map((row) => nameOf(row.name));
  const meant = didYouMean(name, names);
  return `${meant === "" ? "; the" : `${meant} The`} options are ${names.join(", ")}.`;
};
const flag = (name: Name): string => `--${name}`;

/** A text without what stands before an @, where URLs have their passwords. */
const withoutLogin = (text: string): string => text.replace(/^.*@/s, "…@");

/** Parses the arguments, with error messages of this host's own. @throws UsageError */
export const fromCommandLine = (args: readonly string[]): GivenOptions => {
  const parsed = Object.fromEntries(
    rows.map(({ name, short, value }) => [name, { type: value === undefined ? ("boolean" as const) : ("string" as const), ...(short === undefined ? {} : { short }) }]),
  );
  const { tokens } = (() => {
    try {
      return parseArgs({ args: [...args], options: parsed, strict: false, allowPositionals: true, tokens: true });
    } catch (error) {
      throw new UsageError(`The command line cannot be read: ${messageOf(error)}.`);
    }
  })();
  const given = new Map<Name, Given>();
  for (const token of tokens) {
    if (token.kind === "positional") throw new UsageError(`"${withoutLogin(token.value)}" does not belong to an option${options("", flag)}`);
    if (token.kind !== "option") continue;
    const row = rows.find(({ name }) => name === token.name);
    if (row === undefined) throw new UsageError(`There is no option ${token.rawName}${options(token.rawName, flag)}`);
    if (given.has(row.name)) throw new UsageError(`--${row.name} is given twice.`);
    if (row.value === undefined && token.value !== undefined) throw new UsageError(`--${row.name} takes no value.`);
    if (row.value !== undefined && (token.value === undefined || token.value === "" || (!token.inlineValue && token.value.startsWith("--")))) {
      throw new UsageError(`--${row.name} needs a value: ${flagOf(row)}.`);
    }
    given.set(row.name, { value: token.value ?? true, label: `--${row.name}` });
  }
  return given;
};

const switchIn = (text: string, label: string): boolean => {
  if (/^(?:1|true|yes)$/i.test(text)) return true;
  if (/^(?:0|false|no|)$/i.test(text)) return false;
  throw new UsageError(`${label} must be true or false, not "${text}".`);
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Kubernetes describes a service called `portico`, or `portico-…`, by such values; no option takes one. */
const isOfService = (text: string): boolean => /^(?:tcp|udp|sctp):\/\//.test(text);

/** Warns of variables that look like a misspelt option. Nothing is refused: whoever set them may have meant another program. */
const warnOfMisspelt = (environment: Environment, warn: (message: string) => void): void => {
  const ours = rows.map(({ name }) => variableOf(name));
  for (const variable of Object.keys(environment).filter((name) => name.startsWith("PORTICO_") && !ours.includes(name))) {
    const meant = didYouMean(variable.slice("PORTICO_".length), ours.map((name) => name.slice("PORTICO_".length)));
    if (meant !== "") warn(`${variable} is not an option${meant.replace('"', '"PORTICO_')} It is ignored.`);
  }
};

/** What only asks does nothing that would be missed; images carry their version as `PORTICO_VERSION`. */
const questions: readonly Name[] = ["version", "help"];

/** Options of the environment. An empty variable counts as not set. @throws UsageError */
export const fromEnvironment = (all: Environment, warn: (message: string) => void): GivenOptions => {
  const environment = Object.fromEntries(Object.entries(all).filter(([, text]) => !isOfService(text ?? "")));
  warnOfMisspelt(environment, warn);
  const given = new Map<Name, Given>();
  for (const { name, value, commandLineOnly } of rows) {
    const label = variableOf(name);
    const text = environment[label];
    if (text === undefined || text === "" || questions.includes(name)) continue;
    if (commandLineOnly === true) throw new UsageError(`${label} does nothing; --${name} is accepted only on the command line.`);
    if (value !== undefined) given.set(name, { value: text, label });
    else if (switchIn(text, label)) given.set(name, { value: true, label });
  }
  return given;
};

/** A member's value as the command line would have it; undefined for a switch that is off. @throws UsageError */
const textOf = (value: unknown, isSwitch: boolean, label: string): string | true | undefined => {
  if (isSwitch) {
    if (typeof value !== "boolean") throw new UsageError(`${label} must be true or false, not ${JSON.stringify(value)}.`);
    return value ? true : undefined;
  }
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (typeof value !== "string" && typeof value !== "number" && !isList) throw new UsageError(`${label} must be a string or a number.`);
  return String(value);
};

/** A file that is named wrongly, or written wrongly, is a mistake of the options. @throws UsageError */
const contentOf = (path: string): unknown => {
  try {
    return readJson(path, { isSecret: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
};

/** Options of a JSON file. @throws UsageError that names file and member */
export const fromFile = (path: string): GivenOptions => {
  const content = contentOf(path);
  if (typeof content !== "object" || content === null || Array.isArray(content)) throw new UsageError(`${path} is not an object of options.`);
  const allowed = rows.filter(({ commandLineOnly, notInFile }) => commandLineOnly !== true && notInFile !== true);
  const given = new Map<Name, Given>();
  for (const [member, value] of Object.entries(content)) {
    const label = `${member} in ${path}`;
    const row = allowed.find(({ name }) => memberOf(name) === member);
    if (row === undefined) throw new UsageError(`${label} is not an option${options(member, memberOf, allowed)}`);
    const text = textOf(value, row.value === undefined, label);
    if (text !== undefined) given.set(row.name, { value: text, label });
  }
  return given;
};

const refuseConflicts = (given: GivenOptions): void => {
  for (const [one, other, why] of conflicts) {
    const [first, second] = [given.get(one), given.get(other)];
    if (first !== undefined && second !== undefined) throw new UsageError(`${first.label} and ${second.label} cannot be combined: ${why}.`);
  }
};

const excluded = (name: Name, stronger: GivenOptions): boolean =>
  conflicts.some(([one, other]) => (name === one && stronger.has(other)) || (name === other && stronger.has(one)));

/** One from several sources, the strongest first: what a stronger one has, or excludes, a weaker one does not give. @throws UsageError */
export const merged = (...sources: readonly GivenOptions[]): GivenOptions => {
  let all = new Map<Name, Given>();
  for (const source of sources) {
    refuseConflicts(source);
    const added = [...source].filter(([name]) => !all.has(name) && !excluded(name, all));
    all = new Map([...all, ...added]);
  }
  return all;
};
