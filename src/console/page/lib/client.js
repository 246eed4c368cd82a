// The package's own libraries, as the pages use them. The build makes one file of this one and all that it imports.
export { createClient, PorticoClientError, TransportError } from "../../../client/index.js";
export { ProofError, verifyTransaction } from "../../../verify/index.js";
export { version } from "../../../version.js";
