import { type TSchema, Type } from "@sinclair/typebox";
import { isDigits } from "../../../text/digits.js";
import { Amount, AmountText } from "../values/amount.js";

const kept = { additionalProperties: true };
const publicKey = Type.String({ pattern: "^0[23][0-9a-f]{64}$" });
const transactionId = Type.String({ description: "Id of the lock transaction." });

const paymentsOf = (amount: TSchema, title: string): TSchema =>
  Type.Object({ payments: Type.Array(Type.Object({ amount, recipientId: Type.String() }, kept)) }, { ...kept, title, description: "Of a multi-payment (type 6)." });

/** Assets of the core types as replies have them, by the key of the type. */
export const coreAssets = {
  secondSignature: Type.Object({ signature: Type.Object({ publicKey }, kept) }, { ...kept, title: "SecondSignatureAsset", description: "Of a second signature (type 1)." }),
  delegateRegistration: Type.Object({ delegate: Type.Object({ username: Type.String() }, kept) }, { ...kept, title: "DelegateRegistrationAsset", description: "Of a delegate's registration (type 2)." }),
  vote: Type.Object(
    { votes: Type.Array(Type.String({ pattern: "^[+-]", description: "`+` or `-`, and the delegate's public key." })) },
    { ...kept, title: "VoteAsset", description: "Of a vote (type 3)." },
  ),
  multiSignature: Type.Object(
    { multiSignature: Type.Object({ min: Type.Integer({ description: "Signatures that are needed." }), publicKeys: Type.Array(publicKey) }, kept) },
    { ...kept, title: "MultiSignatureAsset", description: "Of a multisignature registration (type 4)." },
  ),
  ipfs: Type.Object({ ipfs: Type.String() }, { ...kept, title: "IpfsAsset", description: "Of an IPFS transaction (type 5)." }),
  multiPayment: paymentsOf(Amount, "MultiPaymentAsset"),
  htlcLock: Type.Object(
    {
      lock: Type.Object(
        {
          secretHash: Type.String(),
          expiration: Type.Object({ type: Type.Integer({ description: "1: the value is a time, in seconds since the network's epoch; 2: a height." }), value: Type.Integer() }, kept),
        },
        kept,
      ),
    },
    { ...kept, title: "LockAsset", description: "Of a lock (type 8)." },
  ),
  htlcClaim: Type.Object({ claim: Type.Object({ lockTransactionId: transactionId, unlockSecret: Type.String() }, kept) }, { ...kept, title: "ClaimAsset", description: "Of a lock's claim (type 9)." }),
  htlcRefund: Type.Object({ refund: Type.Object({ lockTransactionId: transactionId }, kept) }, { ...kept, title: "RefundAsset", description: "Of a lock's refund (type 10)." }),
} satisfies Record<string, TSchema>;

const otherAsset = { type: "object", additionalProperties: true, title: "OtherAsset", description: "Of a transaction of the network's own." };

const described = (assets: Record<string, TSchema>) => ({
  description: "By the transaction's type: those of group 1 have an asset of their own each, and a fork's types may have any.",
  anyOf: [...Object.values(assets), otherAsset],
});

/** An asset as the block has it, with the amounts of its payments written as all amounts are. What the docs say of it is not relied on: a fork may call anything `payments`. */
export const AssetResource = Type.Unsafe<Record<string, unknown>>({ type: "object", "x-amounts-inside": true, ...described(coreAssets) });

/** An asset in the payload of an event: amounts are text. */
export const PayloadAssetResource = Type.Unsafe<Record<string, unknown>>({ type: "object", ...described({ ...coreAssets, multiPayment: paymentsOf(AmountText, "MultiPaymentAssetOfEvent") }) });

/** The same in the first generation, whose clients know no more. */
export const FlatAssetResource = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  "x-amounts-inside": true,
  properties: { payments: { items: { properties: { amount: Amount }, additionalProperties: true } } },
  description: "Empty if there is none.",
});

const hasAmount = (payment: unknown): payment is { amount: string } =>
  typeof payment === "object" && payment !== null && "amount" in payment && typeof payment.amount === "string" && isDigits(payment.amount);

export const presentAsset = (asset: Record<string, unknown>): Record<string, unknown> => {
  const { payments } = asset;
  if (!Array.isArray(payments)) return asset;
  return { ...asset, payments: payments.map((payment: unknown) => (hasAmount(payment) ? { ...payment, amount: BigInt(payment.amount) } : payment)) };
};
