/**
 * Where the texts come from that an expression with a repetition meets, and so how long they are at the most.
 *
 * - line    a client's header or request line. Node.js takes 16 KiB of them, unless it is told otherwise
 * - short   its length is checked before
 * - own     the code's own text, or the operator's
 * - shown   a pattern that a document shows; nothing is matched against it
 * - page    run by whoever looks at the console, or calls a node by the libraries, on a few words of its replies or their own input
 *
 * Texts of any length (bodies, whatever hosts hand in) are read without repetitions: see `endOfDigits`.
 */
export type Origin = "line" | "short" | "own" | "shown" | "page";

export interface Reviewed {
  file: string;
  source: string;
  origin: Origin;
  /** `[start, part that is repeated, end]` of texts that are hard for it. */
  hard?: readonly (readonly [string, string, string])[];
}

/** Characters to try them with: far more than what Node.js takes, so that a node whose operator lets it take more is no worse off. */
export const longest: Readonly<Partial<Record<Origin, number>>> = { line: 1_048_576, short: 2_048 };

export const reviewed: readonly Reviewed[] = [
  { file: "src/options/checks.ts", source: "^[a-z][a-z\\d+.-]*:\\/\\/[^/?#\\s]+$", origin: "own" },
  { file: "src/options/checks.ts", source: "^(?:\\/[\\w.~-]+)*$", origin: "own" },
  { file: "src/options/node-context.ts", source: "\\/(\\d+)", origin: "own" },
  { file: "src/api/fields.ts", source: 'digits === undefined ? "^[0-9a-fA-F]+$" : `^[0-9a-fA-F]{${digits}}$`', origin: "shown" },
  { file: "src/api/fields.ts", source: "^[0-9A-Za-z]+$", origin: "shown" },
  { file: "src/api/fields.ts", source: "^-?[0-9]+$", origin: "shown" },
  { file: "src/api/fields.ts", source: "^(-?[0-9]+)?$", origin: "shown" },
  { file: "src/api/v2/proofs.ts", source: "^[0-9a-f]*$", origin: "shown" },
  { file: "src/chain/base58.ts", source: "^1+", origin: "short", hard: [["", "1", "x"]] },
  { file: "src/client/create-client.ts", source: "\\{\\w+\\}", origin: "page" },
  { file: "src/client/follow.ts", source: "^\\d+$", origin: "page" },
  { file: "src/client/follow.ts", source: "^\\d+", origin: "page" },
  { file: "src/client/transport.ts", source: "^\\d+$", origin: "page" },
  { file: "src/client/transport.ts", source: "\\s+", origin: "page" },
  { file: "src/client/transport.ts", source: "\\/+$", origin: "page" },
  { file: "src/client/values.ts", source: "^-?\\d+$", origin: "page" },
  { file: "src/client/values.ts", source: "^(-?)(\\d+)(?:\\.(\\d{1,8}))?$", origin: "page" },
  { file: "src/receiver/inbox.ts", source: "^[A-Za-z_][A-Za-z0-9_]*$", origin: "own" },
  { file: "src/receiver/signature.ts", source: "^whsec_[A-Za-z0-9+/]+=*$", origin: "own" },
  { file: "src/api/v2/transaction-routes.ts", source: 'minimum === 0 ? "^[0-9]+$" : "^0*[1-9][0-9]*$"', origin: "shown" },
  { file: "src/api/v2/transaction-routes.ts", source: "^[a-z0-9!@$&_.]+$", origin: "shown" },
  { file: "src/api/v2/transaction-routes.ts", source: "^[1-9A-HJ-NP-Za-km-z]+$", origin: "shown" },
  { file: "src/api/webhooks/requests.ts", source: "^[0-9]+$", origin: "shown" },
  { file: "src/api/v2/transactions.ts", source: "^[0-9]+$", origin: "shown" },
  { file: "src/api/v2/wallets.ts", source: "^[0-9]+$", origin: "shown" },
  { file: "src/api/v2/wallets.ts", source: "^[0-9]+$", origin: "shown" },
  { file: "src/console/page/app.js", source: "^[\\da-z]+$", origin: "page" },
  { file: "src/console/page/parts.js", source: "\\B(?=(\\d{3})+$)", origin: "page" },
  { file: "src/console/page/parts.js", source: "0+$", origin: "page" },
  { file: "src/console/page/webhook-form.js", source: "^\\d+$", origin: "page" },
  {
    file: "src/http/input/exact-json.ts",
    source: "^(-?)(\\d+)(?:\\.(\\d+))?(?:[eE]([+-]?\\d+))?$",
    origin: "short",
    hard: [["", "1", "x"], ["1.", "1", "x"], ["1e", "1", "x"]],
  },
  { file: "src/http/input/exact-json.ts", source: "^0*$", origin: "short", hard: [["", "0", "x"]] },
  { file: "src/http/input/query.ts", source: "^(.+?)(?:\\.\\d{1,3}|\\[\\d{0,3}\\])$", origin: "line", hard: [["", ".111", "x"], ["", "[11", ""], ["", "a", ""]] },
  { file: "src/http/pipeline/rate-limit.ts", source: "^\\[(.+)\\](?::\\d+)?$", origin: "line", hard: [["[", "]:1", "x"], ["[", "]", "x"], ["[]:", "1", "x"]] },
  { file: "src/http/pipeline/rate-limit.ts", source: "^([\\d.]+):\\d+$", origin: "line", hard: [["", "1", "x"], ["1:", "1", "x"], ["", ":1", "x"]] },
  {
    file: "src/http/reply/reply.ts",
    source: "(?:^|,)\\s*no-cache\\s*(?:,|$)",
    origin: "line",
    hard: [["", ", ", "x"], [",", " ", "x"], ["no-cache", " ", "x"], ["", ",no-cache ", "x"]],
  },
  { file: "src/http/routing/router.ts", source: "^[a-z][a-z0-9+.-]*:\\/\\/[^/?#]*", origin: "line", hard: [["", "a", "/"], ["a://", "a", "/"], ["", "a:/", "/"]] },
  { file: "src/http/routing/router.ts", source: "^\\/{2,}", origin: "line", hard: [["", "/", "x"], ["x", "/", "x"]] },
  { file: "src/http/routing/router.ts", source: "\\{(\\w+)\\}", origin: "own" },
  {
    file: "src/http/routing/version.ts",
    source: "application\\/vnd\\.core-api\\.v(\\d+)\\+json",
    origin: "line",
    hard: [["application/vnd.core-api.v", "1", "x"], ["", "application/vnd.core-api.v1", "x"]],
  },
  {
    file: "src/http/routing/version.ts",
    source: "application\\/vnd\\.ark\\.core-api\\.v(\\d+)\\+json",
    origin: "line",
    hard: [["application/vnd.ark.core-api.v", "1", "x"], ["", "application/vnd.ark.core-api.v1", "x"]],
  },
  { file: "src/http/routing/version.ts", source: '^version="?(\\d+)\\b', origin: "line", hard: [["version=", "1", "x"], ["", "version=1x", ""]] },
  { file: "src/http/routing/version.ts", source: "^\\/v(\\d+)(?=\\/|$)", origin: "line", hard: [["/v", "1", "x"], ["", "/v1x", ""]] },
  { file: "src/nats/connection.ts", source: "^[^\\s/@#?]+$", origin: "own" },
  { file: "src/store/lmdb/read-session.ts", source: "`^ *${process.pid} +\\\\S+ +(\\\\d+)$`", origin: "own" },
  { file: "src/store/lmdb/writer-lock.ts", source: "`^ *${process} `", origin: "own" },
  {
    file: "src/webhooks/conditions/pattern.ts",
    source: "\\\\Q[^]*?(?:\\\\E|$)|\\\\[^]|\\[(?:\\\\[^]|\\[:\\^?\\w+:\\]|[^\\]\\\\])*\\]|\\{(\\d+)(?:,(\\d*))?\\}|[^]",
    origin: "short",
    hard: [["", "[", ""], ["", "[:a", ""], ["", "[[:a:]", ""], ["\\Q", "\\", ""], ["", "{1", ""], ["[", "\\]", ""]],
  },
  { file: "src/webhooks/send/http-sender.ts", source: "[\\p{Cc}\\s]+", origin: "short", hard: [["", " ", "x"], ["", " x", ""]] },
  { file: "src/webhooks/send/target-guard.ts", source: "#.*", origin: "short", hard: [["", "#", ""]] },
  { file: "src/webhooks/send/target-guard.ts", source: "\\s+", origin: "short", hard: [["", " ", "x"]] },
  { file: "examples/standalone/options.ts", source: "^(?:\\/[\\w.~-]+)+$", origin: "short", hard: [["", "/a", "!"]] },
  { file: "src/webhooks/send/target-guard.ts", source: "^(?:.+\\.)?localhost\\.?$", origin: "short", hard: [["", ".localhost", "x"], ["", ".", ""], ["", "a", ""]] },
  // Rewards in the files of a fork's folder and of a chain, which are the operator's.
  { file: "examples/standalone/command-line/option-sources.ts", source: "^.*@", origin: "own" },
  { file: "examples/standalone/files/chain-source.ts", source: "^\\d+$", origin: "own" },
  { file: "examples/standalone/host.ts", source: "\\bblock (\\d+)", origin: "own" },
  { file: "examples/standalone/options.ts", source: "^\\d+$", origin: "own" },
  { file: "examples/standalone/options.ts", source: "[/\\\\]+$", origin: "own" },
];
