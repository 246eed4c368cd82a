/** What a method of the host has returned, as a list: none where the host does not have the method. @throws TypeError naming the method */
export const hostList = <T>(method: string, returned: readonly T[] | undefined): readonly T[] => {
  if (returned === undefined) return [];
  const isList: boolean = Array.isArray(returned);
  if (!isList) throw new TypeError(`the host's ${method}() returned something else than a list`);
  return returned;
};
