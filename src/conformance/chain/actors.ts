/** A participant in the suite's chain. Addresses have version byte 23. */
export interface Actor {
  readonly name: string;
  readonly publicKey: string;
  readonly address: string;
}

const actor = (name: string, publicKey: string, address: string): Actor => ({ name, publicKey, address });

export const actors = {
  /** Signs genesis, which makes its balance negative. */
  origin: actor(
    "origin",
    "038c2ca2196aff7013656308f58d735e8257fabc8acd09ede5abecada488488444",
    "APoCqHK5vJCLfwSNAFsdEekDJXcX8W5JtS",
  ),
  ada: actor("ada", "03185f202b493a4fb39907eb778b0266f00bbfb4197cb1379028a99d9d3d2bfdc7", "AYEat2BJMLxZvGuGFS8hcD5hSTwjeowJ5b"),
  bob: actor("bob", "03d30736c7e47bc0305955f4cfa6f83d3b5c34d2e27d80a93731bcb4b4705dc856", "AL6ruBX4DzR9jYHn1bRA3S178tu3tSwPro"),
  cyd: actor("cyd", "03303fbfc0cebcd0e3291f344ba66087c60f60405cce1df20cb4cac766f742bb87", "AGB5QYmYjWfwwrEUqWEmW3yScaGJcT7GrM"),
  dan: actor("dan", "038b322931430555058e2997eb01bb065d7a846e1955b5c8838e1691c69fd43f1b", "AFydpupt5w8M2WKCAc5tE6rhLdoKi668iQ"),
  eve: actor("eve", "037933c16002c832888e83308bc36132d2e5d45fa5a8629bd5ff0f46c52a21303e", "AGzBANt5reQdPWSjTtmsiTX1ZF8r47YxuD"),
  fay: actor("fay", "0303e98236493ba6557c106ec4a10e9802825f0bb357ffb46ba7b564669d1a9010", "AMiiti7XF5uXzxpm9PLmYvzsA2WQVyi6D7"),
  gus: actor("gus", "0249d7840977a6f88286d315f385d90a7006a252b954463c82382d27650170d6c6", "ATXVfEo41bTRUwqYxgDSrFDPGi2Uvh6TAW"),
  hal: actor("hal", "022c5b982198d798c6f3013d841ee6af85581a0dd0b60c9880e6efe33ef4b72fb1", "ANC5VTbUzATzbBoVd5NZj3RgdgJX28WoSb"),
  ivy: actor("ivy", "02b89f98337bbf7b1588ef393d1a3d2ac1b49e696064ebb16216cddd5dacd369e9", "AeS4UVBrXApyWvATd2eYeNCXkcdaWrJ8bU"),
  joe: actor("joe", "03ab146bd1ba0af9acecf5e7b1bda923747bd2a1e0f2f5d6ce8fdf685745affc57", "ASxRqLkGzCeodBqw7iCc8atkY2wMybii7G"),
  kim: actor("kim", "02638be92e9a660f4bbe2a6727d7709c1d0378ee3a18d0a985f4c3b78f8c709361", "ALYj6Z6eL4na3JUGFcbgS9aqzEanRxvEsL"),
  mia: actor("mia", "0342c3240e3a095088a5e27d46c873bd9a6bc3edccf62975a5b1adfd9e5b789eef", "AVQiCj3jDN8Nro9QDhMKEqZpr8dNfG9Eoz"),
  ned: actor("ned", "02eb436b0e92c24bb9fe96a0d101e4f3070dc77fdcd975a809610d16d06b6223ed", "AcpU3AGR26uq3DGoaLtGDz1DY9PbYeRpEm"),
  pia: actor("pia", "03293c3ee0594bf1509c0f63daa2ff94c3f3fd87d9cd26f84189d7092ac679a71c", "ANwmTYT5kavC934SSaMehuprXpKSyppvZa"),
  quin: actor("quin", "0308970bc679990b3cb715f81e54b28aa09fb84fec733a2cb86234a33957c4e987", "AHfxTKHKyREsCp9AszExWtZGs8imxihDWd"),
  rae: actor("rae", "02c8e13bf379ecba9b7518ed0c575bcfd51cf3ff269643bcace3da207801c9ca17", "ASoo2ErBE7jUS4RKfvDmqNiweqZuueqJEt"),
  sam: actor("sam", "03cde70dd037383ceda76e23e2d7420efdc3e9939d0d08b4ee8e5b7fd6350989ce", "AYNsWMLiMDodjU72rq9GP8QYRVaC7LUMFA"),
  /** The multisignature wallet of ivy, joe and kim, of whom two must sign. */
  council: actor(
    "council",
    "0260b77b98ea1202e442a97bd96b606346184905c8383ac068c4094fb9f2ef2599",
    "AQ3w4NdpuHTW1cdhVxCQ8VmqDXrgk3rZuU",
  ),
  /** The multisignature wallet of ada and bob, of whom one must sign. */
  pair: actor("pair", "032cf6ea2f1c7e8597f8c9644303a22e13c3457a73a4b42756608bf0021fc6d168", "Aa3xBZFRwVSk4qdUDzhETir59fxxBAgqmz"),
} as const;

/** Second public keys, by owner. */
export const secondKeys = {
  kim: "032c7080849de8421bb83b1679d3dcedb5294ee2e4d67630553747621aa500ba65",
  joe: "022469f762542a1ecab8dbc829a7476829ad53e8a6c9a89f3d93cd9ddc7ddc3763",
} as const;
