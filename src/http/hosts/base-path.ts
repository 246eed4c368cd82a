/** A base path as it is compared with requests: `/api`, or empty for the root. */
export const normalizedBasePath = (basePath: string): string => {
  const names = basePath.split("/").filter((name) => name !== "");
  return names.map((name) => `/${name}`).join("");
};

/** Whether a request target is the base path or below it. */
export const isBelow = (target: string, basePath: string): boolean => {
  if (!target.startsWith(basePath)) return false;
  const next = target.charAt(basePath.length);
  return next === "" || next === "/" || next === "?" || next === "#";
};
