import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";

export const csvType = "text/csv; charset=utf-8; header=present";

interface Format<Name extends string> {
  name: Name;
  contentType: string;
  /** Header names and values: what the choice depended on. */
  headers: readonly string[];
}

/**
 * The format of a reply: the one that the query names, otherwise the one that a client prefers by its `Accept`. Of formats that it likes
 * equally, the one that it names more exactly, then the first in `types`; the first of all where it accepts none, or does not say.
 */
export const chooseFormat = <Name extends string>(types: Readonly<Record<Name, string>>, named: Name | undefined, headers: IncomingHttpHeaders): Format<Name> => {
  if (named !== undefined) return { name: named, contentType: types[named], headers: [] };
  const all = Object.entries(types) as [Name, string][];
  const accepted = new Negotiator({ headers }).mediaType(all.map(([, type]) => type));
  const [name, contentType] = (all.find(([, type]) => type === accepted) ?? all[0]) as [Name, string];
  return { name, contentType, headers: ["Vary", "Accept"] };
};

/** Has browsers save a reply under a name. */
export const savedAs = (name: string): readonly string[] => ["Content-Disposition", `attachment; filename="${name}"`];
