import type { ChosenBy } from "../routing/resolve.js";
import type { Generation } from "../routing/version.js";
import type { HeaderPairs } from "./default-headers.js";

/** The headers that tell which generation answered, and (`Vary`) on which request headers the reply depends. */
export type VersionHeaders = (chosen: ChosenBy) => HeaderPairs;

export interface VersionHeadersNeeds {
  /** Whether replies may be compressed. */
  byEncoding: boolean;
  /** Whether the default headers depend on the request's Origin. */
  byOrigin: boolean;
}

export const createVersionHeaders = ({ byEncoding, byOrigin }: VersionHeadersNeeds): VersionHeaders => {
  const always = [...(byEncoding ? ["Accept-Encoding"] : []), ...(byOrigin ? ["Origin"] : [])];
  const pairs = (generation: Generation, byHeaders: readonly string[]): HeaderPairs => {
    const vary = [...byHeaders, ...always];
    return ["API-Version", String(generation), ...(vary.length === 0 ? [] : ["Vary", vary.join(", ")])];
  };
  const both = (generation: Generation, byHeaders: readonly string[]) => ({
    versioned: pairs(generation, byHeaders),
    unversioned: pairs(generation, ["API-Version", "Accept", ...byHeaders]),
  });
  const [first, second, prefixed] = [both(1, []), both(2, ["API-Amounts"]), both(2, [])];
  return ({ generation, versioned, prefix }) => {
    const made = generation === 1 ? first : prefix === "" ? second : prefixed;
    return versioned ? made.versioned : made.unversioned;
  };
};
