/** What a node may be flooded with. */
export const floodKinds = [
  "idle connections",
  "headers that never end",
  "bodies that never end",
  "requests cut off in the middle",
  "replies that are never read",
  "streams that are never read",
  "pipelined requests",
  "downloads that are broken off",
  "bodies that cost most",
  "searches that cost most",
  "bytes that are not HTTP",
] as const;

export type FloodKind = (typeof floodKinds)[number];
