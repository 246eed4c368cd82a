/**
 * The types of a Go program's structs, as data: from them come both the program that Go compiles and a reader in TypeScript. A type
 * that ends in `,string` is that of a member with `json:",string"`: on the wire it is a number in quotes.
 */
export type GoType = Scalar | { list: GoType } | { map: GoType } | { members: Record<string, GoType> };

export const integers = {
  byte: [0n, 2n ** 8n - 1n],
  int16: [-(2n ** 15n), 2n ** 15n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const;

export type Integer = keyof typeof integers;
export type Scalar = "string" | "bool" | "float64" | Integer | `${Integer},string`;

export const isQuoted = (type: GoType): type is `${Integer},string` => typeof type === "string" && type.endsWith(",string");

export const members = (types: Record<string, GoType>): GoType => ({ members: types });
export const list = (type: GoType): GoType => ({ list: type });
export const map = (type: GoType): GoType => ({ map: type });

const fieldOf = ([name, type]: [string, GoType]): string => {
  const tag = isQuoted(type) ? `${name},string` : name;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${goText(type)} \`json:"${tag}"\``;
};

/** A type as Go writes it. */
export const goText = (type: GoType): string => {
  if (typeof type === "string") return type.replace(",string", "");
  if ("list" in type) return `[]${goText(type.list)}`;
  if ("map" in type) return `map[string]${goText(type.map)}`;
  return `struct { ${Object.entries(type.members).map(fieldOf).join("; ")} }`;
};
