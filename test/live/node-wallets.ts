import { request } from "undici";

interface WalletsPage {
  data: { address: string; balance: string }[];
  meta: { pageCount: number };
}

/** The balance of every wallet, by address, as a node tells it. */
export const balancesOfNode = async (api: string): Promise<[string, bigint][]> => {
  const found: [string, bigint][] = [];
  for (let page = 1, last = 1; page <= last; page++) {
    const { body } = await request(`${api}/wallets?limit=100&page=${page}&orderBy=address:asc`, { headers: { "api-amounts": "string" } });
    const { data, meta } = (await body.json()) as WalletsPage;
    last = meta.pageCount;
    found.push(...data.map(({ address, balance }): [string, bigint] => [address, BigInt(balance)]));
  }
  return found;
};
